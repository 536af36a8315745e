"""A problem before it is solved: its domain, the points of its conditions, and where was measured."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....problem.channel import Channel
from ....problem.conditions import Data
from ....problem.domain import Box
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
    """Points of all conditions: over the first two coordinates, of a solid over every two, or with the values that are given
    where there is one coordinate."""
    domain = problem.domain
    views = _views(domain)
    height = WIDTH * 0.55 if views == [[0]] else sum(_height(domain, view) for view in views)
    figure = Figure((WIDTH, height + 0.8), DPI, layout="constrained")
    ratios = [_height(domain, view) for view in views] if len(views) > 1 else None
    axes = figure.subplots(len(views), 1, squeeze=False, height_ratios=ratios)
    channels = (*problem.channels(0), *problem.held_out())
    for ax, view in zip(axes[:, 0], views, strict=True):
        earlier: Counter[str] = Counter()
        for channel in channels:
            _draw(ax, problem, channel, view, MARKERS[earlier[channel.kind] % len(MARKERS)])
            earlier[channel.kind] += 1
        _frame(ax, problem, view)
    title(axes[0, 0], problem.name or "the problem", _extent(domain), WIDTH)
    legend(figure, axes)
    return figure


def _views(domain: Domain) -> list[list[int]]:
    """The coordinates across and up, of every panel."""
    if domain.dimension == 1:
        return [[0]]
    is_solid = len(domain.space) == 3 and not isinstance(domain, Box)
    return [[0, 1], [0, 2], [1, 2]] if is_solid else [plane_of(domain)]


def _height(domain: Domain, view: list[int]) -> float:
    return WIDTH * proportion_of(domain, view)


def _frame(ax: Axes, problem: Problem, view: list[int]) -> None:
    """Names of the axes, zones, and a margin around the box."""
    domain = problem.domain
    dress(ax, domain.coordinates[view[0]], ", ".join(problem.fields) if len(view) == 1 else domain.coordinates[view[1]])
    for axis, mark in zip(view, (ax.axvline, ax.axhline), strict=False):
        for place in domain.breaks[axis]:
            mark(place, color=GREY, linewidth=0.8, linestyle=":")
    ends = [(domain.lower[axis], domain.upper[axis]) for axis in view]
    limits: list[Callable[[float, float], object]] = [ax.set_xlim, ax.set_ylim]
    for (low, high), limit in zip(ends, limits, strict=False):
        limit(low - MARGIN * (high - low), high + MARGIN * (high - low))


def _draw(ax: Axes, problem: Problem, channel: Channel, view: list[int], marker: str) -> None:
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
        ax.scatter(*points[:, view].T, **style)
    elif channel.linear and channel.partner is None and not channel.centred:
        ax.scatter(points[:, 0], np.asarray(channel.target)[: len(points), 0], **style)
    else:  # along the axis, since it has no value
        style |= {"marker": "|", "s": TICK, "clip_on": False, "transform": ax.get_xaxis_transform()}
        ax.scatter(points[:, 0], np.zeros(len(points)), **style)


def _extent(domain: Domain) -> str:
    ends = zip(domain.coordinates, domain.lower, domain.upper, strict=True)
    return " · ".join(f"{name} from {low:g} to {high:g}" for name, low, high in ends)
