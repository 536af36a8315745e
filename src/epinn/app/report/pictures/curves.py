"""Curves along a coordinate: mean and band, and the band magnified, around the mean."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....judge.evaluation import Evaluation
from ....judge.wording import significant
from .panels import BLACK, BLUE, ORANGE, dress, legend, merits, panel_grid, title


@dataclass(frozen=True, eq=False)
class Line:
    """Grid points in a row: which points of an evaluation they are, and the coordinate that varies along them."""

    field: str
    along: str
    label: str
    points: np.ndarray

    def across(self, evaluation: Evaluation) -> np.ndarray:
        """The coordinate along the line."""
        axis = evaluation.problem.domain.axis(self.along)
        return np.asarray(evaluation.on_grid(evaluation.points)[self.points, axis])

    def on(self, evaluation: Evaluation, values: np.ndarray) -> np.ndarray:
        """What is finite of some values on the grid, by point and field, along the line."""
        chosen = evaluation.on_grid(values)[self.points, evaluation.problem.fields.index(self.field)]
        return np.where(np.isfinite(chosen), chosen, np.nan)


def line(evaluation: Evaluation, field: str, along: str, **near: float) -> Line:
    """The grid points along one coordinate where the others are nearest to the values given, by default to the centre; if that
    is not in the domain, to the point of the domain next to it."""
    points = np.arange(np.prod(evaluation.shape)).reshape(evaluation.shape)
    domain, place = evaluation.problem.domain, []
    near = {**_centre(evaluation), **near}
    for axis, name in enumerate(domain.coordinates):
        if name == along:
            place.append(name)
            continue
        positions = np.linspace(domain.lower[axis], domain.upper[axis], evaluation.shape[axis])
        nearest = int(np.argmin(np.abs(positions - near.get(name, positions.mean()))))
        points = points.take([nearest], axis=axis)
        place.append(f"{name}\u00a0=\u00a0{positions[nearest]:.3g}")
    return Line(field, along, field if domain.dimension == 1 else f"{field}({', '.join(place)})", points.ravel())


def _centre(evaluation: Evaluation) -> dict[str, float]:
    """The point in the middle of a domain that leaves out some of its box; nothing for others, since that is the default."""
    if evaluation.places is None:
        return {}
    domain = evaluation.problem.domain
    half = np.subtract(domain.upper, domain.lower) / 2
    away = np.linalg.norm((evaluation.points - np.asarray(domain.lower)) / half - 1, axis=1)
    return dict(zip(domain.coordinates, evaluation.points[np.argmin(away)].tolist(), strict=True))


def curves(evaluations: Sequence[Evaluation], lines: Sequence[Line]) -> Figure:
    """Mean, band and truth: one row per line, one column per method, the same scale for the same field."""
    figure, axes, width = panel_grid(len(lines), len(evaluations))
    for row, of_row in enumerate(lines):
        _curve_row(axes[row], evaluations, of_row, width, titled=row == 0 or lines[row - 1].field != of_row.field)
    share_scales(axes, lines)
    legend(figure, axes)
    return figure


def magnified(evaluations: Sequence[Evaluation], lines: Sequence[Line]) -> Figure:
    """The band around the mean, and the error in it: one row per line, one column per method, a scale for every panel."""
    figure, axes, width = panel_grid(len(lines), len(evaluations))
    for row, of_row in enumerate(lines):
        _magnified_row(axes[row], evaluations, of_row, width, titled=row == 0)
    legend(figure, axes)
    return figure


def curves_and_magnified(evaluations: Sequence[Evaluation], lines: Sequence[Line]) -> Figure:
    """Every line twice: mean and band, and below it the band magnified."""
    figure, axes, width = panel_grid(2 * len(lines), len(evaluations))
    for row, of_row in enumerate(lines):
        _curve_row(axes[2 * row], evaluations, of_row, width, titled=True)
        _magnified_row(axes[2 * row + 1], evaluations, of_row, width, titled=False)
    share_scales(axes[::2], lines)
    legend(figure, axes)
    return figure


def _curve_row(axes: np.ndarray, evaluations: Sequence[Evaluation], of_row: Line, width: float, *, titled: bool) -> None:
    for ax, evaluation in zip(axes, evaluations, strict=True):
        curve(ax, evaluation, of_row)
        dress(ax, of_row.along, of_row.label)
        if titled:
            title(ax, evaluation.label, merits(evaluation, of_row.field), width)


def _magnified_row(axes: np.ndarray, evaluations: Sequence[Evaluation], of_row: Line, width: float, *, titled: bool) -> None:
    for ax, evaluation in zip(axes, evaluations, strict=True):
        _band(ax, evaluation, of_row)
        dress(ax, of_row.along, f"{of_row.label} − mean")
        ax.tick_params(labelleft=True)
        std = of_row.on(evaluation, evaluation.prediction.std)
        known = std[np.isfinite(std)]
        typical = significant(float(np.mean(known))) if known.size else "not a number"
        title(ax, evaluation.label if titled else "", f"mean σ of {of_row.field} {typical}", width)


def curve(ax: Axes, evaluation: Evaluation, of_row: Line) -> None:
    at = of_row.across(evaluation)
    mean, std = (of_row.on(evaluation, values) for values in (evaluation.prediction.mean, evaluation.prediction.std))
    ax.margins(x=0.02)
    ax.fill_between(at, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.25, linewidth=0, label="± 2σ")
    ax.plot(at, mean, color=BLUE, linewidth=1.5, label="mean")
    if evaluation.truth is not None:
        ax.plot(at, of_row.on(evaluation, evaluation.truth), "--", color=BLACK, linewidth=1.1, label="exact")
    sensors, values = evaluation.problem.sensors(of_row.field)
    if evaluation.problem.domain.dimension == 1 and len(sensors):  # elsewhere they lie beside the line
        ax.scatter(sensors[:, 0], values, s=9, color=ORANGE, linewidths=0, zorder=3, label="sensors")


def _band(ax: Axes, evaluation: Evaluation, of_row: Line) -> None:
    at, std = of_row.across(evaluation), of_row.on(evaluation, evaluation.prediction.std)
    ax.margins(x=0.02)
    ax.fill_between(at, -2 * std, 2 * std, color=BLUE, alpha=0.25, linewidth=0, label="± 2σ")
    if evaluation.truth is not None:
        error = of_row.on(evaluation, evaluation.truth - evaluation.prediction.mean)
        ax.plot(at, error, color=BLACK, linewidth=1.1, label="exact − mean")


def share_scales(axes: np.ndarray, lines: Sequence[Line]) -> None:
    """The same vertical scale for all panels of a field."""
    for field in {one.field for one in lines}:
        same = [ax for row, one in zip(axes, lines, strict=True) if one.field == field for ax in row]
        lows, highs = zip(*(ax.get_ylim() for ax in same), strict=True)
        for ax in same:
            ax.set_ylim(min(lows), max(highs))
