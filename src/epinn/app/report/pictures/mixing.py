"""Whether chains have mixed: their traces, and the ranks of their samples among those of all chains."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....judge.evaluation import Evaluation
from .panels import DPI, GREY, METHODS, TEXT, dress, title

WIDTHS, HEIGHT = (4.0, 2.6), 1.7  # inches: of trace and ranks, and of both
BINS = 10  # of ranks
MOST = 6  # quantities of a method


def mixing(evaluations: Sequence[Evaluation]) -> Figure | None:
    """A row for every quantity of every method that has chains; nothing if none has.

    Chains that have mixed look alike: their traces cross, and none of them has more low or high ranks than the others.
    """
    rows = [
        (evaluation.label, name, values)
        for evaluation in evaluations
        if evaluation.chains is not None
        for name, values in list(zip(evaluation.chains.names, evaluation.chains.values, strict=True))[:MOST]
    ]
    if not rows:
        return None
    figure = Figure((sum(WIDTHS), HEIGHT * len(rows) + 0.4), DPI, layout="constrained")
    axes = figure.subplots(len(rows), 2, squeeze=False, width_ratios=WIDTHS)
    for (trace, ranks), (label, name, values) in zip(axes, rows, strict=True):
        _trace(trace, values)
        _ranks(ranks, values)
        several = len(evaluations) > 1
        title(trace, f"{label}: {name}" if several else name, "", WIDTHS[0])
        title(ranks, "", "share of each chain, near 1 if mixed", WIDTHS[1])
    return figure


def _trace(ax: Axes, values: np.ndarray) -> None:
    for i, chain in enumerate(values):
        ax.plot(np.where(np.isfinite(chain), chain, np.nan), color=METHODS[i % len(METHODS)], linewidth=0.6, alpha=0.8)
    dress(ax, "sample", "")
    ax.margins(x=0.01)


def _ranks(ax: Axes, values: np.ndarray) -> None:
    """How often the samples of a chain are among the lowest, the next and so on of all, in parts of what is even."""
    number, samples = values.shape
    if np.ptp(values) > 0:
        ranks = np.argsort(np.argsort(values.ravel(), kind="stable")).reshape(number, samples)
        edges = np.linspace(0, values.size, BINS + 1)
        for i, chain in enumerate(ranks):
            shares = np.histogram(chain, edges)[0] * BINS / samples
            ax.stairs(shares, edges / values.size, baseline=None, color=METHODS[i % len(METHODS)])
    ax.axhline(1, linestyle=":", color=GREY)
    dress(ax, "rank among all chains", "")
    ax.tick_params(labelleft=True, labelsize=TEXT)
    ax.set(xlim=(0, 1), ylim=(0, None))
