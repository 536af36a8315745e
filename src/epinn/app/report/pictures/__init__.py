"""Pictures of evaluations: several methods on the same problem, side by side on the same scales."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from ....errors import InputError
from ....judge.evaluation import Evaluation
from ....problem.domain import TIME
from .curves import curves, line, magnified
from .histograms import histograms
from .maps import maps


def figures(evaluations: Sequence[Evaluation]) -> dict[str, Figure]:
    """All figures that make sense for these methods on one problem, by name.

    "field" shows mean and band: curves in 1D, maps in 2D, curves through the centre of the box above. In 1D it holds all
    fields, and "error" shows the band of the first magnified; otherwise it holds the first, and the others follow as
    "field_<name>". "slices" (and "slices_<name>") shows one space coordinate at half time and at the end, "unknowns" the draws
    of what an inverse problem asks for.
    """
    _check(evaluations)
    problem, made = evaluations[0].problem, {}
    if problem.domain.dimension == 1:
        made["field"] = curves(
            evaluations, [line(evaluations[0], name, problem.domain.coordinates[0]) for name in problem.fields]
        )
        made["error"] = magnified(evaluations)
    for name in problem.fields if problem.domain.dimension > 1 else ():
        suffix = "" if name == problem.fields[0] else f"_{name}"
        made |= {kind + suffix: figure for kind, figure in _of_field(evaluations, name).items()}
    if evaluations[0].unknowns:
        made["unknowns"] = histograms(evaluations)
    return made


def _of_field(evaluations: Sequence[Evaluation], field: str) -> dict[str, Figure]:
    """The figures of one field over several coordinates."""
    first, domain = evaluations[0], evaluations[0].problem.domain
    if domain.dimension > 2:
        return {"field": curves(evaluations, [line(first, field, along) for along in domain.coordinates])}
    made = {"field": maps(evaluations, field)}
    if TIME in domain.coordinates and field not in first.problem.sought:  # what should be constant needs no slices
        end = domain.upper[domain.axis(TIME)]
        made["slices"] = curves(evaluations, [line(first, field, domain.space[0], **at) for at in ({}, {TIME: end})])
    return made


def _check(evaluations: Sequence[Evaluation]) -> None:
    if not evaluations:
        raise InputError("there is nothing to draw; pass at least one evaluation.")
    if len({(e.problem.name, e.problem.domain, tuple(e.problem.fields), e.shape) for e in evaluations}) > 1:
        names = ", ".join(sorted({e.problem.name for e in evaluations}))
        raise InputError(f"a figure compares methods on one problem and one grid; draw these one by one: {names}.")
