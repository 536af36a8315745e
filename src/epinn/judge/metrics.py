"""How good a band is, given the truth. Everything is about the Gaussian band mean +/- k std that users see.

Where mean, std or truth is NaN anywhere, so is every metric that looks at it: comparisons with NaN are false, and would
count such a point as one inside or outside.
"""

from collections.abc import Callable

import numpy as np

from ..posterior.gaussian import LEVEL, quantile

ROUNDING = 4 * float(np.finfo(np.float32).eps)  # of a field's size, by which a value in single precision may be off


def sharpness(std: np.ndarray) -> float:
    """Mean width of the +/- 2 sigma band."""
    return float(4 * np.mean(std))


def coverage(mean: np.ndarray, std: np.ndarray, truth: np.ndarray, level: float = LEVEL) -> float:
    """Fraction of points where the truth lies in the central band of the given level."""
    if _undefined(mean, std, truth):
        return float("nan")
    return float(np.mean(np.abs(truth - mean) <= quantile(level) * std))


def rmse(mean: np.ndarray, truth: np.ndarray) -> float:
    """Root mean square error of the mean."""
    return float(np.sqrt(np.mean((mean - truth) ** 2)))


def nll(mean: np.ndarray, std: np.ndarray, truth: np.ndarray) -> float:
    """Mean negative log-likelihood of the truth."""
    if _undefined(mean, std, truth):
        return float("nan")
    if np.any((std == 0) & (truth != mean)):
        return float("inf")
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(0.5 * np.log(2 * np.pi * std**2) + 0.5 * ((truth - mean) / std) ** 2))


def crps(mean: np.ndarray, std: np.ndarray, truth: np.ndarray) -> float:
    """Mean continuous ranked probability score, in the units of u; the absolute error where std is zero."""
    from scipy.special import erf  # imported here: it costs a fifth of a second before anything can start

    error = truth - mean
    if _undefined(std) or not np.all(np.isfinite(error)):
        return float("nan")
    z = error / np.where(std > 0, std, 1)
    density, cumulative = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi), 0.5 * (1 + erf(z / np.sqrt(2)))
    gaussian = std * (z * (2 * cumulative - 1) + 2 * density - 1 / np.sqrt(np.pi))
    return float(np.mean(np.where(std > 0, gaussian, np.abs(error))))


def interval_score(mean: np.ndarray, std: np.ndarray, truth: np.ndarray, level: float = LEVEL) -> float:
    """Mean interval score: the width of the band, plus a penalty for every truth outside it. Lower is better."""
    half = quantile(level) * std
    outside = np.maximum(np.abs(truth - mean) - half, 0)
    return float(np.mean(2 * half + 2 / (1 - level) * outside))


def at_least_rounding(mean: np.ndarray, std: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The standard deviation, and no less than rounding where no more than that is wrong: at values that hold by construction
    it is zero."""
    rounding = ROUNDING * np.nanmax(np.abs(truth), axis=0, initial=0.0)
    return np.where(np.abs(truth - mean) <= rounding, np.maximum(std, rounding), std)


def _undefined(*arrays: np.ndarray) -> bool:
    return any(bool(np.any(np.isnan(array))) for array in arrays)


def score(mean: np.ndarray, std: np.ndarray, truth: np.ndarray | None) -> dict[str, float | None]:
    """All metrics by name; those that need the truth are None without it, and so is what is not finite."""
    values: dict[str, float | None] = {"sharpness": sharpness(std)}
    judges: dict[str, Callable[[], float]] = {}
    if truth is not None:
        width = at_least_rounding(mean, std, truth)
        judges = {
            "coverage": lambda: coverage(mean, width, truth),
            "rmse": lambda: rmse(mean, truth),
            "nll": lambda: nll(mean, width, truth),
            "crps": lambda: crps(mean, width, truth),
            "interval_score": lambda: interval_score(mean, width, truth),
        }
    for name in ("coverage", "rmse", "nll", "crps", "interval_score"):
        values[name] = judges[name]() if name in judges else None
    return {name: value if value is not None and np.isfinite(value) else None for name, value in values.items()}
