"""Layers at walls: where an equation says little of its highest derivative (a stream with little diffusion, a fluid with little
viscosity, a fast reaction), a field may end at a wall by a steep turn, as wide as the ratio of the coefficients says.

A network that is shown the distance from each wall, stretched so that a layer is as wide as the rest, finds that as easily as
anything else (see `directions.py`); points are as many at each distance, and what the equation leaves near a wall
counts in parts of its terms. Where what is balanced there is a slope they grow as one over the distance; where it is the
field itself, as in a reaction, they are as large as elsewhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.units import Units
from .channel import Channel
from .domain import Box
from .fans import INSIDE, NOTHING, slopes_at
from .precision import Exact
from .region import TIME

if TYPE_CHECKING:
    from .problem import Problem

Key = tuple[Any, ...]  # of what is balanced: equation, fields, derivative

FARTHER = 1 - 2 * (1 - INSIDE)  # twice as far from a wall
STEADY = 0.75  # of a width there: what is less is a matter of the distance
THIN = 0.03  # of half a side: layers that are wider need nothing of their own
THINNEST = 1e-6  # and such as are thinner are taken to be as wide: single precision knows no place better than that
REACH = 0.7  # of half a side: so near a wall, points are drawn nearer to it


@dataclass(frozen=True)
class Layer:
    """One at a wall of a box."""

    axes: tuple[int]  # the one that it is across
    at: tuple[float]
    half: float  # a side
    sign: float  # 1 if the box is above it, else -1
    width: float  # in parts of half a side
    order: int  # of the derivative that balances the highest one there
    in_time: ClassVar[bool] = False

    @property
    def inward(self) -> tuple[float, float]:
        """What lengths are multiplied by, so that they grow into the box, and what makes the stretched distance of the other
        wall one."""
        return self.sign / self.width, float(1 / np.arcsinh(2 / self.width))

    def outside(self, points: Float[Array, "n d"], face: int | None = None) -> Float[Array, "n d"]:
        """The points drawn towards the wall, so that there are about as many at each distance from it; what is on it stays."""
        distance = self._distance(points)
        nearer = self.width * jnp.expm1(distance / REACH * np.log1p(REACH / self.width))
        (axis,), (at,) = self.axes, self.at
        moved = at + self.sign * self.half * nearer
        return points.at[:, axis].set(jnp.where(distance < REACH, moved, points[:, axis]))

    def growth(self, points: Float[Array, "n d"]) -> Float[Array, " n"]:
        """How many times as large the terms of an equation may be at some points as elsewhere."""
        return (self._distance(points) + self.width) ** -self.order if self.order else jnp.zeros(len(points))

    def _distance(self, points: Float[Array, "n d"]) -> Float[Array, " n"]:
        (axis,), (at,) = self.axes, self.at
        return jnp.maximum(self.sign * (points[:, axis] - at) / self.half, 0.0)


def layers(problem: "Problem", channels: Sequence[Channel], units: Units) -> tuple[Layer, ...]:
    """At both walls of each coordinate along which there may be some; none in problems with time, which are solved in windows
    of it, and begin without them. The channels are those of the problem in the user's units."""
    domain = problem.domain
    if not isinstance(domain, Box) or any(domain.breaks) or TIME in domain.coordinates:
        return ()
    if problem.networks or problem.parameters or not all(isinstance(c.precision, Exact) for c in channels):
        return ()
    found = []
    for axis in [domain.axis(name) for name in domain.coordinates if name not in problem.periodic]:
        ends = ((domain.lower[axis], 1.0), (domain.upper[axis], -1.0))
        width, order = min(balance for _, sign in ends for balance in _at_wall(problem, channels, units, axis, sign))
        if width < THIN:
            half = (domain.upper[axis] - domain.lower[axis]) / 2
            found += [Layer((axis,), (at,), half, sign, max(width, THINNEST), order) for at, sign in ends]
    return tuple(found)


def _at_wall(
    problem: "Problem", channels: Sequence[Channel], units: Units, axis: int, sign: float
) -> Iterator[tuple[float, int]]:
    """How wide layers at one wall may be, and which derivative is balanced there. What becomes narrower as one comes nearer to
    the wall is no layer, but a coefficient that is infinite or zero on it, as 1 / r at an axis."""
    yield 1.0, 0
    near, far = (_balances(problem, channels, units, axis, sign * away) for away in (INSIDE, FARTHER))
    yield from (found for key, found in near.items() if found[0] > STEADY * far.get(key, found)[0])


def _balances(
    problem: "Problem", channels: Sequence[Channel], units: Units, axis: int, away: float
) -> dict[Key, tuple[float, int]]:
    """The same near one wall, by each equation and field; as the middle over random fields has it."""
    point = np.zeros(problem.domain.dimension)
    point[axis] = -away
    found = dict[Key, tuple[float, int]]()
    for number, channel in enumerate(channels):
        if channel.kind != "equation" or channel.given or channel.partner is not None or channel.over is not None:
            continue
        for row, slopes in enumerate(slopes_at(channel, point, units, problem)):
            of_one = _of_one(channel.operator.orders, slopes, axis)
            found |= {(number, row, *key): balance for key, balance in of_one.items()}
    return found


def _of_one(
    orders: Sequence[tuple[int, ...]], slopes: Float[np.ndarray, "draws orders f"], axis: int
) -> dict[Key, tuple[float, int]]:
    """The same of one equation."""
    parts = {(order, field): slopes[:, i, field] for i, order in enumerate(orders) for field in range(slopes.shape[-1])}
    largest = max(float(np.max(np.abs(part))) for part in parts.values())
    matter = {key: part for key, part in parts.items() if np.max(np.abs(part)) > NOTHING * largest}
    found = dict[Key, tuple[float, int]]()
    for field in range(slopes.shape[-1]):
        along = {order[axis]: part for (order, own), part in matter.items() if own == field and sum(order) == order[axis]}
        if (highest := max(along, default=0)) > 1:
            for (order, other), part in matter.items():
                if sum(order) < highest:
                    may_wave = other == field and not any(order)
                    width = _width(along[highest], part, highest - order[axis], may_wave)
                    found[field, other, order] = (width, order[axis])
    return found


def _width(highest: np.ndarray, lower: np.ndarray, apart: int, may_wave: bool) -> float:
    """What balances two derivatives of so many orders apart. A field and its second derivative make waves if they have the same
    sign."""
    waves = may_wave & (apart == 2) & (highest * lower > 0)
    ratio = np.where(waves, np.inf, np.abs(highest) / np.maximum(np.abs(lower), 1e-300))
    return float(np.median(ratio) ** (1 / apart))
