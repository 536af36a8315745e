"""Corners that a field fans out from: which of them a network can be shown the directions of.

That is where the equation spreads what differs, along two coordinates at once (heat conduction, at rest) or in time (diffusion):
then the field has a value for every direction, and what it is in each of them changes smoothly with the distance. A network
that is shown both (see `directions.py`) has all of it, and points come as close to the corner as they like; what an equation
leaves there counts by how large its terms are, as one over the square of the distance.

What is carried along instead (a wave, a stream) stays as steep as it was: there a corner is cut out, as `corners.py` has it.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.directions import Directions
from ..derivatives.network import Frozen, Opaque
from ..derivatives.operator import at_points
from ..derivatives.units import Units
from ..errors import InputError
from .channel import Channel, residuals
from .conditions import Initial
from .corners import Corner
from .domain import Box
from .jumps import operator_slopes
from .precision import Exact
from .region import TIME

if TYPE_CHECKING:
    from .problem import Problem

MOST = 8  # corners; each is three more numbers that a network sees
DRAWS = 16  # of fields, with which it is looked at what an equation spreads
INSIDE = 0.98  # of the domain, from its middle: an equation may have no value at the end of it
NOTHING = 1e-9  # of the largest part that a derivative has in an equation
REACH = 0.7  # of the box: so near a corner, points are drawn nearer to it,
NEAREST = 1e-3  # down to this part of that
SMALL = 1e-3  # of the box
EARLY = 1e-9  # of all time
LITTLE = 1e-3  # of the terms of a condition: what initial values miss it by matters no more
ALONG, LINES = 1025, 3  # points of a line along which initial values are followed, and lines
STEEP = 30.0  # times the usual step
MATTERS = 0.01  # of the range of initial values, or of that by the length of the line for a slope
JUMP, BEND = 1, 2  # the differences that show one
FINEST = {JUMP: 1e-13, BEND: 1e-6}  # parts of a coordinate, to which the place of one is known
SAME = 1e-6  # of the line: what is nearer than that is one place


@dataclass(frozen=True)
class Fan:
    """A corner in a box, and the metric in which all directions are alike."""

    axes: tuple[int, int]  # time is last
    at: tuple[float, float]
    lower: tuple[float, float]  # of the box, along these
    upper: tuple[float, float]
    by: float  # of the second coordinate, in parts of half a side; the square of a length if it is time
    in_time: bool

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
        return points.at[:, axes].set(jnp.where(may_move, moved, points[:, axes]))

    def squared_distance(self, points: Float[Array, "n d"]) -> Float[Array, " n"]:
        """How far the points are from it, squared, in parts of half a side."""
        half = np.subtract(self.upper, self.lower) / 2
        first, second = ((points[:, axis] - at) / own for axis, at, own in zip(self.axes, self.at, half, strict=True))
        square: Array = first**2 + (self.by * jnp.maximum(second, 0.0) if self.in_time else (self.by * second) ** 2)
        return square


def fans(
    problem: "Problem", corners: Sequence[Corner], channels: Sequence[Channel], units: Units, sizes: Mapping[str, Any]
) -> tuple[Fan, ...]:
    """All corners of a problem as fans, with the places at which its initial values jump or bend, or do not meet what holds at
    the boundary from then on; none if one of them is no fan. The channels are those of the problem in the user's units, and
    the sizes those of their terms."""
    if not isinstance(problem.domain, Box) or problem.networks or problem.parameters or any(problem.domain.breaks):
        return ()
    places = [_time_last(corner.axes, corner.at, problem.domain) for corner in corners]
    places = list(dict.fromkeys([*places, *_in_initial_values(problem), *_suddenly(problem, sizes)]))
    if len(places) > MOST:
        return ()
    spread = [_spread(axes, at, problem, channels, units) for axes, at in places]
    domain = problem.domain

    def ends(of: tuple[float, ...], axes: tuple[int, int]) -> tuple[float, float]:
        return of[axes[0]], of[axes[1]]

    return tuple(
        Fan(axes, at, ends(domain.lower, axes), ends(domain.upper, axes), by, domain.coordinates[axes[1]] == TIME)
        for (axes, at), by in zip(places, spread, strict=True)
        if by is not None and None not in spread
    )


def directions(found: Sequence[Fan], units: Units) -> Directions | None:
    """What a network is shown of them; nothing where there are none."""
    if not found:
        return None
    middle, half = np.asarray(units.middle, float), np.asarray(units.half, float)
    at = tuple(
        (float((f.at[0] - middle[f.axes[0]]) / half[f.axes[0]]), float((f.at[1] - middle[f.axes[1]]) / half[f.axes[1]]))
        for f in found
    )
    by = Frozen(jnp.asarray([f.inward for f in found]))
    return Directions(tuple(f.axes for f in found), at, tuple(f.in_time for f in found), by)


Place = tuple[tuple[int, int], tuple[float, float]]


def _time_last(axes: tuple[int, int], at: tuple[float, float], domain: Box) -> Place:
    if domain.coordinates[axes[0]] == TIME:
        return (axes[1], axes[0]), (at[1], at[0])
    return axes, at


def _spread(
    axes: tuple[int, int], at: tuple[float, float], problem: "Problem", channels: Sequence[Channel], units: Units
) -> float | None:
    """What a length along the second of two coordinates is multiplied by, so that all directions are alike; time by what
    diffuses a length of one in that. None where nothing is spread."""
    point = np.zeros(problem.domain.dimension)
    point[np.asarray(axes)] = (np.asarray(at) - np.asarray(units.middle)[np.asarray(axes)]) / np.asarray(units.half)[
        np.asarray(axes)
    ]
    in_time = problem.domain.coordinates[axes[1]] == TIME
    found = []
    for channel in channels:
        if channel.kind != "equation" or channel.given or channel.partner is not None or channel.over is not None:
            continue
        slopes = _slopes(channel, np.clip(point, -INSIDE, INSIDE), units, problem)
        for field in range(slopes.shape[-1]):
            found += _of_one(channel.operator.orders, slopes[..., field], axes, in_time)
    return float(np.exp(np.median(np.log(found)))) if found else None


def _of_one(orders: Sequence[tuple[int, ...]], slopes: np.ndarray, axes: tuple[int, int], in_time: bool) -> list[float]:
    """The same of one field in one equation, for every draw; nothing unless it is spread in all of them."""
    matters = np.any(np.abs(slopes) > NOTHING * np.max(np.abs(slopes), initial=1e-300), axis=0)
    highest = [max((order[axis] for order, here in zip(orders, matters, strict=True) if here), default=0) for axis in axes]
    if highest != [2, 1 if in_time else 2]:
        return []
    first, second = (
        slopes[:, list(orders).index(tuple(n if i == axis else 0 for i in range(len(orders[0]))))]
        for axis, n in zip(axes, highest, strict=True)
        if tuple(n if i == axis else 0 for i in range(len(orders[0]))) in orders
    )
    ratio = -first / second if in_time else first / second
    if not np.all(np.isfinite(ratio)) or np.mean(ratio > 0) < 1:
        return []
    return list(4 * ratio if in_time else np.sqrt(ratio))


def _slopes(channel: Channel, point: np.ndarray, units: Units, problem: "Problem") -> Float[np.ndarray, "draws orders f"]:
    """The derivatives of an equation by those of the fields, in the coordinates of a network, for random ones."""
    shape = (DRAWS, len(channel.operator.orders), len(problem.fields))
    drawn = jnp.asarray(np.random.default_rng(0).normal(size=shape) / 2)
    found = np.asarray(operator_slopes(channel.operator, units, jnp.asarray(point), drawn))
    return np.reshape(found, (-1, *shape[1:]))


def _in_initial_values(problem: "Problem") -> list[Place]:
    """Where functions that are given when time begins jump or bend, across one coordinate in space."""
    domain, found = problem.domain, dict[Place, None]()
    for condition in problem.conditions:
        if not isinstance(condition, Initial) or condition.points is not None or condition.order or condition.sigma is not None:
            continue
        if not callable(condition.target):
            continue
        axis_in_time = domain.axis(TIME)
        through = np.random.default_rng(0).uniform(domain.lower, domain.upper, (LINES, domain.dimension))
        through[:, axis_in_time] = domain.lower[axis_in_time]
        for axis in range(domain.dimension):
            if axis != axis_in_time:
                for at in _along(condition.target, through, axis, domain):
                    found[(axis, axis_in_time), (at, domain.lower[axis_in_time])] = None
    return list(found)


def _suddenly(problem: "Problem", sizes: Mapping[str, Any]) -> list[Place]:
    """The faces at which the initial values do not meet what holds there from then on: a flux that begins, a wall that cools."""
    domain, found = problem.domain, dict[Place, None]()
    given = {problem.field_name(c.field): c.target for c in problem.conditions if isinstance(c, Initial) and not c.order}
    if not given or not domain.space or any(c.points is not None for c in problem.conditions if isinstance(c, Initial)):
        return []
    axis_in_time, names = domain.axis(TIME), domain.coordinates
    begin, end = domain.lower[axis_in_time], domain.upper[axis_in_time]

    def first(x: Float[Array, " d"]) -> Array:
        values = [given.get(name, 0.0) for name in problem.fields]
        return jnp.stack([at_points(v, names, x[None])[0, 0] if callable(v) else jnp.asarray(v, float).ravel()[0] for v in values])

    solution = problem.solution(Opaque(first))
    try:
        channels = dataclasses.replace(problem, domain=domain.between(begin, begin + EARLY * (end - begin))).channels(0)
    except InputError:  # something is said of a certain time
        return []
    sudden = tuple(c for c in channels if c.kind == "boundary" and c.partner is None and isinstance(c.precision, Exact))
    for channel, left in zip(sudden, residuals(sudden, solution) if sudden else (), strict=True):
        far = np.asarray(jnp.any(jnp.abs(left) > LITTLE * sizes[channel.name], axis=1))
        for point in np.asarray(channel.points)[far]:
            for axis, at in enumerate(point):
                if axis != axis_in_time and at in (domain.lower[axis], domain.upper[axis]):
                    found[(axis, axis_in_time), (float(at), begin)] = None
    return list(found)


def _along(target: Callable[..., Any], through: np.ndarray, axis: int, domain: Box) -> list[float]:
    """The places along one coordinate, the same on all lines."""
    low, high, coordinates = domain.lower[axis], domain.upper[axis], domain.coordinates

    def values(lines: np.ndarray, places: np.ndarray) -> np.ndarray:
        points = np.repeat(lines, len(places), axis=0)
        points[:, axis] = np.tile(places, len(lines))
        return np.asarray(at_points(target, coordinates, jnp.asarray(points)))[:, 0].reshape(len(lines), -1)

    places, found = np.linspace(low, high, ALONG), []
    spacing = places[1] - places[0]
    for line, here in zip(through, values(through, places), strict=True):
        own: list[float] = []
        for order in JUMP, BEND:
            steps = np.abs(np.diff(here, n=order))
            least = max(STEEP * float(np.median(steps)), MATTERS * np.ptp(here) * spacing ** (order - 1) / (high - low) ** (order - 1))
            for i in np.flatnonzero((steps > least) & (steps > np.max(steps) / 10))[:MOST]:
                ends = (float(places[i]), float(places[i + order]))
                place = _nearer(lambda x, line=line: values(line[None], x)[0], *ends, order, float(steps[i]), spacing)
                if place is not None and all(abs(place - other) > 3 * spacing for other in own):
                    own.append(place)
        found.append(own)
    same = [at for at in found[0] if all(any(abs(at - other) < SAME * (high - low) for other in own) for own in found[1:])]
    return [at for at in same if low + spacing < at < high - spacing]


def _nearer(
    values: Callable[[np.ndarray], np.ndarray], low: float, high: float, order: int, step: float, spacing: float
) -> float | None:
    """Where between two places a function jumps or bends, if it still does when one looks closely: a jump stays as large as it
    was, a bend becomes as much smaller as the distance of the points, and all that is smooth is smaller still."""
    expected, least = step, FINEST[order] * max(abs(low), abs(high), spacing)
    while high - low > least:
        places = np.linspace(low, high, 9)
        steps = np.abs(np.diff(values(places), n=order))
        i = int(np.argmax(steps))
        expected = step * ((places[1] - places[0]) / spacing) ** (order - 1)
        if not steps[i] > expected / 4:
            return None
        low, high = float(places[i]), float(places[i + order])
    return (low + high) / 2
