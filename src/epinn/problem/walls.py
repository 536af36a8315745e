"""Walls that initial values do not meet: a rod is put between cold ends, a flux begins. Or they meet and leave them at once,
since the equation says that they change there and the condition that they do not: heat is set free in a wall that is cooled.

The first shows in the residuals of the initial values an instant later, the second in those of what the equation makes of them.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.compiled import runs_once
from ..derivatives.jet import Jet, opaque
from ..derivatives.network import Opaque, Solution
from ..derivatives.operator import Operator, at_points
from ..errors import InputError
from .channel import Channel, residuals
from .conditions import Equation
from .precision import Exact
from .region import TIME

if TYPE_CHECKING:
    from .problem import Problem

EARLY = 1e-9  # of all time,
ROUNDED = 1e-12  # of when it begins, if that is long after zero,
EARLIER = 1e-3  # of that
DIGITS = 1e-14  # of a value: roundings, which are much of what changes in so little time beside a large offset
LITTLE = 1e-3  # of the terms of a condition: what initial values miss it by matters no more,
SLOW = 0.05  # nor by what they would miss it, at this rate, after all time

Place = tuple[tuple[int, int], tuple[float, float]]  # two axes, the latter that of time, and where
Start = Callable[[Float[Array, " d"]], Float[Array, " fields"]]


def not_met(problem: "Problem", given: Mapping[str, Any], sizes: Mapping[str, Any]) -> list[Place]:
    """The faces at which initial values, by field, do not meet what holds there from then on; the sizes are those of the terms
    of each condition."""
    domain, names = problem.domain, problem.domain.coordinates
    in_time = domain.axis(TIME)
    begin, duration = domain.lower[in_time], domain.upper[in_time] - domain.lower[in_time]
    soon = max(EARLY * duration, ROUNDED * max(abs(begin), abs(begin + duration)))

    def value(target: Any, x: Float[Array, " d"]) -> Array:
        return at_points(target, names, x[None])[0, 0] if callable(target) else jnp.asarray(target, float).ravel()[0]

    def start(x: Float[Array, " d"]) -> Float[Array, " fields"]:
        return jnp.stack([value(given.get(name, 0.0), x) for name in problem.fields])

    without_data = dataclasses.replace(problem, data=())  # which are from later
    try:
        early, earlier = (
            tuple(filter(_is_wall, dataclasses.replace(without_data, domain=domain.between(begin, begin + part)).channels(0)))
            for part in (soon, EARLIER * soon)
        )
    except InputError:  # something is said of a certain time
        return []
    early, earlier = (tuple(c for c in one if _asks_for(c.operator, problem) <= given.keys()) for one in (early, earlier))
    if not early:
        return []
    guessed = problem.solution(Opaque(start)).unknowns
    at_rest = _left(early, problem, start)
    missed = [np.abs(left) > LITTLE * sizes[c.name] for c, left in zip(early, at_rest, strict=True)]
    if (changed := _changed(problem, start, begin, given, guessed)) is not None:
        ways = (_left(channels, problem, changed) for channels in (early, earlier))
        rounded = _left(early, problem, lambda x: start(x) * (1 + DIGITS))
        for i, (own, before, left, left_before) in enumerate(zip(early, earlier, *ways, strict=True)):
            elapsed = np.asarray(own.points - before.points)[:, in_time, None] / duration
            rounding = np.abs(rounded[i] - at_rest[i])
            missed[i] |= np.abs(left - left_before) > SLOW * sizes[own.name] * elapsed + rounding
    found = dict[Place, None]()
    for channel, far in zip(early, missed, strict=True):
        for point in np.asarray(channel.points)[np.any(far, axis=1)]:
            ends = zip(point, domain.lower, domain.upper, strict=True)
            faces = [axis for axis, (at, low, high) in enumerate(ends) if axis != in_time and at in (low, high)]
            found.update(dict.fromkeys(((axis, in_time), (float(point[axis]), begin)) for axis in faces))
    return list(found)


def _is_wall(channel: Channel) -> bool:
    return channel.kind == "boundary" and channel.partner is None and isinstance(channel.precision, Exact)


def _asks_for(operator: Operator, problem: "Problem") -> set[str]:
    """The fields that stand in it."""
    return {name for name, _ in operator.asked} & set(problem.fields)


def _left(channels: tuple[Channel, ...], problem: "Problem", function: Start) -> list[np.ndarray]:
    """What fields leave of conditions, with every unknown at its guess."""
    solution = dataclasses.replace(problem.solution(Opaque(function)), positive_fields=())  # values as they are
    return [np.asarray(left) for left in _residuals(channels, solution)]


@runs_once
def _residuals(channels: tuple[Channel, ...], solution: Solution) -> list[Array]:
    return residuals(channels, solution)


def _changed(
    problem: "Problem", start: Start, begin: float, given: Mapping[str, Any], guessed: dict[str, Array]
) -> Start | None:
    """What equations make of initial values with the guesses of unknowns, to first order in time; nothing where they say no
    more than how fast a rate changes, or how rates at neighbouring places belong together."""
    in_time = problem.domain.axis(TIME)
    conditions = [one for one in problem.conditions if isinstance(one, Equation)]
    if any(one.points is not None or not (callable(one.target) or np.ndim(one.target) == 0) for one in conditions):
        return None
    operators = [Operator(one.operator, problem.names) for one in conditions]
    in_it = [order for one in operators for order in one.orders if order[in_time]]
    if not in_it or any(sum(order) > 1 for order in in_it):
        return None
    moving = [one for one in operators if any(order[in_time] for order in one.orders)]
    if any(not _asks_for(one, problem) <= given.keys() for one in moving):
        return None

    def left(x: Float[Array, " d"], rates: Float[Array, " fields"]) -> Float[Array, " k"]:
        rows = []
        for one, operator in zip(conditions, operators, strict=True):
            fields = opaque(lambda y: start(y) + (y[in_time] - begin) * rates, Jet.variable(x, operator.orders))
            assert isinstance(fields, Jet)  # as what it was made of
            target = one.target if not callable(one.target) else at_points(one.target, problem.domain.coordinates, x[None])[0]
            rows.append(operator(fields, x, guessed, {}) - jnp.asarray(target, float))
        return jnp.concatenate(rows)

    def rates(x: Float[Array, " d"]) -> Float[Array, " fields"]:
        at_rest = jnp.zeros(len(problem.fields))
        return -jnp.linalg.pinv(jax.jacfwd(left, argnums=1)(x, at_rest)) @ left(x, at_rest)

    return lambda x: start(x) + (x[in_time] - begin) * rates(x)
