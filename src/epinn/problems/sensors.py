"""Simulated measurements of an exact solution: the one way in which shipped problems get their data."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.operator import at_points
from ..errors import InputError
from ..problem.conditions import Data
from ..problem.domain import Box

SUP_NORM_GRID = {1: 2001, 2: 201, 3: 41}  # points along each coordinate


def measure(
    domain: Box,
    exact: Callable[..., Any],
    points: Float[Array, "n d"],
    noise: float,
    key: PRNGKeyArray,
    field: str | None = None,
) -> list[Data]:
    """Values of the exact solution at `points` with Gaussian noise of sd `noise` times its largest magnitude.

    At noise 0 nothing is measured: the problem is physics only.
    """
    if not noise >= 0 or not np.isfinite(noise):
        raise InputError(f"the noise level must be 0 (physics only) or a positive fraction of max |u|, not {noise}.")
    if noise == 0:
        return []
    grid = domain.grid(SUP_NORM_GRID[domain.dimension])
    # in numpy: outside compiled code every small operation on JAX arrays is a program to be compiled first
    sigma = noise * float(np.max(np.abs(np.asarray(at_points(exact, domain.coordinates, grid))[:, 0])))
    clean = np.asarray(at_points(exact, domain.coordinates, points))[:, 0]
    return [Data(points, clean + sigma * np.asarray(jax.random.normal(key, clean.shape)), sigma=sigma, field=field)]
