"""Mistakes that show only when the conditions of a problem are seen together: a value that another one denies, a negative one
of a field that is positive, an unknown in none of them, and unknowns that may be anything as long as others are too.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..derivatives.operator import at_points
from ..errors import InputError, warn
from .channel import Channel
from .checks import at_place
from .combinations import free_combinations, settled_elsewhere
from .domain import Face
from .precision import Exact
from .stated import Stated, stated
from .values import divisor

if TYPE_CHECKING:
    from .problem import Problem

PLACES = 64  # of a part of the boundary, and of the domain, where functions are looked at
SETTLE = "give one as a number, or say what is known of it, Unknown(guess, prior=epinn.Normal(mean, sd))"
ROUNDED = 1e-5  # of the size of what is given: values that differ by no more are the same


def check_together(problem: "Problem") -> None:
    """Refuse conditions that deny each other, or hold best if everything that is sought is zero; a warning where an unknown is
    in none of them, or only in combination with others."""
    _check_told(problem)
    exact = [one for one in stated(problem) if one.condition.tolerance is None]
    pairs = [pair for pair in itertools.combinations(exact, 2) if _is_one_thing(*pair)]
    if not (pairs or problem.positive or problem.unknowns):
        return
    with jax.enable_x64(True):  # functions that are equal on paper stay so
        channels = (*problem.channels(0), *problem.held_out())
        for one, other in pairs:
            _check_same(one, other, problem)
        for name in problem.positive:
            _check_positive(str(name), channels, problem)
    used = {name for channel in channels for name in channel.operator.used}
    idle = [name for name in problem.unknowns if name not in used]
    warn([f"nothing is learned of the unknown {name}: it is in no equation, condition or measurement." for name in idle])


def _check_told(problem: "Problem") -> None:
    """Refuse unknowns that every condition leaves open if they are multiplied together, since nothing fits better than none of
    them; a warning where only a combination can be told, and the rest is a matter of priors."""
    for found in free_combinations(problem):
        names = _listed(found.names)
        if not (found.shrinks and found.together):
            if len(found.names) > 1:
                warn([f"only a combination of {names} can be told, and what is said of each comes from its prior: {SETTLE}."])
            continue
        if settled_elsewhere(problem, found):
            continue
        subject, who = (f"{names} are", "one of them") if len(found.names) > 1 else (f"{names} is", "it")
        together = " of all of them together" if len(found.names) > 1 else ""
        how = SETTLE if found.unknowns else f"give values of {who}"
        raise InputError(
            f"nothing tells how large {subject}: every condition holds for any multiple{together}, and for zero; {how}, "
            f"or a condition in which {who} stands beside something known, a flux or a source."
        )


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _is_one_thing(one: Stated, other: Stated) -> bool:
    """Whether two conditions are about the same, in the same place."""
    ends = [each.part.at_upper if isinstance(each.part, Face) else None for each in (one, other)]
    return one.what == other.what and one.part.name == other.part.name and ends[0] == ends[1]


def _check_same(one: Stated, other: Stated, problem: "Problem") -> None:
    """Refuse two values in one place. Neighbours may differ at a corner that they share: that is a matter of `corners.py`."""
    coordinates, domain = problem.domain.coordinates, problem.domain
    places = _spread(one.part.placed(PLACES, "sobol", key=jax.random.key(0)).points)
    inside = _spread(domain.points(PLACES, "sobol", key=jax.random.key(0)))
    first, second = (each.at(places, coordinates) for each in (one, other))
    # as large as they are anywhere: sin(pi x) is nothing at x = 1, but for roundings
    size = max(_largest(each.at(points, coordinates)) for each in (one, other) for points in (places, inside))
    at = int(np.argmax(np.abs(first - second)))
    if not abs(first[at] - second[at]) > ROUNDED * size:
        return
    where = f" (at {at_place(places[at], coordinates)})" if one.is_function or other.is_function else ""
    raise InputError(
        f"{one.what} is given twice on {one.part.name}: {first[at]:.6g} by {one.condition.label!r} and {second[at]:.6g} by "
        f"{other.condition.label!r}{where}; keep one of them, on= says where a condition holds."
    )


def _check_positive(name: str, channels: Sequence[Channel], problem: "Problem") -> None:
    """Refuse exact values below zero of a field that is above it everywhere. Zero itself can be come near to."""
    coordinates = problem.domain.coordinates
    inside = _spread(problem.domain.points(PLACES, "sobol", key=jax.random.key(0)))
    every, size = list[tuple[Channel, np.ndarray]](), 0.0
    for condition, channel in zip(problem.conditions, channels, strict=False):
        by = _is_value(channel, name)
        if not by:
            continue
        every.append((channel, np.asarray(channel.target)[:, 0] / by))
        target = getattr(condition, "target", None)
        if callable(target):
            size = max(size, _largest(np.asarray(at_points(target, coordinates, jnp.asarray(inside))) / by))
    size = max([size, *(_largest(values) for _, values in every)])
    for channel, values in every:
        at = int(np.argmin(values))
        if values[at] < -ROUNDED * size:
            raise InputError(
                f"{name} is one of positive=, but {values[at]:.6g} by {channel.name!r} at "
                f"{at_place(np.asarray(channel.points)[at], coordinates)}; correct the value, or leave {name} out of positive=."
            )


def _is_value(channel: Channel, name: str) -> float:
    """What the targets of a condition are divided by to be exact values of a field; nothing if they are something else."""
    is_exact = isinstance(channel.precision, Exact) and not channel.precision.given
    return divisor(channel, name) if is_exact else 0.0


def _spread(points: object) -> Float[np.ndarray, "n d"]:
    return np.asarray(points, float)


def _largest(values: Float[np.ndarray, "..."]) -> float:
    """Their size, where they are numbers."""
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
