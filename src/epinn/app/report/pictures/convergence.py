"""How training went: what was left of every condition, from the first step to the last."""

import numpy as np
from matplotlib.figure import Figure

from ....solve.pinn import Pinn
from .panels import DPI, METHODS, TEXT, legend, title

WIDTH, HEIGHT = 4.8, 3.0  # inches
LEAST = 3  # records that make a curve
TICKS = 6  # steps that are named, at most
STYLES = ("-", "--", ":")  # for more conditions than there are colours


def how_trained(pinn: Pinn | None) -> dict[str, Figure]:
    """The figure below by its name, if there is anything to show."""
    figure = None if pinn is None else convergence(pinn)
    return {} if figure is None else {"training": figure}


def convergence(pinn: Pinn) -> Figure | None:
    """The root mean square residual of every condition; nothing where no training took place, or took place elsewhere.

    Records of the last stage are a few steps apart, those of the first one hundreds: they stand side by side at equal
    distances, with the steps that had been made by then below.
    """
    losses = np.asarray(pinn.losses, float)
    if len(losses) < LEAST or losses.shape != (len(pinn.steps), len(pinn.channels)):
        return None
    if pinn.base.newton and pinn.steps[-1] <= pinn.base.epochs:  # files of earlier versions have the first stage alone
        return None
    figure = Figure((WIDTH, HEIGHT), DPI, layout="constrained")
    ax = figure.subplots()
    positive = np.where(np.isfinite(losses) & (losses > 0), losses, np.nan)
    for i, (channel, values) in enumerate(zip(pinn.channels, np.sqrt(positive).T, strict=True)):
        colour, style = METHODS[i % len(METHODS)], STYLES[i // len(METHODS) % len(STYLES)]
        ax.plot(values, style, color=colour, linewidth=1.3, marker="o", markersize=2, label=channel.name)
    if np.any(np.isfinite(positive)):
        ax.set_yscale("log")
    chosen = np.unique(np.linspace(0, len(losses) - 1, TICKS).round().astype(int)).tolist()
    ax.set_xticks(chosen, [f"{pinn.steps[i]:,}" for i in chosen])
    ax.set_xlabel("steps", fontsize=TEXT)
    ax.set_ylabel("rms residual", fontsize=TEXT)
    ax.tick_params(labelsize=TEXT)
    ax.spines[["top", "right"]].set_visible(False)
    title(ax, "", "in parts of the size of its terms; noise remains of measurements", WIDTH)
    legend(figure, np.array([ax]))
    return figure
