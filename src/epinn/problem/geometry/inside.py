"""Even points inside what is no box: those of the box around it that are inside, as many as asked for."""

import functools
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ...errors import InputError
from ..domain import MOST, Box, sobol, unit_points
from ..region import Domain

MORE = 1.1  # times as many points as should do are looked at first
BLOCKS = 64  # sets of points from which compiled code chooses, which cannot leave out points itself
TRIES = 12  # with twice as many points each time


@runtime_checkable
class Sparse(Protocol):
    """What takes up some of a unit cube, and finds its points among those of the cube."""

    @property
    def fill(self) -> float:
        """How much of the cube."""

    @property
    def extent(self) -> int:
        """The dimensions of the cube."""

    def __hash__(self) -> int:
        """A value, whose points are kept."""

    def found(self, unit: Any) -> Float[np.ndarray, "k columns"]:
        """What belongs to those points of the cube that it takes up, a row for each."""


class Irregular(Domain):
    """A domain that is no box, and finds its points in the box around it."""

    def points(self, n: int, sampling: str = "grid", *, key: PRNGKeyArray | None = None) -> Float[Array, "n d"]:
        return jnp.asarray(so_many_of(self, n, sampling, key=key), float)

    @property
    def extent(self) -> int:
        return self.dimension

    def found(self, unit: Any) -> Float[np.ndarray, "k d"]:
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        points = lower + np.asarray(unit, np.float64) * (upper - lower)
        return np.asarray(points[self.contains(points)])

    def interior(self, n: int) -> Float[Array, "n d"]:
        return self.points(n)

    def mesh(self, *counts: int) -> Float[Array, "n d"]:
        ends = zip(self.coordinates, self.lower, self.upper, strict=True)
        return Box(**{name: (low, high) for name, low, high in ends}).grid(*counts)

    def grid(self, *counts: int) -> Float[Array, "n d"]:
        points = self.mesh(*counts)
        return points[self.contains(np.asarray(points))]


def so_many_of(one: Sparse, n: int, sampling: str, *, key: PRNGKeyArray | None) -> Float[Array | np.ndarray, "n columns"]:
    """The rows of `n` even points. Inside compiled code, where a key has no value yet and no points can be left out, one of
    some sets of them is taken."""
    if isinstance(key, jax.core.Tracer):
        return jnp.asarray(_blocks(one, n), float)[jax.random.randint(key, (), 0, BLOCKS)]
    return _first(one, n, lambda number: even_points(number, one.extent, sampling, key=key))


def even_points(n: int, dimension: int, sampling: str, *, key: PRNGKeyArray | None) -> Any:
    """As `unit_points`; for a grid, which has no places to spare at the ends of a closed curve, a set that is as even."""
    if sampling != "grid":
        return unit_points(n, dimension, sampling, key=key)
    if n < 1:
        raise InputError(f"the number of points must be at least 1, not {n}.")
    return (np.arange(n)[:, None] + 0.5) / n if dimension == 1 else sobol(n + 1, dimension)[1:]


@functools.lru_cache(maxsize=16)
def _blocks(one: Sparse, n: int) -> Float[np.ndarray, "blocks n columns"]:
    """Sets of points that follow each other in a Sobol sequence, each of them even."""
    rows = _first(one, BLOCKS * n, lambda number: sobol(number, one.extent))
    return rows.reshape(BLOCKS, n, rows.shape[1])


def _first(one: Sparse, n: int, draw: Callable[[int], Any]) -> Float[np.ndarray, "n columns"]:
    """Of so many points of the unit cube as it takes, the first `n` that are found."""
    number = int(MORE * n / one.fill) + 32
    for _ in range(TRIES):
        if number > MOST:
            break
        rows = one.found(draw(number))
        if len(rows) >= n:
            return np.asarray(rows[:n])
        number *= 2
    raise InputError(f"{one!r} is too thin to be filled with points; make it wider.")
