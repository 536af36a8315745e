"""Equations u_t = L u + N(u) that are periodic in one dimension: Fourier modes in space, ETDRK4 in time.

Kassam and Trefethen, Fourth-order time-stepping for stiff PDEs (2005): the linear part is exact, whatever its stiffness.
"""

from collections.abc import Callable

import numpy as np

CIRCLE = np.exp(2j * np.pi * (np.arange(32) + 0.5) / 32)  # around each eigenvalue, where the coefficients lose no digits


def solve(
    initial: Callable[[np.ndarray], np.ndarray],
    linear: Callable[[np.ndarray], np.ndarray],
    nonlinear: Callable[[np.ndarray, np.ndarray], np.ndarray],
    domain: tuple[float, float],
    times: np.ndarray,
    *,
    modes: int,
    steps: int,
    intervals: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The solution at equally spaced `times` and at the ends of equal `intervals` of the domain: x, and one row per time.

    `linear` gives the eigenvalue of L at a wavenumber k, and `nonlinear` the Fourier coefficients of N(u) from u and k. There
    are `steps` between one time and the next; `modes` is even, and a multiple of `intervals`.
    """
    low, high = domain
    x = low + (high - low) * np.arange(modes) / modes
    k = 2 * np.pi * np.fft.fftfreq(modes, (high - low) / modes)
    start = initial(x)
    values = np.real if np.isrealobj(start) else np.asarray
    now = np.fft.fft(start)
    dt = (times[1] - times[0]) / steps
    eigenvalues = np.asarray(linear(k), complex) * dt
    k[modes // 2] = 0.0  # the highest has no sign, so that its odd derivatives would not be real
    whole, half = np.exp(eigenvalues), np.exp(eigenvalues / 2)
    z = eigenvalues[:, None] + CIRCLE
    inner = dt * np.mean((np.exp(z / 2) - 1) / z, axis=1)
    first = dt * np.mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3, axis=1)
    second = dt * np.mean((2 + z + np.exp(z) * (z - 2)) / z**3, axis=1)
    third = dt * np.mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3, axis=1)

    def change(spectrum: np.ndarray) -> np.ndarray:
        return nonlinear(values(np.fft.ifft(spectrum)), k)

    kept = [start]
    for _ in times[1:]:
        for _ in range(steps):
            n0 = change(now)
            a = half * now + inner * n0
            n1 = change(a)
            b = half * now + inner * n1
            n2 = change(b)
            c = half * a + inner * (2 * n2 - n0)
            now = whole * now + first * n0 + 2 * second * (n1 + n2) + third * change(c)
        kept.append(values(np.fft.ifft(now)))
    every = modes // intervals
    ends = np.append(np.arange(0, modes, every), 0)  # the last point is the first one again
    return np.append(x[::every], high), np.array(kept)[:, ends]
