"""`epinn check`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import InputError
from .experiment import before_training, plan_of
from .listing import print_rows
from .options import Preset, Problem, Request

if TYPE_CHECKING:
    from ..plan.plan import Plan


def check(
    problem: Problem,
    method: Annotated[str, typer.Option("--method", "--methods", help="The method that is meant to follow.")] = "epinet",
    noise: Annotated[float | None, typer.Option(help="Noise level, as for `epinn run`.")] = None,
    preset: Preset = "fast",
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting.")] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The picture of the domain; by default NAME-check.png here.")
    ] = None,
) -> None:
    """Say what was understood of a problem, draw it, and estimate time and memory. Nothing is trained."""
    from ..report.pictures.domain import domain_picture
    from ..report.pictures.panels import as_png
    from ..report.understanding import understood
    from ..store.files import write_atomically

    plan = plan_of(Request(method=method, noise=noise, preset=preset, set_=set_), problem, 1)
    target = picture or Path(f"{plan.source.name}-check.png")
    if target.suffix != ".png" or target.is_dir() or not target.parent.is_dir():
        raise InputError(f"the picture must be a .png file in a folder that exists, not {target}.")
    print_rows([*understood(plan), ("training", before_training(plan)), ("memory", _memory(plan))])
    write_atomically(target, as_png(domain_picture(plan.problems()[0])))
    typer.echo(f"\ndrawn: {target}")


def _memory(plan: "Plan") -> str:
    """How much of what may be used is needed."""
    from ...solve.estimate import estimated_bytes

    problem, base = plan.problems()[0], plan.settings.base
    methods = [plan.settings.methods[name].traits.memory.bytes(*base.size(problem)) for name in plan.methods]
    needed, allowed = max(estimated_bytes(base, problem), *methods) / 2**30, plan.settings.compute.memory
    return f"about {needed:.2g} GiB of the {allowed:g} GiB that may be used (compute.memory)"
