"""Corners that a field fans out from: which of them a network can be shown the directions of.

That is where the equation spreads what differs, along two coordinates at once (heat conduction, at rest) or in time
(diffusion): then the field has a value for every direction, and what it is in each of them changes smoothly with the distance.
A network that is shown both (see `directions.py`) has all of it, and points come as close to the corner as they like; what an
equation leaves there counts by how large its terms are, as one over the square of the distance.

What is carried along instead (a wave, a stream) stays as steep as it was: there a corner is cut out, as `corners.py` has it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.units import Units
from .channel import Channel
from .corners import Corner
from .domain import Box
from .events import Event
from .jumps import operator_slopes
from .region import TIME
from .sudden import sudden
from .walls import Place

if TYPE_CHECKING:
    from .problem import Problem

MOST = 8  # corners; each is three more numbers that a network sees
DRAWS = 16  # of fields, with which it is looked at what an equation spreads
INSIDE = 0.98  # of the domain, from its middle: an equation may have no value at the end of it
NOTHING = 1e-9  # of the largest part that a derivative has in an equation
REACH = 0.7  # of the box: so near a corner, points are drawn nearer to it,
NEAREST = 1e-3  # down to this part of that
SMALL = 1e-3  # of the box
ROUNDED = 1e-10  # the square of a distance


@dataclass(frozen=True)
class Fan:
    """A corner in a box, and the metric in which all directions are alike."""

    axes: tuple[int, int]  # time is last
    at: tuple[float, float]  # when time, or a window of it, begins
    lower: tuple[float, float]  # of the box, along these
    upper: tuple[float, float]
    by: float  # of the second coordinate, in parts of half a side; the square of a length if it is time
    in_time: bool
    times: tuple[float, ...] = ()  # at which something is sudden there: not always when all time begins

    @property
    def inward(self) -> tuple[float, float]:
        """What lengths are multiplied by, so that they grow into the box."""
        signs = [-1.0 if at == upper else 1.0 for at, upper in zip(self.at, self.upper, strict=True)]
        return signs[0], signs[1] * self.by

    def during(self, begin: float, end: float) -> "Fan":
        """The same in a stretch of time that begins with it."""
        if not self.in_time:
            return self
        (low, first), (high, last) = self.lower, self.upper
        by = self.by * (end - begin) / (last - first)
        return dataclasses.replace(self, at=(self.at[0], begin), lower=(low, begin), upper=(high, end), by=by)

    def outside(self, points: Float[Array, "n d"], face: int | None = None) -> Float[Array, "n d"]:
        """The points drawn towards the corner, each along its own direction, those that are near it already; on a face across a
        coordinate they stay on it. What is far is measured by where a direction leaves the box, so that no part of it is left
        without points."""
        axes, power = np.asarray(self.axes), np.asarray([1, 2 if self.in_time else 1])
        away = points[:, axes] - jnp.asarray(self.at)
        inside = np.where(np.less(self.at, self.upper), np.subtract(self.upper, self.at), np.subtract(self.lower, self.at))
        sideways = np.where(np.asarray(self.axes) == face, 0.0, SMALL * inside)  # where somebody stands in the corner itself
        away = jnp.where(jnp.all(away == 0, axis=1, keepdims=True), sideways, away)
        ends = jnp.where(away > 0, np.subtract(self.upper, self.at), np.subtract(self.at, self.lower))
        parts = (jnp.abs(away) / jnp.where(ends > 0, ends, jnp.inf)) ** (1 / power)
        near = jnp.max(parts, axis=1, keepdims=True) / REACH
        nearer = (NEAREST + (1 - NEAREST) * near**3) / near
        moved = jnp.asarray(self.at) + away * nearer**power
        may_move = near < 1 if face not in self.axes else (near < 1) & (away[:, [self.axes.index(face)]] == 0)
        may_move &= away[:, 1:] >= 0 if self.in_time else True  # before it happens, nothing does
        return points.at[:, axes].set(jnp.where(may_move, moved, points[:, axes]))

    def squared_distance(self, points: Float[Array, "n d"]) -> Float[Array, " n"]:
        """How far the points are from it, squared, in parts of half a side."""
        half = np.subtract(self.upper, self.lower) / 2
        first, second = ((points[:, axis] - at) / own for axis, at, own in zip(self.axes, self.at, half, strict=True))
        square: Array = first**2 + (self.by * jnp.maximum(second, 0.0) if self.in_time else (self.by * second) ** 2)
        return square

    def growth(self, points: Float[Array, "n d"]) -> Float[Array, " n"]:
        """How many times as large the terms of an equation may be at some points as elsewhere."""
        found: Array = 1 / (self.squared_distance(points) + ROUNDED)
        return jnp.where(points[:, self.axes[1]] < self.at[1], 0.0, found) if self.in_time else found


def fans(
    problem: "Problem",
    corners: Sequence[Corner],
    later: Sequence[Event],
    channels: Sequence[Channel],
    units: Units,
    sizes: Mapping[str, Any],
    in_windows: bool,
) -> tuple[Fan, ...]:
    """All corners of a problem as fans, with the places at which its initial values jump or bend, or do not meet what holds at
    the boundary from then on, and with those at which something happens later: there if time is taken as a whole, and if it may
    be solved in windows, where these begin. None if one of them is no fan. The channels are those of the problem in the user's
    units, and the sizes those of their terms."""
    if not isinstance(problem.domain, Box) or problem.networks or any(problem.domain.breaks):
        return ()
    domain = problem.domain
    at_first = [_time_last(corner.axes, corner.at, domain) for corner in corners] + sudden(problem, sizes)
    times: dict[Place, tuple[float, ...]] = {place: place[1][1:] for place in at_first}
    for event in later:
        for axis, at in event.walls:
            begin = domain.lower[domain.axis(TIME)] if in_windows else event.time
            place = ((axis, domain.axis(TIME)), (at, begin))
            times[place] = (*times.get(place, ()), event.time)
    if len(times) > MOST:
        return ()
    found = list[Fan]()
    for ((first, second), corner), own in times.items():
        by = _spread((first, second), corner, problem, channels, units)
        if by is None:
            return ()
        lower, upper = ((ends[first], ends[second]) for ends in (domain.lower, domain.upper))
        in_time = domain.coordinates[second] == TIME
        found.append(Fan((first, second), corner, lower, upper, by, in_time, tuple(sorted(own)) if in_time else ()))
    return tuple(found)


def places_of(fans: Sequence[Fan]) -> list[Place]:
    """Where and when all that is sudden happens."""
    return [(fan.axes, (fan.at[0], time)) for fan in fans for time in fan.times or fan.at[1:]]


def _time_last(axes: tuple[int, int], at: tuple[float, float], domain: Box) -> Place:
    if domain.coordinates[axes[0]] == TIME:
        return (axes[1], axes[0]), (at[1], at[0])
    return axes, at


def _spread(
    axes: tuple[int, int], at: tuple[float, float], problem: "Problem", channels: Sequence[Channel], units: Units
) -> float | None:
    """What a length along the second of two coordinates is multiplied by, so that all directions are alike; time by what
    diffuses a length of one in that. None where nothing is spread."""
    point, across = np.zeros(problem.domain.dimension), np.asarray(axes)
    point[across] = (np.asarray(at) - np.asarray(units.middle)[across]) / np.asarray(units.half)[across]
    in_time = problem.domain.coordinates[axes[1]] == TIME
    found = []
    for channel in channels:
        if channel.kind != "equation" or channel.given or channel.partner is not None or channel.over is not None:
            continue
        for slopes in slopes_at(channel, np.clip(point, -INSIDE, INSIDE), units, problem):
            for field in range(slopes.shape[-1]):
                found += _of_one(channel.operator.orders, slopes[..., field], axes, in_time)
    return float(np.exp(np.median(np.log(found)))) if found else None


def _of_one(orders: Sequence[tuple[int, ...]], slopes: np.ndarray, axes: tuple[int, int], in_time: bool) -> list[float]:
    """The same of one field in one equation, for every draw; nothing unless it is spread in all of them."""
    matters = np.any(np.abs(slopes) > NOTHING * np.max(np.abs(slopes), initial=1e-300), axis=0)
    highest = [max((order[axis] for order, here in zip(orders, matters, strict=True) if here), default=0) for axis in axes]
    if highest != [2, 1 if in_time else 2]:
        return []
    pure = [tuple(n if i == axis else 0 for i in range(len(orders[0]))) for axis, n in zip(axes, highest, strict=True)]
    first, second = (slopes[:, list(orders).index(order)] for order in pure)  # all lower ones are among those of an operator
    ratio = -first / second if in_time else first / second
    if not np.all(np.isfinite(ratio) & (ratio > 0)):
        return []
    return list(4 * ratio if in_time else np.sqrt(ratio))


def slopes_at(channel: Channel, point: np.ndarray, units: Units, problem: "Problem") -> Float[np.ndarray, "k draws orders f"]:
    """The derivatives of equations by those of the fields, in the coordinates of a network, for random ones, with every unknown
    at its guess."""
    guessed = {name: jnp.asarray(unknown.guess or 1.0, float) for name, unknown in problem.parameters.items()}
    shape = (DRAWS, len(channel.operator.orders), len(problem.fields))
    drawn = jnp.asarray(np.random.default_rng(0).normal(size=shape) / 2)
    return np.moveaxis(np.asarray(operator_slopes(channel.operator, units, guessed, jnp.asarray(point), drawn)), 1, 0)
