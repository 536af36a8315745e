"""Maps over two coordinates: mean, standard deviation and error."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ....judge.evaluation import Evaluation
from ....problem.domain import Box
from ....problem.region import TIME, Domain
from .panels import BLACK, DPI, PER_ROW, PLAIN, TEXT, dress, few_ticks, legend, merits, span_of, title


def maps(evaluations: Sequence[Evaluation], fields: Sequence[str]) -> Figure:
    """Mean, standard deviation and error of every field in rows, methods in columns; each row has one colour scale."""
    problem = evaluations[0].problem
    rows = [row for name in fields for row in quantities(evaluations, name)]
    width = 2.7 if len(evaluations) <= PER_ROW else 2.2
    size = (width * len(evaluations) + 1.1, width * proportion_of(problem.domain) * len(rows) + 0.5 * len(fields) + 0.6)
    figure = Figure(size, DPI, layout="constrained")
    axes = figure.subplots(len(rows), len(evaluations), sharex=True, sharey=True, squeeze=False)
    for panels, row in zip(axes, rows, strict=True):
        _map_row(panels, evaluations[0], *row)
    for first, field in ((axes[i * len(rows) // len(fields)], field) for i, field in enumerate(fields)):
        sensors = problem.sensors(field)[0][:, plane_of(problem.domain)]
        for ax, evaluation in zip(first, evaluations, strict=True):
            title(ax, evaluation.label, merits(evaluation, field, narrow=True), width)
            if len(sensors):
                ax.scatter(*sensors.T, s=8, color=BLACK, edgecolors="white", linewidths=0.5, label="sensors")
    legend(figure, axes)
    return figure


def quantities(evaluations: Sequence[Evaluation], field: str) -> list[tuple[str, list[np.ndarray], dict[str, Any]]]:
    """What is shown of a field: a label, the values of every method, and how they are coloured."""
    column = evaluations[0].problem.fields.index(field)
    means, stds = ([getattr(e.prediction, name)[:, column] for e in evaluations] for name in ("mean", "std"))
    rows = [(f"mean of {field}", means, _colours(means)), ("standard deviation", stds, _colours(stds, "viridis"))]
    errors = [np.abs(e.prediction.mean - e.truth)[:, column] for e in evaluations if e.truth is not None]
    return rows + ([("absolute error", errors, _colours(errors, "magma"))] if errors else [])


def _map_row(panels: np.ndarray, evaluation: Evaluation, name: str, values: list[np.ndarray], style: dict[str, Any]) -> None:
    """One quantity of every method, and the colour bar they share."""
    domain, plane = evaluation.problem.domain, plane_of(evaluation.problem.domain)
    for ax, heights in zip(panels, values, strict=True):
        image = show(ax, evaluation, on_whole_grid(evaluation, heights), plane, style)
        dress(ax, *(domain.coordinates[axis] for axis in plane))
        ax.label_outer()
    bar(panels, image, name)


def show(ax: Axes, evaluation: Evaluation, grid: np.ndarray, plane: Sequence[int], style: dict[str, Any]) -> AxesImage:
    """An image of values over two coordinates, in the order of the axes of an evaluation, cut where the domain ends."""
    domain = evaluation.problem.domain
    ends = [(domain.lower[axis], domain.upper[axis]) for axis in plane]
    halves = [(high - low) / (evaluation.shape[axis] - 1) / 2 for (low, high), axis in zip(ends, plane, strict=True)]
    (west, east), (south, north) = ((low - half, high + half) for (low, high), half in zip(ends, halves, strict=True))
    aspect: Any = "auto" if isinstance(domain, Box) else "equal"  # a circle looks like one
    extent = (west, east, south, north)
    heights = upright(grid, plane)
    image = ax.imshow(heights, origin="lower", extent=extent, aspect=aspect, interpolation="bilinear", **style)
    _cut(ax, image, domain)
    ax.set(xlim=ends[0], ylim=ends[1])
    return image


def upright(grid: np.ndarray, plane: Sequence[int]) -> np.ndarray:
    """Values over two coordinates as an image, the second of the plane upwards."""
    return grid.T if plane[0] < plane[1] else grid


def bar(panels: np.ndarray, image: AxesImage, name: str) -> None:
    """The colour bar of panels that share their colours."""
    made = panels[0].figure.colorbar(image, ax=list(panels), pad=0.02, aspect=14, ticks=few_ticks(), format=PLAIN)
    made.set_label(name, fontsize=TEXT, parse_math=False)
    made.ax.tick_params(labelsize=TEXT)


def _colours(values: list[np.ndarray], magnitude: str | None = None) -> dict[str, Any]:
    """A scale for all values: a map that starts at zero for a `magnitude`, two colours for what has both signs."""
    low, high = span_of(values)
    if magnitude:
        return {"cmap": magnitude, "vmin": 0.0, "vmax": high}
    if min(-low, high) > max(-low, high) / 3:
        return {"cmap": "RdBu_r", "vmin": -max(-low, high), "vmax": max(-low, high)}
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def on_whole_grid(evaluation: Evaluation, values: np.ndarray) -> np.ndarray:
    """Values on the grid of a map; outside the domain those next to it, so that the picture can be cut along its boundary."""
    whole = evaluation.on_grid(values).reshape(evaluation.shape)
    if evaluation.places is None:
        return whole
    from scipy.ndimage import distance_transform_edt  # imported here: few pictures need it

    outside = np.ones(evaluation.shape, bool)
    outside.flat[evaluation.places] = False
    nearest = distance_transform_edt(outside, return_distances=False, return_indices=True)
    return np.asarray(whole[tuple(nearest)])


def _cut(ax: Axes, image: Any, domain: Domain) -> None:
    """Show nothing of an image outside the domain."""
    outlines = domain.outlines()
    if outlines:
        path = Path.make_compound_path(*(Path(outline, closed=True) for outline in outlines))
        patch = PathPatch(path, facecolor="none", edgecolor=BLACK, linewidth=0.6)
        ax.add_patch(patch)
        image.set_clip_path(patch)


def plane_of(domain: Domain) -> list[int]:
    """Which coordinate runs across and which up; time goes up."""
    return [1, 0] if domain.coordinates[0] == TIME else [0, 1]


def proportion_of(domain: Domain, plane: Sequence[int] = (0, 1)) -> float:
    """Height over width of a map: true to scale in space, within reason."""
    sides = np.subtract(domain.upper, domain.lower)
    has_time = TIME in [domain.coordinates[axis] for axis in plane]
    return 0.75 if has_time else float(np.clip(sides[plane[1]] / sides[plane[0]], 0.4, 1.5))
