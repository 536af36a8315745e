"""A problem before it is solved: its domain, the points of its conditions, and where was measured."""

from collections import Counter
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....problem.channel import Channel
from ....problem.conditions import Data
from ....problem.problem import Problem
from ....problem.region import Domain
from .maps import plane_of, proportion_of
from .panels import BLACK, BLUE, DPI, GREY, ORANGE, dress, legend, title

WIDTH = 5.2  # inches
COLOURS = {"equation": GREY, "constraint": GREY, "boundary": BLUE, "initial": ORANGE, "data": BLACK}
SIZES = {"equation": 2, "constraint": 2, "boundary": 9, "initial": 9, "data": 16}  # of the marks, in square points
TICK = 24  # of those that stand on the axis
CROWD = 4000  # points of a condition are enough to see how they are spread
MARKERS = "os^Dv"  # of conditions of one kind, which have one colour
MARGIN = 0.03  # around the box, in parts of it


def domain_picture(problem: Problem) -> Figure:
    """Points of all conditions: over the first two coordinates, or with the values that are given where there is one."""
    flat = problem.domain.dimension == 1
    figure = Figure((WIDTH, WIDTH * (0.55 if flat else proportion_of(problem.domain)) + 0.8), DPI, layout="constrained")
    axes = figure.subplots(1, 1, squeeze=False)
    ax = axes[0, 0]
    earlier: Counter[str] = Counter()
    for channel in (*problem.channels(0), *problem.held_out()):
        _draw(ax, problem, channel, MARKERS[earlier[channel.kind] % len(MARKERS)])
        earlier[channel.kind] += 1
    across = [0] if flat else plane_of(problem.domain)
    up = ", ".join(problem.fields) if flat else problem.domain.coordinates[across[1]]
    dress(ax, problem.domain.coordinates[across[0]], up)
    for axis, mark in zip(across, (ax.axvline, ax.axhline), strict=False):
        for place in problem.domain.breaks[axis]:
            mark(place, color=GREY, linewidth=0.8, linestyle=":")
    ends = [(problem.domain.lower[axis], problem.domain.upper[axis]) for axis in across]
    for (low, high), limit in zip(ends, (ax.set_xlim, ax.set_ylim), strict=False):
        limit(low - MARGIN * (high - low), high + MARGIN * (high - low))
    title(ax, problem.name or "the problem", _extent(problem.domain), WIDTH)
    legend(figure, axes)
    return figure


def _draw(ax: Axes, problem: Problem, channel: Channel, marker: str) -> None:
    """The points of one condition; with their values if they are given for a field and there is one coordinate."""
    kind = channel.kind
    points = np.asarray(channel.points if kind == "data" else channel.all_points)[:CROWD]  # of averages, where they are centred
    held_out = any(isinstance(one, Data) and one.held_out and one.label == channel.name for one in problem.data)
    style: dict[str, Any] = {
        "s": SIZES[kind],
        "marker": marker,
        "color": COLOURS[kind],
        "label": channel.name,
        "linewidths": 0.8,
        "zorder": 2 + SIZES[kind],
    }
    if held_out:
        style |= {"facecolors": "none", "edgecolors": BLACK, "color": None}
    if problem.domain.dimension > 1:
        ax.scatter(*points[:, plane_of(problem.domain)].T, **style)
    elif channel.linear and channel.partner is None and not channel.centred:
        ax.scatter(points[:, 0], np.asarray(channel.target)[: len(points), 0], **style)
    else:  # along the axis, since it has no value
        style |= {"marker": "|", "s": TICK, "clip_on": False, "transform": ax.get_xaxis_transform()}
        ax.scatter(points[:, 0], np.zeros(len(points)), **style)


def _extent(domain: Domain) -> str:
    ends = zip(domain.coordinates, domain.lower, domain.upper, strict=True)
    return " · ".join(f"{name} from {low:g} to {high:g}" for name, low, high in ends)
