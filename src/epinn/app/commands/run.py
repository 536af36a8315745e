"""`epinn run`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InputError
from .experiment import described, match_precision, plan_of, start
from .options import Problem, Request, Seeds, shared_options


@shared_options()
def run(
    request: Request,
    problem: Problem = "",
    seeds: Seeds = 1,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="Run an earlier experiment again: its folder, or its run.json."),
    ] = None,
) -> None:
    """Solve a problem, attach a band, and write a folder with metrics, posterior and figures."""
    if from_ is not None:
        _again(request, problem, seeds, from_)
        return
    if not problem:
        raise InputError("name a problem, as in epinn run poisson1d, or an earlier run with --from; see epinn problems.")
    start(plan_of(request, problem, seeds), request)


def _again(request: Request, problem: str, seeds: int, earlier: Path) -> None:
    """The experiment of an earlier run once more, with all its settings and seeds, into a folder of its own."""
    from ..store.files import read_json
    from ..store.run_folder import MARKER, RunFolder

    if problem or seeds != 1 or replace(request, out=None, json=False) != Request():
        raise InputError("--from repeats a run as it was: only --out and --json go with it; leave out the others.")
    description = RunFolder.open(earlier).read_json("run.json") if earlier.is_dir() else read_json(earlier)
    if MARKER not in description or "kind" in description:
        raise InputError(f"{earlier} is not the run.json of epinn run, compare or attach; --from takes no other.")
    plan = described(description, earlier)
    match_precision(plan)
    plan.check()
    start(plan, replace(request, preset=description["preset"]))
