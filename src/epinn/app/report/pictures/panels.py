"""What all figures share: panels side by side, titles with figures in them, few ticks, one legend.

Figures are made without pyplot, so nothing is shown, stored or registered anywhere: whoever calls saves them.
"""

import io
import math
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ....judge.evaluation import Evaluation
from ....judge.wording import metric

BLUE, ORANGE, BLACK, GREY = "#0072B2", "#D55E00", "#000000", "#555555"  # safe for colour-blind readers (Okabe and Ito)
METHODS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BLACK, "#F0E442")  # one for each, in one panel
PER_ROW = 3  # panels with curves or histograms that fit side by side
DPI = 150
TITLE, TEXT = 9, 8  # font sizes in points
LETTERS = 11.5  # of a title that fit into a panel, per inch of its width
PLAIN = "{x:g}"  # ticks without a common power of ten, which would stand where the titles are
TITLE_DIGITS = 2
MERITS = {"sharpness": "sharpness", "coverage": "coverage", "rmse": "RMSE"}  # the metrics in titles


def panel_grid(rows: int, methods: int) -> tuple[Figure, np.ndarray, float]:
    """Panels by row and method, and the width of one in inches. Many methods continue below, in blocks of all rows."""
    blocks = math.ceil(methods / PER_ROW)
    columns = math.ceil(methods / blocks)
    width, height = (4.8 if columns == 1 else 3.3), (2.4 if rows * blocks > 1 else 2.9)
    figure = Figure((width * columns, height * rows * blocks + 0.4), DPI, layout="constrained")
    grid = figure.subplots(rows * blocks, columns, squeeze=False)
    axes = grid.reshape(blocks, rows, columns).swapaxes(0, 1).reshape(rows, blocks * columns)
    for ax in axes[:, methods:].flat:
        ax.remove()
    return figure, axes[:, :methods], width


def span_of(values: Iterable[np.ndarray], margin: float = 0.0) -> tuple[float, float]:
    """The range of all finite values, never empty, widened by a margin in parts of itself."""
    flat = np.concatenate([np.ravel(v).astype(float) for v in values])
    flat = flat[np.isfinite(flat)]
    low, high = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 1.0)
    if high - low <= 1e-4 * max(abs(low), abs(high)):
        low, high = low - (0.05 * abs(low) or 1.0), high + (0.05 * abs(high) or 1.0)
    return low - margin * (high - low), high + margin * (high - low)


def merits(evaluation: Evaluation, field: str, *, narrow: bool = False) -> str:
    """The metrics that exist, for a title; in two lines if the panel is narrow."""
    values = {name: value for name, value in evaluation.metrics(field).items() if name in MERITS and value is not None}
    first, *others = [f"{MERITS[name]} {metric(name, values[name], TITLE_DIGITS)}" for name in MERITS if name in values] or [""]
    return ("\n" if narrow else " · ").join([first, " · ".join(others)] if others else [first])


def title(ax: Axes, label: str, subtitle: str, width: float) -> None:
    """The method in bold, wrapped to a panel of this width in inches, with figures below it."""
    pad = 3 + 1.3 * TEXT * len(subtitle.splitlines())
    style: dict[str, Any] = {"parse_math": False, "va": "bottom"}
    ax.set_title(textwrap.fill(label, int(LETTERS * width)), loc="left", fontsize=TITLE, fontweight="bold", pad=pad, **style)
    ax.annotate(subtitle, (0, 1), (0, 4), "axes fraction", "offset points", fontsize=TEXT, color=GREY, **style)


def dress(ax: Axes, across: str, up: str) -> None:
    """Few ticks with plain numbers, names on the axes; the vertical axis is told once per row."""
    for axis, name in ((ax.xaxis, across), (ax.yaxis, textwrap.fill(up, 24))):
        axis.set_major_locator(few_ticks())
        axis.set_label_text(name, fontsize=TITLE, parse_math=False)
    ax.ticklabel_format(axis="x", useOffset=False)
    ax.xaxis.offsetText.set_fontsize(TEXT)
    ax.yaxis.set_major_formatter(PLAIN)
    ax.tick_params(labelsize=TEXT)
    ax.spines[["top", "right"]].set_visible(False)
    place = ax.get_subplotspec()
    if place is not None and not place.is_first_col():
        ax.tick_params(labelleft=False)
        ax.set_ylabel("")


def few_ticks() -> MaxNLocator:
    """Ticks at round numbers, at most six."""
    return MaxNLocator(5, steps=[1, 2, 5, 10])


def legend(figure: Figure, axes: np.ndarray) -> None:
    """One legend below all panels."""
    entries: dict[str, Any] = {}
    for ax in axes.flat:
        handles, names = ax.get_legend_handles_labels()
        entries |= dict(zip(names, handles, strict=True))
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4, fontsize=TEXT, frameon=False)


def as_png(figure: Figure, dpi: int = DPI) -> bytes:
    """The figure as a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
