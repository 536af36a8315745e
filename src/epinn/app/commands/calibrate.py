"""`epinn calibrate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...derivatives.program_cache import keep_compiled_programs
from .experiment import going_on_with, plan_of, workers_of
from .options import Cluster, Problem, Request, shared_options

if TYPE_CHECKING:
    from ..plan.plan import Plan


@shared_options()
def calibrate(
    request: Request,
    problem: Problem,
    redraws: Annotated[int, typer.Option(min=2, help="How often the experiment is repeated.")] = 100,
    at_once: Annotated[
        int | None,
        typer.Option(min=1, help="Redraws that run together, and are one task of a cluster; by default 25, on a GPU 100."),
    ] = None,
    cluster: Cluster = None,
) -> None:
    """Repeat an experiment with new noise and initialisations: how often does the band hold the truth?

    Redraws that are in the folder already (--out) are not computed again.
    """
    from ..repetition import usual_at_once

    together = at_once or usual_at_once()
    plan = plan_of(request, problem, redraws, at_once=together)
    default = Path("runs") / f"calibrate-{plan.source.name}-{'-'.join(plan.methods)}"
    repeat(plan, request.out or default, request.preset, together, request.json, cluster)


def repeat(plan: "Plan", folder: Path, preset: str, at_once: int, as_json: bool, cluster: str | None) -> None:
    """Compute what is missing, write, and show."""
    import json

    from ...judge.calibration import summarise
    from ..console import Bar, reliability_table
    from ..plan.plain import finite
    from ..repetition import calibrate, remember
    from ..report.pictures.calibration import picture
    from ..store.files import write_json
    from ..store.pictures import save_picture

    keep_compiled_programs()
    with workers_of(cluster) as executor, going_on_with(folder):
        remember(plan, folder, preset, at_once)
        with Bar(quiet=as_json) as bar:
            found = summarise(calibrate(plan, folder, bar, at_once=at_once, executor=executor))
        rows = [one.plain() for one in found]
        write_json(folder / "calibration.json", {**plan.describe(preset), "methods": rows})
        save_picture(picture(found, plan.problems()[0].domain), folder / "calibration.png")
    if as_json:
        typer.echo(json.dumps(finite(rows)))
        return
    reliability_table(rows)
    typer.echo(f"written: {folder}")
