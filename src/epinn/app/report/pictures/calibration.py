"""The picture of a calibration study: reliability, coverage along the domain, and the intervals of unknowns."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....judge.calibration import LEVELS, Reliability, holds
from ....judge.evaluation import grid_in
from ....posterior.gaussian import LEVEL, quantile
from ....problem.domain import Box
from ....problem.region import Domain
from .panels import BLUE, DPI, GREY, METHODS, ORANGE, TEXT, dress, title

WIDTH, HEIGHT = 4.2, 3.4  # of a panel, in inches


def picture(found: Sequence[Reliability], domain: Domain) -> Figure:
    """Reliability curves; coverage along the first coordinate, the others averaged out; one panel for every unknown."""
    unknowns = list(found[0].unknowns())
    figure = Figure((WIDTH * (2 + len(unknowns)), HEIGHT), DPI, layout="constrained")
    curves, along, *others = figure.subplots(1, 2 + len(unknowns))
    _reliability(curves, found)
    _along(along, found, domain)
    for ax, name in zip(others, unknowns, strict=True):
        _intervals(ax, found, name)
    return figure


def _reliability(ax: Axes, found: Sequence[Reliability]) -> None:
    ax.plot([0, 1], [0, 1], ":", color=GREY)
    for one, colour in zip(found, METHODS, strict=False):
        ax.plot(LEVELS, [one.coverage(level) for level in LEVELS], "o-", ms=3, color=colour, label=one.method)
    title(ax, "Reliability", "on the dotted line a band holds what it promises", WIDTH)
    _dress(ax, "level of the band", "coverage")
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02))
    ax.legend(fontsize=TEXT, frameon=False)


def _along(ax: Axes, found: Sequence[Reliability], domain: Domain) -> None:
    if isinstance(domain, Box):
        n = round(len(found[0].redraws[0].distances) ** (1 / domain.dimension))
        across = np.linspace(domain.lower[0], domain.upper[0], n)
        rows = [one.conditional().reshape(n, -1).mean(axis=1) for one in found]
    else:
        across, of = np.unique(np.asarray(grid_in(domain)[0])[:, 0], return_inverse=True)
        rows = [np.bincount(of, one.conditional()) / np.bincount(of) for one in found]
    ax.axhline(LEVEL, ls=":", color=GREY)
    for row, colour in zip(rows, METHODS, strict=False):
        ax.plot(across, row, color=colour)
    title(ax, "Along the domain", f"how often the {LEVEL:.0%} band holds the truth", WIDTH)
    _dress(ax, domain.coordinates[0], "coverage")
    ax.set_ylim(min(0.7, float(np.min(rows)) - 0.05), 1.01)


def _intervals(ax: Axes, found: Sequence[Reliability], name: str) -> None:
    """Those of the first method, redraw by redraw, from the lowest to the highest; what misses the truth is orange."""
    every = [redraw.unknowns[name] for redraw in found[0].redraws]
    intervals = sorted((u for u in every if u["mean"] is not None and np.isfinite(u["mean"])), key=lambda u: u["mean"])
    for i, one in enumerate(intervals):
        reach = quantile(LEVEL) * one["std"]
        ax.plot([i, i], [one["mean"] - reach, one["mean"] + reach], lw=1, color=BLUE if holds(one) else ORANGE)
    ax.axhline(every[0]["exact"], ls=":", color=GREY)
    kept = found[0].unknowns()[name]["coverage"]
    title(ax, f"Intervals of {name}", f"{found[0].method}: {kept:.0%} of the {LEVEL:.0%} intervals hold it", WIDTH)
    _dress(ax, "redraw, sorted", name)


def _dress(ax: Axes, across: str, up: str) -> None:
    """As all figures, but every panel has a scale of its own."""
    dress(ax, across, up)
    ax.tick_params(labelleft=True)
    ax.set_ylabel(up, fontsize=TEXT, parse_math=False)
