"""Reaction and diffusion in a square without flux through its sides: cosines in space, fourth-order steps in time."""

from collections.abc import Callable

import numpy as np
from scipy.fft import dctn, idctn


def solve(
    start: np.ndarray,
    diffusivities: np.ndarray,
    reaction: Callable[[np.ndarray], np.ndarray],
    side: float,
    times: np.ndarray,
    *,
    steps: int,
) -> np.ndarray:
    """The fields, shape (times, fields, n, n), at the n by n nodes of a square that has nodes on its sides.

    Runge-Kutta with an integrating factor (Lawson 1967), by which diffusion is exact and does not limit the step. There are
    `steps` between one of the equally spaced `times` and the next.
    """
    wavenumbers = np.pi * np.arange(start.shape[-1]) / side
    decay = -(wavenumbers[:, None] ** 2 + wavenumbers**2) * np.asarray(diffusivities)[:, None, None]
    dt = (times[1] - times[0]) / steps
    half = np.exp(decay * dt / 2)

    def change(spectrum: np.ndarray) -> np.ndarray:
        return dctn(reaction(idctn(spectrum, type=1, axes=(1, 2))), type=1, axes=(1, 2))

    now = dctn(start, type=1, axes=(1, 2))
    kept = [start]
    for _ in times[1:]:
        for _ in range(steps):
            moved = half * now
            k1 = half * change(now)
            k2 = change(moved + dt / 2 * k1)
            k3 = change(moved + dt / 2 * k2)
            k4 = change(half * (moved + dt * k3))
            now = half * (moved + dt / 6 * (k1 + 2 * k2 + 2 * k3)) + dt / 6 * k4
        kept.append(idctn(now, type=1, axes=(1, 2)))
    return np.array(kept)
