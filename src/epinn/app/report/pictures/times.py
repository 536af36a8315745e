"""A plane in time: mean and standard deviation at a few times, side by side on the same colours."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ....judge.evaluation import Evaluation
from ....problem.region import TIME
from .maps import bar, on_whole_grid, proportion_of, quantities, show
from .panels import DPI, dress, title

SHOWN = 4  # times, from the first to the last
WIDTH = 2.1  # inches, of one panel


def is_plane_in_time(evaluation: Evaluation) -> bool:
    """Whether a problem has two space coordinates, and time."""
    domain = evaluation.problem.domain
    return TIME in domain.coordinates and len(domain.space) == 2


def times_of(evaluation: Evaluation) -> np.ndarray:
    """The times on the grid of an evaluation."""
    domain = evaluation.problem.domain
    axis = domain.axis(TIME)
    return np.linspace(domain.lower[axis], domain.upper[axis], evaluation.shape[axis])


def at_time(evaluation: Evaluation, values: np.ndarray, index: int) -> np.ndarray:
    """Values on the grid over space at one time, also next to the domain."""
    whole = on_whole_grid(evaluation, values)
    return np.asarray(whole.take(index, axis=evaluation.problem.domain.axis(TIME)))


def small_multiples(evaluations: Sequence[Evaluation], field: str) -> Figure:
    """Every quantity of every method in a row of maps over space, from the first time to the last."""
    domain = evaluations[0].problem.domain
    plane = [domain.axis(name) for name in domain.space]
    times = times_of(evaluations[0])
    chosen = np.unique(np.linspace(0, len(times) - 1, SHOWN).round().astype(int)).tolist()
    rows = [
        (evaluation, label, heights, style)
        for label, values, style in quantities(evaluations, field)
        for evaluation, heights in zip(evaluations, values, strict=True)
    ]
    height = WIDTH * proportion_of(domain, plane) + 0.5
    figure = Figure((WIDTH * len(chosen) + 1.0, height * len(rows) + 0.3), DPI, layout="constrained")
    axes = figure.subplots(len(rows), len(chosen), sharex=True, sharey=True, squeeze=False)
    for panels, (evaluation, label, heights, style) in zip(axes, rows, strict=True):
        for ax, index in zip(panels, chosen, strict=True):
            image = show(ax, evaluation, at_time(evaluation, heights, index), plane, style)
            dress(ax, *domain.space)
            ax.label_outer()
            first = ax is panels[0] and len(evaluations) > 1
            title(ax, evaluation.label if first else "", f"{TIME} = {times[index]:.3g}", WIDTH)
        bar(panels, image, label)
    return figure
