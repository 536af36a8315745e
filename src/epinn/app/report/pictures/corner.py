"""What was inferred, two unknowns at a time: draws of one over those of another tell where only a combination is known."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....judge.evaluation import Evaluation
from ....posterior.gaussian import LEVEL
from .panels import BLACK, DPI, GREY, METHODS, TEXT, TITLE, dress, legend, span_of

MOST = 6  # unknowns; with more, panels are too small to be read
WIDTH = 1.9  # inches, of one panel
BINS, FINE = 40, 50  # of histograms, and of densities along each unknown
SMOOTH = 1.6  # bins that a density is smoothed by
POINTS = 500  # draws that are shown as such
SHARES = (LEVEL, 0.68)  # of the draws that lie within the contours
TAILS = (0.002, 0.998)  # draws beyond do not stretch the scale


def corner(evaluations: Sequence[Evaluation]) -> Figure:
    """Histograms on the diagonal, draws in pairs below it, their correlation above it; a colour for every method."""
    names = list(evaluations[0].unknowns)[:MOST]
    number, hidden = len(names), len(evaluations[0].unknowns) - MOST
    figure = Figure((WIDTH * number + 0.5, WIDTH * number + 0.6), DPI, layout="constrained")
    axes = figure.subplots(number, number, squeeze=False)
    exact = evaluations[0].unknowns_truth
    draws = [_together(evaluation, names) for evaluation in evaluations]
    spans = [
        span_of([np.zeros(0), *(np.quantile(d[i], TAILS) for d in draws if d.size), *_known(exact[name])], margin=0.1)
        for i, name in enumerate(names)
    ]
    for row, up in enumerate(names):
        for column, across in enumerate(names):
            ax = axes[row, column]
            if column > row:
                _correlations(ax, [d[[column, row]] for d in draws])
                continue
            for evaluation, colour, found in zip(evaluations, METHODS, draws, strict=False):
                if row == column:
                    _histogram(ax, found[row], spans[row], colour, evaluation.label)
                else:
                    _pair(ax, found[column], found[row], (spans[column], spans[row]), colour, alone=len(evaluations) == 1)
            for value in _known(exact[across]):
                ax.axvline(value, linestyle="--", color=BLACK, linewidth=0.9, label="exact")
            for value in _known(exact[up]) if row != column else ():
                ax.axhline(value, linestyle="--", color=BLACK, linewidth=0.9)
            _dress(ax, across, up, spans[column], None if row == column else spans[row])
    if hidden > 0:
        figure.suptitle(f"the first {MOST} of {MOST + hidden} unknowns", fontsize=TITLE)
    legend(figure, axes)
    return figure


def _together(evaluation: Evaluation, names: Sequence[str]) -> np.ndarray:
    """The draws of all unknowns, one row each, that are finite in all of them: the mean where none were kept."""
    found = [evaluation.unknowns[name] for name in names]
    draws = np.array([np.ravel(one.mean if one.samples is None else one.samples) for one in found], float)
    return draws[:, np.isfinite(draws).all(axis=0)]


def _known(exact: float | None) -> list[np.ndarray]:
    return [] if exact is None else [np.asarray(exact)]


def _histogram(ax: Axes, draws: np.ndarray, span: tuple[float, float], colour: str, label: str) -> None:
    if draws.size and np.ptp(draws) > 0:
        ax.hist(draws, BINS, range=span, density=True, histtype="stepfilled", color=colour, alpha=0.35, label=label)
    elif draws.size:
        ax.axvline(draws[0], color=colour, label=label)


def _pair(
    ax: Axes, across: np.ndarray, up: np.ndarray, spans: tuple[tuple[float, float], ...], colour: str, *, alone: bool
) -> None:
    """Some of the draws where there is one method, and the smallest areas that hold most of them."""
    from scipy.ndimage import gaussian_filter  # imported here: few pictures need it

    if alone or not (across.size and np.ptp(across) > 0 and np.ptp(up) > 0):
        every = max(1, -(-len(across) // POINTS))
        ax.scatter(across[::every], up[::every], s=3, color=colour, alpha=0.35, linewidths=0)
    if not (across.size and np.ptp(across) > 0 and np.ptp(up) > 0):
        return
    counts, x, y = np.histogram2d(across, up, FINE, range=spans)
    density = gaussian_filter(counts, SMOOTH)
    places = [np.clip(np.searchsorted(edges, draws) - 1, 0, FINE - 1) for edges, draws in ((x, across), (y, up))]
    levels = np.unique(np.quantile(density[tuple(places)], 1 - np.array(SHARES)))
    if levels[-1] <= 0:
        return
    ax.contour((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2, density.T, levels, colors=colour, linewidths=[0.8, 1.4])


def _correlations(ax: Axes, pairs: Sequence[np.ndarray]) -> None:
    ax.set_axis_off()
    for i, (pair, colour) in enumerate(zip(pairs, METHODS, strict=False)):
        if pair.shape[1] > 1 and np.all(np.ptp(pair, axis=1) > 0):
            text, place = f"correlation {np.corrcoef(pair)[0, 1]:.2f}", 0.5 + 0.16 * ((len(pairs) - 1) / 2 - i)
            shade = GREY if len(pairs) == 1 else colour
            ax.text(0.5, place, text, color=shade, fontsize=TEXT, ha="center", va="center", transform=ax.transAxes)


def _dress(ax: Axes, across: str, up: str, wide: tuple[float, float], high: tuple[float, float] | None) -> None:
    """Names and numbers at the left and at the bottom only."""
    dress(ax, across, up)
    ax.set_xlim(*wide)
    ax.tick_params(axis="x", labelrotation=35, labelsize=TEXT - 1)
    place = ax.get_subplotspec()
    if place is not None and not place.is_last_row():
        ax.tick_params(labelbottom=False)
        ax.set_xlabel("")
    if high is None:
        ax.set_yticks([])
        ax.set_ylabel("")
        ax.spines["left"].set_visible(False)
    else:
        ax.set_ylim(*high)
