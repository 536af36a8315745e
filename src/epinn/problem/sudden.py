"""What happens when time begins: places at which initial values jump or bend, and walls that they do not meet.

Two blocks of different temperature are put together, a flux begins, a wall is cooled: what an equation makes of that has no
limit at that place, and is seen before anything is solved.
"""

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..derivatives.operator import at_points
from .conditions import Initial
from .region import TIME, Domain
from .walls import Place, not_met

if TYPE_CHECKING:
    from .problem import Problem

ALONG, LINES = 1025, 3  # points of a line along which initial values are followed, and lines
STEEP = 30.0  # times the usual step
MATTERS = 0.01  # of the range of initial values, or of that by the length of the line for a slope
JUMP, BEND = 1, 2  # the differences that show one
FINEST = {JUMP: 1e-13, BEND: 1e-6}  # parts of a coordinate, to which the place of one is known
SAME = 1e-6  # of the line: what is nearer than that is one place
MOST, SEEN = 8, 3  # places on a line, and as many times as often may one be seen


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
    return list(dict.fromkeys([*_in_initial_values(problem.domain, given), *not_met(problem, given, sizes)]))


def _in_initial_values(domain: Domain, given: Mapping[str, Any]) -> list[Place]:
    """Where functions that are given jump or bend, across one coordinate in space."""
    in_time, found = domain.axis(TIME), list[Place]()
    through = np.random.default_rng(0).uniform(domain.lower, domain.upper, (LINES, domain.dimension))
    through[:, in_time] = domain.lower[in_time]
    for target in filter(callable, given.values()):
        for axis in range(domain.dimension):
            if axis != in_time:
                found += [((axis, in_time), (at, domain.lower[in_time])) for at in along(target, through, axis, domain)]
    return found


def along(target: Callable[..., Any], through: np.ndarray, axis: int, domain: Domain, most: int = MOST) -> list[float]:
    """The places along one coordinate, the same on all lines; none if there are too many of them."""
    low, high, coordinates = domain.lower[axis], domain.upper[axis], domain.coordinates

    def values(line: np.ndarray, component: int, places: np.ndarray) -> np.ndarray:
        points = np.tile(line, (len(places), 1))
        points[:, axis] = places
        return np.asarray(at_points(target, coordinates, jnp.asarray(points)), float)[:, component]

    components = at_points(target, coordinates, jnp.asarray(through)).shape[1]
    found = [
        sorted({place for i in range(components) for place in _on_line(functools.partial(values, line, i), low, high, most)})
        for line in through
    ]
    same = [at for at in found[0] if all(any(abs(at - other) < SAME * (high - low) for other in own) for own in found[1:])]
    return same if len(same) <= most else []


def _on_line(values: Callable[[np.ndarray], np.ndarray], low: float, high: float, most: int) -> list[float]:
    """Where a function of one number jumps or bends."""
    places, own = np.linspace(low, high, ALONG), list[float]()
    here, spacing = values(places), places[1] - places[0]
    for order in JUMP, BEND:
        steps = np.abs(np.diff(here, n=order))
        matters = MATTERS * np.ptp(here) * (spacing / (high - low)) ** (order - 1)
        large = np.flatnonzero(steps > max(STEEP * float(np.median(steps)), matters, np.max(steps) / 10))
        apart = SAME * (high - low) if order == JUMP else 3 * spacing  # second differences show a jump as well
        for i in large if len(large) <= SEEN * most else ():
            ends = (float(places[i]), float(places[i + order]))
            place = _nearer(values, *ends, order, float(steps[i]), spacing)
            if place is not None and all(abs(place - other) > apart for other in own):
                own.append(place)
    return [at for at in own if low + spacing < at < high - spacing]


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
