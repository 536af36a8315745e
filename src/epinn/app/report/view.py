"""What the interactive view of a page shows: mean, band and single draws of every field on a grid, as plain data.

Over one space coordinate (or over time alone) the page draws curves, over two or more a map of the first two; whatever other
coordinates there are get a slider. Numbers are in single precision around their middle, in base64: what is said of a band of
1e-6 around 300 is right. A view has a few hundred kilobytes at most: where there is much to show it has fewer single draws, and
then a coarser grid.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...judge.evaluation import Evaluation
from ...problem.region import TIME
from .pictures.maps import proportion_of, quantities

LIMIT = 300_000  # bytes of numbers before they are written as text, which takes a third more
MOMENTS, EXACT, SINGLE = 8, 4, 2  # bytes of mean and band, of the exact solution, and of a draw, at one point
STEPS = 32_000  # of which a draw may be away from the mean, either way
SENSORS = 500  # shown at most
STOPS = 17  # of a colour scale
BAND = 2  # standard deviations

Json = dict[str, Any]


def view_of(evaluations: Sequence[Evaluation]) -> Json:
    """The view of several methods on one problem."""
    first = evaluations[0]
    problem, domain = first.problem, first.problem.domain
    across = list(domain.space[:2] or domain.coordinates)
    chosen, shape = _thinned(evaluations)
    inside = np.isfinite(first.on_grid(first.points[:, :1])[chosen, 0])
    draws = _affordable(evaluations, int(inside.sum()))
    kept = chosen[inside]
    return {
        "coordinates": [
            {"name": name, "low": low, "high": high, "number": number}
            for name, low, high, number in zip(domain.coordinates, domain.lower, domain.upper, shape, strict=True)
        ],
        "across": [domain.axis(name) for name in across],
        "proportion": proportion_of(domain, [domain.axis(name) for name in across]) if len(across) == 2 else None,
        "outlines": [np.round(line, 6).tolist() for line in domain.outlines()] if len(domain.space) == 2 else [],
        "inside": None if inside.all() else _text(np.packbits(inside, bitorder="little")),
        "fields": list(problem.fields),
        "methods": [evaluation.label for evaluation in evaluations],
        "values": [
            [_values(evaluation, kept, column, draws) for column in range(len(problem.fields))] for evaluation in evaluations
        ],
        "colours": [_colours(evaluations, name) for name in problem.fields] if len(across) == 2 else None,
        "sensors": [_sensors(first, name) for name in problem.fields],
    }


def _thinned(evaluations: Sequence[Evaluation]) -> tuple[np.ndarray, tuple[int, ...]]:
    """Which places of the grid are shown, and how many along each coordinate: as many as the limit allows, ends included."""
    first = evaluations[0]
    whole = np.arange(int(np.prod(first.shape))).reshape(first.shape)
    part = min(1.0, LIMIT / (_bytes(evaluations) * len(first.points))) ** (1 / len(first.shape))
    numbers = [max(2, int(part * number)) for number in first.shape]
    lines = [np.linspace(0, number - 1, n).round().astype(int) for number, n in zip(first.shape, numbers, strict=True)]
    return whole[np.ix_(*lines)].ravel(), tuple(numbers)


def _affordable(evaluations: Sequence[Evaluation], points: int) -> int:
    """How many single draws there is room for."""
    have = min(0 if e.prediction.samples is None else len(e.prediction.samples) for e in evaluations)
    each = SINGLE * len(evaluations) * len(evaluations[0].problem.fields)
    return max(0, min(have, int((LIMIT / max(1, points) - _bytes(evaluations)) // each)))


def _bytes(evaluations: Sequence[Evaluation]) -> int:
    """What one point takes without draws."""
    return len(evaluations[0].problem.fields) * sum(MOMENTS + EXACT * (e.truth is not None) for e in evaluations)


def _values(evaluation: Evaluation, kept: np.ndarray, column: int, draws: int) -> Json:
    """One field of one method: mean and band around an offset, the exact solution and draws as they differ from the mean."""

    def taken(values: np.ndarray) -> np.ndarray:
        shown: np.ndarray = evaluation.on_grid(np.asarray(values, float))[kept]
        return shown

    mean, std = (taken(values[:, column]) for values in (evaluation.prediction.mean, evaluation.prediction.std))
    finite = mean[np.isfinite(mean)]
    offset = float((finite.max() + finite.min()) / 2) if finite.size else 0.0
    made: Json = {"offset": offset, "mean": _text(mean - offset, "<f4"), "band": _text(BAND * std, "<f4")}
    if evaluation.truth is not None:
        made["error"] = _text(taken(evaluation.truth[:, column]) - mean, "<f4")
    if draws and evaluation.prediction.samples is not None:
        away = np.array([taken(sample[:, column]) - mean for sample in evaluation.prediction.samples[:draws]])
        away = np.where(np.isfinite(away), away, 0.0)
        unit = float(np.abs(away).max()) / STEPS or 1.0
        made |= {"unit": unit, "draws": _text(np.round(away / unit), "<i2"), "number": draws}
    return made


def _colours(evaluations: Sequence[Evaluation], field: str) -> Json:
    """Scales of mean, band and error, as in the maps of the page: the colours from low to high, and these two."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    found = {}
    for name, times, (_, _, style) in zip(
        ("mean", "band", "error"), (1, BAND, 1), quantities(evaluations, field), strict=False
    ):
        stops = [to_hex(colour) for colour in colormaps[style["cmap"]](np.linspace(0, 1, STOPS))]
        found[name] = {"stops": stops, "low": times * style["vmin"], "high": times * style["vmax"]}
    return found


def _sensors(evaluation: Evaluation, field: str) -> list[list[float]]:
    """Places and values of the measurements where they do not lie beside what is shown: over one coordinate, or a plane."""
    domain = evaluation.problem.domain
    if domain.dimension > 2 or (domain.dimension == 2 and TIME in domain.coordinates):
        return []
    places, values = evaluation.problem.sensors(field)
    every = max(1, -(-len(values) // SENSORS))
    shown: list[list[float]] = np.column_stack([places, values])[::every].tolist()
    return shown


def _text(values: np.ndarray, kind: str = "|u1") -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
