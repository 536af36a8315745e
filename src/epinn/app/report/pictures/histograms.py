"""Histograms of what an inverse problem asks for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....judge.evaluation import Evaluation
from ....judge.wording import plus_minus
from ....posterior.statistics import Prediction
from .panels import BLACK, BLUE, dress, legend, panel_grid, span_of, title

BINS = 40


def histograms(evaluations: Sequence[Evaluation]) -> Figure:
    """What was inferred: one row per unknown, one column per method, the same scale for the same unknown."""
    names = list(evaluations[0].unknowns)
    figure, axes, width = panel_grid(len(names), len(evaluations))
    for panels, name in zip(axes, names, strict=True):
        exact = evaluations[0].unknowns_truth[name]
        draws = [_draws(e.unknowns[name]) for e in evaluations]
        marks = np.array([e.unknowns[name].mean for e in evaluations] + ([] if exact is None else [exact]), float)
        span = span_of([marks, *(np.quantile(d, [0.005, 0.995]) for d in draws if d.size)], margin=0.1)  # without stray draws
        for ax, evaluation in zip(panels, evaluations, strict=True):
            found = evaluation.unknowns[name]
            _histogram(ax, found, exact, span)
            dress(ax, name, "density")
            title(ax, evaluation.label, f"{name} = {plus_minus(float(found.mean), float(found.std))}", width)
            ax.set_yticks([])
    legend(figure, axes)
    return figure


def _histogram(ax: Axes, found: Prediction, exact: float | None, span: tuple[float, float]) -> None:
    """Draws of one unknown. Draws that are all the same, which is what dropout gives for a parameter, make one bar."""
    draws = _draws(found)
    seen = draws[(draws >= span[0]) & (draws <= span[1])]
    style: dict[str, Any] = {"color": BLUE, "alpha": 0.35, "linewidth": 0, "label": "draws"}
    if seen.size and np.ptp(seen) > 1e-6 * np.max(np.abs(seen)):
        ax.hist(seen, BINS, density=True, **style)
    elif seen.size:
        ax.bar(seen.mean(), 1.0, width=0.03 * (span[1] - span[0]), **style)
    ax.axvline(float(found.mean), color=BLUE, linewidth=1.5, label="mean")
    if exact is not None:
        ax.axvline(exact, linestyle="--", color=BLACK, linewidth=1.1, label="exact")
    ax.set_xlim(*span)


def _draws(found: Prediction) -> np.ndarray:
    """The single draws that were kept, or the mean if none were; finite ones only."""
    draws = np.ravel(found.mean if found.samples is None else found.samples).astype(float)
    return np.asarray(draws[np.isfinite(draws)])
