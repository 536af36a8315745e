"""From a request to a plan, and from a plan to its folder: what `run`, `compare`, `attach` and `resume` share.

Whatever needs JAX is imported where it is used: help is given without it.
"""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ...derivatives.program_cache import keep_compiled_programs
from ...errors import InputError
from .options import Request

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..plan.origin import Origin
    from ..plan.plan import Plan
    from ..store.run_folder import RunFolder


CORRECTED = {"base.stages": "2"}


def fail(message: str, code: int) -> NoReturn:
    """One line on standard error, and the end."""
    sys.stderr.write(f"epinn: {message}\n")
    sys.exit(code)


def plan_of(
    request: Request, problem: str, seeds: int, *, origin: "Origin | None" = None, at_once: int | None = None
) -> "Plan":
    """What a request asks for, checked; `at_once` of the seeds run together, all by default."""
    from ..plan.plan import Plan
    from ..plan.presets import preset
    from ..plan.settings import numbers, parse
    from ..plan.source import find

    source, chosen = find(problem), parse(request.set_ or [])
    plan = Plan(
        source=source,
        methods=_method_names(request.method),
        noises=(source.default_noise() if request.noise is None else request.noise,),
        seeds=request.seeds(seeds),
        settings=preset(request.preset, problem).changed({**CORRECTED, **chosen} if request.correct else chosen),
        disturb=numbers(request.sigma or [], "--sigma", "equation=0.1"),
        origin=origin,
    )
    match_precision(plan)
    plan.check(at_once)
    return plan


def described(description: Mapping[str, Any], place: Path) -> "Plan":
    """The plan that a run.json describes; versions other than those of today are said."""
    from ..plan.plan import Plan
    from ..store.run_folder import other_versions

    try:
        plan = Plan.from_description(description)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    if others := other_versions(description):
        sys.stderr.write(f"epinn: {place} was begun with {others}; results may differ from those that it had then.\n")
    return plan


def match_precision(plan: "Plan") -> None:
    """A network in double precision stays in double precision."""
    if plan.origin is not None and plan.origin.is_double(plan.problems()[0]):
        import jax

        jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # JAX has no type for it


def start(plan: "Plan", request: Request) -> None:
    """Compute a plan in a folder of its own."""
    from ..store.run_folder import RunFolder

    names = (plan.source.name, *([plan.origin.name] if plan.origin else []), *plan.methods)
    folder = RunFolder.create(request.out, plan.describe(request.preset), "-".join(names))
    for note in () if request.json else plan.source.notes:
        sys.stderr.write(f"note: {note}\n")
    if not request.json and plan.origin is None:
        sys.stderr.write(f"{before_training(plan)}\n")
    execute(plan, folder, request.json)


def before_training(plan: "Plan") -> str:
    """How large the problem is, and how long it will take."""
    from ...solve.estimate import estimated_seconds, in_words

    base, problem, seeds = plan.settings.base, plan.problems()[0], len(plan.seeds)
    rows, parameters = base.size(problem)
    of = f" of {seeds} seeds" if seeds > 1 else ""
    return f"{rows} rows, {parameters} parameters: training{of} takes {in_words(estimated_seconds(base, problem, seeds))}"


def execute(plan: "Plan", folder: "RunFolder", as_json: bool) -> None:
    """Compute what is missing of a plan, write, and show."""
    import json

    from ..console import Bar, print_summary
    from ..plan.plain import finite
    from ..run import execute as compute

    keep_compiled_programs()
    with going_on_with(folder.path), Bar(quiet=as_json) as bar:
        records = compute(plan, folder, bar)
    if as_json:
        typer.echo(json.dumps(finite(records), indent=2))
    else:
        print_summary(records, plan, folder.path)


@contextlib.contextmanager
def workers_of(cluster: str | None) -> "Iterator[Executor | None]":
    """The executor that --cluster asks for; None where it does not."""
    from ..cluster.address import workers_at

    if cluster is None:
        yield None
        return
    with workers_at(cluster, lambda text: sys.stderr.write(f"{text}\n")) as executor:
        yield executor


@contextlib.contextmanager
def going_on_with(folder: Path, hint: str = "") -> Iterator[None]:
    """Work in a folder: where it is interrupted, or nothing more can be written, one line says how to go on."""
    from ..cluster.tasks import Lost
    from ..store.files import Unwritable

    try:
        yield
    except Lost as error:
        fail(f"{error} What was finished is in {folder}. Go on with: epinn resume {folder}{hint}", 1)
    except KeyboardInterrupt:
        fail(f"interrupted; what was finished is in {folder}. Go on with: epinn resume {folder}{hint}", 130)
    except Unwritable as error:
        fail(f"{error} What was finished is in {folder}. Make room, then: epinn resume {folder}{hint}", 1)


def _method_names(text: str) -> tuple[str, ...]:
    from ...methods import configured

    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError("name at least one method, as in --method epinet or --method epinet,hmc.")
    for name in names:
        configured(name)
    return names
