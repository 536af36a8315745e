"""What happens when time begins: places at which initial values jump or bend, and walls that they do not meet.

Two blocks of different temperature are put together, a flux begins, a wall is cooled: what an equation makes of that has no
limit at that place, and is seen before anything is solved.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.network import Opaque
from ..derivatives.operator import at_points
from ..errors import InputError
from .channel import residuals
from .conditions import Initial
from .precision import Exact
from .region import TIME, Domain

if TYPE_CHECKING:
    from .problem import Problem

ALONG, LINES = 1025, 3  # points of a line along which initial values are followed, and lines
STEEP = 30.0  # times the usual step
MATTERS = 0.01  # of the range of initial values, or of that by the length of the line for a slope
JUMP, BEND = 1, 2  # the differences that show one
FINEST = {JUMP: 1e-13, BEND: 1e-6}  # parts of a coordinate, to which the place of one is known
SAME = 1e-6  # of the line: what is nearer than that is one place
MOST = 8  # places on a line
EARLY = 1e-9  # of all time
LITTLE = 1e-3  # of the terms of a condition: what initial values miss it by matters no more

Place = tuple[tuple[int, int], tuple[float, float]]  # two axes, the latter that of time, and where


def sudden(problem: "Problem", sizes: Mapping[str, Any]) -> list[Place]:
    """All such places, of values that are known by functions or numbers; the sizes are those of the terms of each condition."""
    if TIME not in problem.domain.coordinates or not problem.domain.space:
        return []
    initial = [condition for condition in problem.conditions if isinstance(condition, Initial)]
    if any(condition.points is not None or condition.sigma is not None for condition in initial):
        return []
    given = {problem.field_name(condition.field): condition.target for condition in initial if not condition.order}
    if not given:
        return []
    return list(dict.fromkeys([*_in_initial_values(problem.domain, given), *_at_walls(problem, given, sizes)]))


def _in_initial_values(domain: Domain, given: Mapping[str, Any]) -> list[Place]:
    """Where functions that are given jump or bend, across one coordinate in space."""
    in_time, found = domain.axis(TIME), list[Place]()
    through = np.random.default_rng(0).uniform(domain.lower, domain.upper, (LINES, domain.dimension))
    through[:, in_time] = domain.lower[in_time]
    for target in filter(callable, given.values()):
        for axis in range(domain.dimension):
            if axis != in_time:
                found += [((axis, in_time), (at, domain.lower[in_time])) for at in _along(target, through, axis, domain)]
    return found


def _at_walls(problem: "Problem", given: Mapping[str, Any], sizes: Mapping[str, Any]) -> list[Place]:
    """The faces at which initial values do not meet what holds there from then on."""
    domain, found = problem.domain, list[Place]()
    in_time, names = domain.axis(TIME), domain.coordinates
    begin, end = domain.lower[in_time], domain.upper[in_time]

    def value(target: Any, x: Float[Array, " d"]) -> Array:
        return at_points(target, names, x[None])[0, 0] if callable(target) else jnp.asarray(target, float).ravel()[0]

    solution = problem.solution(Opaque(lambda x: jnp.stack([value(given.get(name, 0.0), x) for name in problem.fields])))
    try:
        channels = dataclasses.replace(problem, domain=domain.between(begin, begin + EARLY * (end - begin))).channels(0)
    except InputError:  # something is said of a certain time
        return []
    walls = tuple(c for c in channels if c.kind == "boundary" and c.partner is None and isinstance(c.precision, Exact))
    for channel, left in zip(walls, residuals(walls, solution) if walls else (), strict=True):
        far = np.asarray(jnp.any(jnp.abs(left) > LITTLE * sizes[channel.name], axis=1))
        for point in np.asarray(channel.points)[far]:
            ends = zip(point, domain.lower, domain.upper, strict=True)
            faces = [axis for axis, (at, low, high) in enumerate(ends) if axis != in_time and at in (low, high)]
            found += [((axis, in_time), (float(point[axis]), begin)) for axis in faces]
    return list(dict.fromkeys(found))


def _along(target: Callable[..., Any], through: np.ndarray, axis: int, domain: Domain) -> list[float]:
    """The places along one coordinate, the same on all lines."""
    low, high, coordinates = domain.lower[axis], domain.upper[axis], domain.coordinates

    def values(line: np.ndarray, places: np.ndarray) -> np.ndarray:
        points = np.tile(line, (len(places), 1))
        points[:, axis] = places
        return np.asarray(at_points(target, coordinates, jnp.asarray(points)))[:, 0]

    places, found = np.linspace(low, high, ALONG), []
    spacing = places[1] - places[0]
    for line in through:
        here, own = values(line, places), list[float]()
        for order in JUMP, BEND:
            steps = np.abs(np.diff(here, n=order))
            matters = MATTERS * np.ptp(here) * (spacing / (high - low)) ** (order - 1)
            large = steps > max(STEEP * float(np.median(steps)), matters, np.max(steps) / 10)
            for i in np.flatnonzero(large)[:MOST]:
                ends = (float(places[i]), float(places[i + order]))
                place = _nearer(functools.partial(values, line), *ends, order, float(steps[i]), spacing)
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
