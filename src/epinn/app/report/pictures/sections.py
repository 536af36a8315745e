"""Sections through the middle of a solid: mean, standard deviation and error on three planes."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....judge.evaluation import Evaluation
from ....problem.region import Domain
from .maps import on_whole_grid, quantities
from .panels import BLACK, DPI, PLAIN, TEXT, dress, few_ticks, title

WIDTH = 2.5  # inches, of one panel
FINE = 301  # places along each side of a plane, to see where it leaves the solid
LOWEST, HIGHEST = 0.4, 1.5  # of the height of a panel, in parts of its width


def sections(evaluations: Sequence[Evaluation], field: str) -> Figure:
    """Every quantity of every method in a row of three planes, with a colour scale for all methods."""
    domain = evaluations[0].problem.domain
    planes = list(itertools.combinations([domain.axis(name) for name in domain.space], 2))
    rows = [
        (evaluation, label, heights, style)
        for label, values, style in quantities(evaluations, field)
        for evaluation, heights in zip(evaluations, values, strict=True)
    ]
    sides = np.subtract(domain.upper, domain.lower)
    height = WIDTH * float(np.clip(max(sides[up] / sides[across] for across, up in planes), LOWEST, HIGHEST)) + 0.5
    figure = Figure((WIDTH * len(planes) + 1.0, height * len(rows) + 0.3), DPI, layout="constrained")
    grid = figure.subplots(len(rows), len(planes), squeeze=False)
    for panels, (evaluation, label, heights, style) in zip(grid, rows, strict=True):
        for ax, plane in zip(panels, planes, strict=True):
            image = _section(ax, evaluation, heights, plane, style)
        title(panels[0], evaluation.label if len(evaluations) > 1 else "", _place(evaluation, planes[0]), WIDTH)
        for ax, plane in zip(panels[1:], planes[1:], strict=True):
            title(ax, "", _place(evaluation, plane), WIDTH)
        bar = figure.colorbar(image, ax=list(panels), pad=0.02, aspect=14, ticks=few_ticks(), format=PLAIN)
        bar.set_label(label, fontsize=TEXT, parse_math=False)
        bar.ax.tick_params(labelsize=TEXT)
    return figure


def _section(ax: Axes, evaluation: Evaluation, heights: np.ndarray, plane: tuple[int, int], style: dict[str, Any]) -> Any:
    """One plane: the grid through the middle, cut where the solid really ends."""
    domain, (across, up) = evaluation.problem.domain, plane
    middle = tuple(slice(None) if axis in plane else number // 2 for axis, number in enumerate(evaluation.shape))
    ends = [(domain.lower[axis], domain.upper[axis]) for axis in plane]
    halves = [(high - low) / (evaluation.shape[axis] - 1) / 2 for (low, high), axis in zip(ends, plane, strict=True)]
    (west, east), (south, north) = ((low - half, high + half) for (low, high), half in zip(ends, halves, strict=True))
    shown = on_whole_grid(evaluation, heights)[middle].T
    image = ax.imshow(
        shown, origin="lower", extent=(west, east, south, north), aspect="equal", interpolation="bilinear", **style
    )
    x, y = (np.linspace(low, high, FINE) for low, high in ends)
    inside = _inside(domain, evaluation, plane, x, y).astype(float)
    image.set_visible(bool(inside.any()))
    if np.ptp(inside):
        ax.contourf(x, y, inside, levels=[-0.5, 0.5], colors="white")
        ax.contour(x, y, inside, levels=[0.5], colors=BLACK, linewidths=0.6)
    ax.set(xlim=ends[0], ylim=ends[1])
    dress(ax, domain.coordinates[across], domain.coordinates[up])
    ax.set_ylabel(domain.coordinates[up])  # every plane has its own
    ax.tick_params(labelleft=True)
    return image


def _inside(domain: Domain, evaluation: Evaluation, plane: tuple[int, int], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether the places of a plane are in the domain, rows upwards."""
    points = np.tile(_middle(evaluation), (FINE * FINE, 1))
    points[:, plane[0]], points[:, plane[1]] = (part.ravel() for part in np.meshgrid(x, y))
    return domain.contains(points).reshape(FINE, FINE)


def _middle(evaluation: Evaluation) -> np.ndarray:
    """The point of the grid that all planes go through."""
    domain = evaluation.problem.domain
    ends = zip(domain.lower, domain.upper, evaluation.shape, strict=True)
    return np.array([np.linspace(low, high, number)[number // 2] for low, high, number in ends])


def _place(evaluation: Evaluation, plane: tuple[int, int]) -> str:
    """Where a plane is: "z = 25"."""
    held = [axis for axis in range(len(evaluation.shape)) if axis not in plane]
    middle = _middle(evaluation)
    return ", ".join(f"{evaluation.problem.domain.coordinates[axis]} = {middle[axis]:.3g}" for axis in held)
