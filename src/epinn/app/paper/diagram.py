"""The architecture of an E-PINN as one picture. Outlined boxes are networks, outlined circles operations; values are grey."""

from itertools import pairwise, product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from ..plan.presets import PAPER
from ..report.pictures.panels import BLACK, BLUE, DPI, GREY, ORANGE

WIDTH, HEIGHT = 18.0, 8.8  # of the grid on which all is placed; two of its units make an inch
LARGE, SMALL = 10, 9  # font sizes in points
R, NODE = 0.38, 0.11  # radii of circles, and of the nodes in a network
BASE, LEARNABLE, INDEX, PRIOR = 7.15, 4.05, 2.65, 1.25  # rows, by what they hold; then columns
X, LAST, OUTPUT, FORK, NETWORK, PROJECTION, SCALE, SUM, RESULT = 1.0, 4.5, 5.4, 6.6, 8.45, 10.85, 12.05, 13.25, 16.05
PANEL, PANEL_HEIGHT = 2.9, 5.2  # the middle of the tinted panels, and their height
PALE = "0.9"  # the grey of values
Point = tuple[float, float]


def diagram() -> Figure:
    """From left to right: coordinates, base PINN and epinet, their sum, and what many random indices make of it."""
    figure = Figure((WIDTH / 2, HEIGHT / 2), DPI)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(0, HEIGHT))
    ax.set_axis_off()
    for part in (_base, _features, _epinet, _result):
        part(ax)
    return figure


def _base(ax: Axes) -> None:
    """From x through the frozen PINN to its output; its last hidden layer is filled."""
    _circle(ax, (X, BASE), "$x$", value=True)
    _text(ax, (X, BASE + 0.7), "coordinates", GREY, SMALL)
    _box(ax, (4.05, BASE + 0.125), (3.7, 2.35), edge=BLUE, frozen=True)
    _text(ax, (4.05, BASE + 0.98), "base PINN, frozen", BLUE)
    layers = [[(x, BASE + y) for y in (-0.63, -0.21, 0.21, 0.63)] for x in (LAST - 1.8, LAST - 0.9, LAST)] + [[(OUTPUT, BASE)]]
    for start, end in (ends for two in pairwise(layers) for ends in product(*two)):
        ax.plot((start[0], end[0]), (start[1], end[1]), color=BLUE, linewidth=0.5, alpha=0.5)
    for x, y in (node for layer in layers for node in layer):
        ax.add_patch(Circle((x, y), NODE, facecolor=BLUE if x == LAST else "white", edgecolor=BLUE, linewidth=1.2, zorder=3))
    _arrow(ax, (X + R, BASE), (2.2, BASE))
    _arrow(ax, (OUTPUT + NODE, BASE), (SUM - R, BASE))
    _text(ax, (9.5, BASE + 0.38), r"$u_\xi(x)$")


def _features(ax: Axes) -> None:
    """What the epinet sees of x and of the base, whose parameters it cannot change."""
    _arrow(ax, (X, BASE - R), (X, INDEX), (LAST - 1.05, INDEX))
    _arrow(ax, (LAST, BASE - 0.63 - NODE), (LAST, INDEX + 0.45))
    _text(ax, (LAST + 0.2, 5.35), "$h(x)$", ha="left")
    ax.hlines((4.37, 4.53), LAST - 0.28, LAST + 0.28, color=BLACK, linewidth=1.8)
    _text(ax, (4.0, 4.45), "stop-gradient:\nparameters frozen,\nderivatives in $x$\npass through", GREY, SMALL, ha="right")
    _box(ax, (LAST, INDEX), (2.1, 0.9), r"$[\,x,\ h(x)\,]$")
    _text(ax, (LAST, INDEX - 0.95), "coordinates and last\nhidden activations", GREY, SMALL)


def _epinet(ax: Axes) -> None:
    """The learnable and the prior network, z as an input of both and both projected on z, and their sum."""
    _panel(ax, 10.0, 7.8, "epinet", ORANGE)
    _circle(ax, (NETWORK, INDEX), "$z$", value=True)
    _text(ax, (NETWORK - 0.55, INDEX), "random\nindex", GREY, SMALL, ha="right")
    _text(ax, (9.8, INDEX + 0.3), r"$z \sim \mathcal{N}(0, I)$", GREY, SMALL)
    _text(ax, (9.8, INDEX - 0.3), f"$d_z = {PAPER['epinet.index_dim']}$", GREY, SMALL)
    for row, up, name in ((LEARNABLE, 1, "learnable\nnetwork $e^L$"), (PRIOR, -1, "prior network\n$e^P$, frozen")):
        _box(ax, (NETWORK, row), (2.7, 1.1), name, ORANGE, frozen=row == PRIOR)
        _arrow(ax, (LAST + 1.05, INDEX), (FORK, INDEX), (FORK, row), (NETWORK - 1.35, row))
        _arrow(ax, (NETWORK, INDEX + up * R), (NETWORK, row - up * 0.55))
        _arrow(ax, (NETWORK + R, INDEX), (PROJECTION, INDEX), (PROJECTION, row - up * R))
        _arrow(ax, (NETWORK + 1.35, row), (PROJECTION - R, row))
        _circle(ax, (PROJECTION, row), r"$\cdot\,z$")
        _arrow(ax, (PROJECTION + R, row), ((SUM if row == LEARNABLE else SCALE) - R, row))
    ax.plot((FORK, PROJECTION), (INDEX, INDEX), "o", color=BLACK, markersize=3)
    _text(ax, (PROJECTION, LEARNABLE + 0.68), "projected on $z$", GREY, SMALL)
    _circle(ax, (SCALE, PRIOR), r"$\times\alpha$")
    _text(ax, (SCALE, PRIOR - 0.64), rf"$\alpha = {PAPER['epinet.alpha']}$", GREY, SMALL)
    _arrow(ax, (SCALE + R, PRIOR), (SUM, PRIOR), (SUM, LEARNABLE - R))
    _circle(ax, (SUM, LEARNABLE), "$+$")


def _result(ax: Axes) -> None:
    """The E-PINN's output for one z, and mean and band over many."""
    _arrow(ax, (SUM, LEARNABLE + R), (SUM, BASE - R))
    _text(ax, (SUM - 0.2, 6.1), r"$e^L + \alpha\,e^P$", ha="right")
    _circle(ax, (SUM, BASE), "$+$")
    _arrow(ax, (SUM + R, BASE), (RESULT - 0.95, BASE))
    _box(ax, (RESULT, BASE), (1.9, 0.9), "$u(x, z)$")
    _arrow(ax, (RESULT, BASE - 0.45), (RESULT, PANEL + PANEL_HEIGHT / 2))
    _text(ax, (RESULT + 0.2, 6.1), "many $z$", ha="left")
    _panel(ax, RESULT, 3.3, "mean and band", BLUE)
    for name, at, tip in (("$x$", (17.2, 0.6), (17.4, 0.9)), ("$u$", (15.0, 4.45), (14.75, 4.6))):
        _arrow(ax, (14.75, 0.9), tip)
        _text(ax, at, name, GREY, SMALL)
    s = np.linspace(-1.0, 1.0, 101)
    x, mean, band = RESULT + 1.1 * s, 2.7 + 0.8 * np.sin(3.4 * s), 0.12 + 0.8 * s**2
    ax.fill_between(x, mean - band, mean + band, color=BLUE, alpha=0.25, linewidth=0)
    ax.plot(x, mean, color=BLUE, linewidth=1.8)


def _panel(ax: Axes, middle: float, width: float, title: str, colour: str) -> None:
    """A tinted area with its title at the top left."""
    _box(ax, (middle, PANEL), (width, PANEL_HEIGHT), edge="none", face=(colour, 0.07))
    _text(ax, (middle - width / 2 + 0.25, PANEL + PANEL_HEIGHT / 2 - 0.45), title, colour, ha="left", va="baseline")


def _box(ax: Axes, at: Point, size: Point, text: str = "", edge: str = PALE, face: Any = None, frozen: bool = False) -> None:
    """A box around a point, dashed when frozen."""
    corner, face = (at[0] - size[0] / 2, at[1] - size[1] / 2), face or (PALE if edge == PALE else "white")
    look: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": 1.4, "linestyle": "--" if frozen else "-"}
    ax.add_patch(FancyBboxPatch(corner, *size, "round,pad=0,rounding_size=0.15", **look))
    _text(ax, at, text)


def _circle(ax: Axes, at: Point, text: str, value: bool = False) -> None:
    ax.add_patch(Circle(at, R, facecolor=PALE if value else "white", edgecolor=PALE if value else BLACK, linewidth=1.1))
    _text(ax, at, text)


def _arrow(ax: Axes, *points: Point) -> None:
    """An arrow through these points; its tip is the last of them."""
    ax.add_patch(FancyArrowPatch(path=Path(points), arrowstyle="-|>", mutation_scale=10, color=BLACK, linewidth=1.1))


def _text(ax: Axes, at: Point, text: str, colour: str = BLACK, size: float = LARGE, **place: Any) -> None:
    ax.text(*at, text, fontsize=size, color=colour, linespacing=1.25, **{"ha": "center", "va": "center"} | place)
