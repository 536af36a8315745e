"""Even points inside what is no box: those of the box around it that are inside, as many as asked for."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ...errors import InputError
from ..domain import Box, sobol, unit_points
from ..region import Domain

MORE = 1.1  # times as many points as should do are looked at first
BLOCKS = 64  # sets of points from which compiled code chooses, which cannot leave out points itself
TRIES = 12  # with twice as many points each time


def even_points(n: int, dimension: int, sampling: str, *, key: PRNGKeyArray | None) -> Any:
    """As `unit_points`; for a grid, which has no places to spare at the ends of a closed curve, a set that is as even."""
    if sampling != "grid":
        return unit_points(n, dimension, sampling, key=key)
    if n < 1:
        raise InputError(f"the number of points must be at least 1, not {n}.")
    return (np.arange(n)[:, None] + 0.5) / n if dimension == 1 else sobol(n + 1, dimension)[1:]


def points_inside(domain: Domain, n: int, sampling: str, *, key: PRNGKeyArray | None) -> Float[Array, "n d"]:
    """`n` points of a domain: of even ones in the box around it, the first that are inside."""
    if isinstance(key, jax.core.Tracer):
        blocks = jnp.asarray(_kept(domain, BLOCKS * n), float).reshape(BLOCKS, n, domain.dimension)
        return blocks[jax.random.randint(key, (), 0, BLOCKS)]
    around, number = _around(domain), int(MORE * n / domain.fill) + 32
    for _ in range(TRIES):
        unit = even_points(number, domain.dimension, sampling, key=key)
        points = around[0] + np.asarray(unit, np.float64) * (around[1] - around[0])
        kept = points[domain.contains(points)]
        if len(kept) >= n:
            return jnp.asarray(kept[:n], float)
        number *= 2
    raise InputError(f"{domain!r} is too thin to be filled with points; make it wider.")


@functools.lru_cache(maxsize=16)
def _kept(domain: Domain, n: int) -> np.ndarray:
    """Without JAX, since it is asked for while code is compiled."""
    around, number = _around(domain), int(MORE * n / domain.fill) + 32
    while True:
        points = around[0] + sobol(number, domain.dimension) * (around[1] - around[0])
        kept = points[domain.contains(points)]
        if len(kept) >= n:
            return np.asarray(kept[:n])
        number *= 2


def _around(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(domain.lower), np.asarray(domain.upper)


def mesh_around(domain: Domain, *counts: int) -> Float[Array, "n d"]:
    """The regular grid of the box around a domain."""
    ends = zip(domain.coordinates, domain.lower, domain.upper, strict=True)
    return Box(**{name: (low, high) for name, low, high in ends}).grid(*counts)
