"""Ordinary differential equations: their solution to eleven digits, and least squares through it."""

from collections.abc import Callable, Mapping

import numpy as np
from scipy import integrate, optimize

from ..case import Estimate

RELATIVE = 1e-11


def solve(rhs: Callable[[float, np.ndarray], object], start: tuple[float, ...], times: np.ndarray) -> np.ndarray:
    """The solution of y' = rhs(t, y) from `start` at t = 0, one row per time and one column per component."""
    absolute = RELATIVE * max(1.0, np.abs(start).max())
    times = np.asarray(times, float)
    made = integrate.solve_ivp(rhs, (0.0, times[-1]), start, "DOP853", times, rtol=RELATIVE, atol=absolute)
    if not made.success:
        raise RuntimeError(made.message)
    return made.y.T


def least_squares(
    model: Callable[..., np.ndarray], values: np.ndarray, start: Mapping[str, float], sigma: float | None = None
) -> dict[str, Estimate]:
    """The unknowns with which `model` comes closest to the measured values, and their standard deviations.

    Without a sigma it is estimated from what the fit leaves. Start at the truth, to end in the minimum next to it: the question
    is what the measurements can tell, not whether a search finds it.
    """
    names, first = list(start), np.array(list(start.values()))

    def residuals(factors: np.ndarray) -> np.ndarray:
        return model(**dict(zip(names, first * factors, strict=True))) - values

    found = optimize.least_squares(residuals, np.ones_like(first), jac="3-point", xtol=1e-10, ftol=1e-12, gtol=1e-12)
    variance = sigma**2 if sigma is not None else 2 * found.cost / (len(values) - len(first))
    sd = np.sqrt(variance * np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    return {
        name: Estimate(float(value), float(width))
        for name, value, width in zip(names, first * found.x, np.abs(first) * sd, strict=True)
    }
