"""Curves: mean and band along a coordinate, and the band magnified."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....judge.evaluation import Evaluation
from ....judge.wording import two_digits
from .panels import BLACK, BLUE, ORANGE, dress, legend, merits, panel_grid, title


@dataclass(frozen=True, eq=False)
class Line:
    """Grid points in a row: which points of an evaluation they are, and the coordinate that varies along them."""

    field: str
    along: str
    label: str
    points: np.ndarray


def line(evaluation: Evaluation, field: str, along: str, **near: float) -> Line:
    """The grid points along one coordinate where the others are nearest to the values given, by default to the centre."""
    points = np.arange(len(evaluation.points)).reshape(evaluation.shape)
    domain, place = evaluation.problem.domain, []
    for axis, name in enumerate(domain.coordinates):
        if name == along:
            place.append(name)
            continue
        positions = np.linspace(domain.lower[axis], domain.upper[axis], evaluation.shape[axis])
        nearest = int(np.argmin(np.abs(positions - near.get(name, positions.mean()))))
        points = points.take([nearest], axis=axis)
        place.append(f"{name}\u00a0=\u00a0{positions[nearest]:.3g}")
    return Line(field, along, field if domain.dimension == 1 else f"{field}({', '.join(place)})", points.ravel())


def curves(evaluations: Sequence[Evaluation], lines: Sequence[Line]) -> Figure:
    """Mean, band and truth: one row per line, one column per method, the same scale for the same field."""
    figure, axes, width = panel_grid(len(lines), len(evaluations))
    for row, line in enumerate(lines):
        for ax, evaluation in zip(axes[row], evaluations, strict=True):
            _curve(ax, evaluation, line)
            dress(ax, line.along, line.label)
            if row == 0 or lines[row - 1].field != line.field:
                title(ax, evaluation.label, merits(evaluation, line.field), width)
    for field in {line.field for line in lines}:
        same = [ax for row, line in zip(axes, lines, strict=True) if line.field == field for ax in row]
        lows, highs = zip(*(ax.get_ylim() for ax in same), strict=True)
        for ax in same:
            ax.set_ylim(min(lows), max(highs))
    legend(figure, axes)
    return figure


def _curve(ax: Axes, evaluation: Evaluation, line: Line) -> None:
    domain, column = evaluation.problem.domain, evaluation.problem.fields.index(line.field)
    at = evaluation.points[line.points, domain.axis(line.along)]
    mean, std = (np.where(np.isfinite(values), values, np.nan)[line.points, column] for values in evaluation.prediction)
    ax.margins(x=0.02)
    ax.fill_between(at, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.25, linewidth=0, label="mean ± 2σ")
    ax.plot(at, mean, color=BLUE, linewidth=1.5, label="mean")
    if evaluation.truth is not None:
        ax.plot(at, evaluation.truth[line.points, column], "--", color=BLACK, linewidth=1.1, label="exact")
    sensors, values = evaluation.problem.sensors(line.field)
    if domain.dimension == 1 and len(sensors):  # elsewhere they lie beside the line
        ax.scatter(sensors[:, 0], values, s=9, color=ORANGE, linewidths=0, zorder=3, label="sensors")


def magnified(evaluations: Sequence[Evaluation]) -> Figure:
    """The band around the mean of the first field, and the error in it, each on a scale of its own."""
    figure, axes, width = panel_grid(1, len(evaluations))
    for ax, evaluation in zip(axes[0], evaluations, strict=True):
        at, std = evaluation.points[:, 0], evaluation.prediction.std[:, 0]
        dress(ax, evaluation.problem.domain.coordinates[0], f"{evaluation.problem.fields[0]} - mean")
        ax.tick_params(labelleft=True)
        ax.margins(x=0.02)
        ax.fill_between(at, -2 * std, 2 * std, color=BLUE, alpha=0.25, linewidth=0, label="± 2σ")
        if evaluation.truth is not None:
            error = evaluation.truth[:, 0] - evaluation.prediction.mean[:, 0]
            ax.plot(at, error, color=BLACK, linewidth=1.1, label="exact - mean")
        title(ax, evaluation.label, f"mean σ {two_digits(float(np.mean(std)))}", width)
    legend(figure, axes)
    return figure
