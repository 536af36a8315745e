"""Points in space and time where references are given."""

from collections.abc import Callable

import numpy as np

from ..case import Reference


def spread(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Every x at every time, in columns x and t; x runs fastest."""
    times, places = np.meshgrid(t, x, indexing="ij")
    return np.stack([places.ravel(), times.ravel()], axis=1)


def on_grid(solution: Callable[[np.ndarray, np.ndarray], np.ndarray], x: np.ndarray, t: np.ndarray) -> Reference:
    """A solution in closed form, a function of x and t, on a grid."""
    points = spread(x, t)
    return Reference(points, solution(*points.T)[:, None])
