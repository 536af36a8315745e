"""Pictures of evaluations: several methods on the same problem, side by side on the same scales."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from ....errors import InputError
from ....judge.evaluation import Evaluation
from ....problem.domain import Box
from ....problem.region import TIME
from .corner import corner
from .curves import Line, curves, curves_and_magnified, line, magnified
from .histograms import histograms
from .maps import maps
from .mixing import mixing
from .sections import sections
from .times import is_plane_in_time, small_multiples

TITLES = {  # of the figures, by the beginning of their names, in the order in which they are shown
    "field": "Mean and band",
    "times": "In time",
    "sections": "Sections through the middle",
    "error": "Error and band, magnified",
    "slices": "Slices at half time and at the end",
    "training": "What training left of the conditions",
    "unknowns": "Draws of the unknowns",
    "corner": "Unknowns in pairs, with what holds 68% and 95% of the draws",
    "chains": "Chains: traces and ranks",
}


def title_of(name: str) -> str:
    """What a figure is called: "Mean and band of v" for "field_v"; a name that is not one of ours stays as it is."""
    kind, _, field = name.partition("_")
    return name if kind not in TITLES else f"{TITLES[kind]} of {field}" if field else TITLES[kind]


def rank_of(name: str) -> int:
    """Where a figure stands among the others: by kind, and those that are not ours last."""
    kinds, kind = list(TITLES), name.partition("_")[0]
    return kinds.index(kind) if kind in kinds else len(kinds)


def figures(evaluations: Sequence[Evaluation]) -> dict[str, Figure]:
    """All figures that make sense for these methods on one problem, by name.

    "field" shows mean and band: curves in 1D, maps in 2D, curves through the centre of the box above. "slices" shows one
    space coordinate at half time and at the end, "times" maps of a plane at a few times, "sections" three planes through the
    middle of a solid. "error" magnifies the bands of all curves and slices: it shows them around the mean, with the error if
    the truth is known. "unknowns" shows the draws of what an inverse problem asks for, "corner" those of two together,
    "chains" whether Markov chains have mixed.

    In 1D a figure holds all fields. Otherwise it holds the first, and the others follow as "field_<name>" and so on.
    """
    _check(evaluations)
    problem = evaluations[0].problem
    made: dict[str, Figure] = {}
    if problem.domain.dimension == 1:
        lines = [one for name in problem.fields for one in _lines(evaluations[0], name)]
        made |= {"field": curves(evaluations, lines), "error": magnified(evaluations, lines)}
    for name in problem.fields if problem.domain.dimension > 1 else ():
        suffix = "" if name == problem.fields[0] else f"_{name}"
        made |= {kind + suffix: figure for kind, figure in _of_field(evaluations, name).items()}
    if evaluations[0].unknowns:
        made["unknowns"] = histograms(evaluations)
    if len(evaluations[0].unknowns) > 1:
        made["corner"] = corner(evaluations)
    chains = mixing(evaluations)
    if chains is not None:
        made["chains"] = chains
    return made


def picture(evaluations: Sequence[Evaluation]) -> Figure:
    """All fields in one figure: curves with their bands magnified below them; in 2D, maps of mean, spread and error."""
    _check(evaluations)
    first, fields = evaluations[0], evaluations[0].problem.fields
    if first.problem.domain.dimension == 2:
        return maps(evaluations, fields)
    return curves_and_magnified(evaluations, [one for name in fields for one in _lines(first, name)])


def _of_field(evaluations: Sequence[Evaluation], field: str) -> dict[str, Figure]:
    """The figures of one field over several coordinates."""
    lines = _lines(evaluations[0], field)
    domain = evaluations[0].problem.domain
    if domain.dimension > 2:
        cut = {"sections": sections(evaluations, field)} if len(domain.space) == 3 and not isinstance(domain, Box) else {}
        cut |= {"times": small_multiples(evaluations, field)} if is_plane_in_time(evaluations[0]) else {}
        return {"field": curves(evaluations, lines), **cut, "error": magnified(evaluations, lines)}
    made = {"field": maps(evaluations, [field])}
    return made | ({"slices": curves(evaluations, lines), "error": magnified(evaluations, lines)} if lines else {})


def _lines(evaluation: Evaluation, field: str) -> list[Line]:
    """Where a field is shown as curves: along every coordinate through the centre, or over space at two times in 2D."""
    domain = evaluation.problem.domain
    if domain.dimension != 2:
        return [line(evaluation, field, along) for along in domain.coordinates]
    if TIME not in domain.coordinates or field in evaluation.problem.sought:  # what should be constant needs no slices
        return []
    end = domain.upper[domain.axis(TIME)]
    return [line(evaluation, field, domain.space[0], **at) for at in ({}, {TIME: end})]


def _check(evaluations: Sequence[Evaluation]) -> None:
    if not evaluations:
        raise InputError("there is nothing to draw; pass at least one evaluation.")
    if len({(e.problem.name, e.problem.domain, tuple(e.problem.fields), e.shape) for e in evaluations}) > 1:
        names = ", ".join(sorted({e.problem.name or str(e.problem.domain) for e in evaluations}))
        raise InputError(f"a figure compares methods on one problem and one grid; draw these one by one: {names}.")
