"""What is no box: even points inside it, those of the box around it that are inside, as many as asked for."""

import functools
from collections.abc import Callable
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


class Irregular(Domain):
    """A domain that is no box, and finds its points in the box around it."""

    def points(self, n: int, sampling: str = "grid", *, key: PRNGKeyArray | None = None) -> Float[Array, "n d"]:
        """Inside compiled code, where a key has no value yet, one of some sets of even points is taken."""
        if isinstance(key, jax.core.Tracer):
            blocks = jnp.asarray(_blocks(self, n), float)
            return blocks[jax.random.randint(key, (), 0, BLOCKS)]
        return jnp.asarray(_first(self, n, lambda number: even_points(number, self.dimension, sampling, key=key)), float)

    def interior(self, n: int) -> Float[Array, "n d"]:
        return self.points(n)

    def mesh(self, *counts: int) -> Float[Array, "n d"]:
        ends = zip(self.coordinates, self.lower, self.upper, strict=True)
        return Box(**{name: (low, high) for name, low, high in ends}).grid(*counts)

    def grid(self, *counts: int) -> Float[Array, "n d"]:
        points = self.mesh(*counts)
        return points[self.contains(np.asarray(points))]


def even_points(n: int, dimension: int, sampling: str, *, key: PRNGKeyArray | None) -> Any:
    """As `unit_points`; for a grid, which has no places to spare at the ends of a closed curve, a set that is as even."""
    if sampling != "grid":
        return unit_points(n, dimension, sampling, key=key)
    if n < 1:
        raise InputError(f"the number of points must be at least 1, not {n}.")
    return (np.arange(n)[:, None] + 0.5) / n if dimension == 1 else sobol(n + 1, dimension)[1:]


@functools.lru_cache(maxsize=16)
def _blocks(domain: Domain, n: int) -> Float[np.ndarray, "blocks n d"]:
    """Sets of points that follow each other in a Sobol sequence, each of them even."""
    points = _first(domain, BLOCKS * n, lambda number: sobol(number, domain.dimension))
    return points.reshape(BLOCKS, n, domain.dimension)


def _first(domain: Domain, n: int, draw: Callable[[int], Any]) -> Float[np.ndarray, "n d"]:
    """Of so many points of the unit cube as it takes, put into the box around a domain, the first `n` that are inside."""
    lower, upper = np.asarray(domain.lower), np.asarray(domain.upper)
    number = int(MORE * n / domain.fill) + 32
    for _ in range(TRIES):
        points = lower + np.asarray(draw(number), np.float64) * (upper - lower)
        inside = points[domain.contains(points)]
        if len(inside) >= n:
            return np.asarray(inside[:n])
        number *= 2
    raise InputError(f"{domain!r} is too thin to be filled with points; make it wider.")
