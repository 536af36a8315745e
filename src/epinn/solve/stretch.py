"""A stretch of time: what a problem asks for from one time to another, if it may be asked for one stretch after the other."""

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..derivatives.network import Solution
from ..derivatives.units import Units
from ..problem.boundary import Periodic, Robin
from ..problem.channel import Channel, residuals
from ..problem.condition import Condition
from ..problem.conditions import Initial
from ..problem.precision import Exact
from ..problem.problem import Problem
from ..problem.region import TIME, Domain
from ..problem.scales import Scales
from .config import fold_in
from .double import in_its_precision
from .refine import CANDIDATES
from .seeds import Keys, over_seeds, stack


def can_march(problem: Problem, breaks: Mapping[str, Sequence[float]]) -> bool:
    """Whether all that is known of a solution is how it begins, and what holds at all times; in one zone."""
    conditions = [_from_the_begin(condition, problem) for condition in problem.conditions]
    if not any(isinstance(condition, Initial) for condition in conditions) or problem.points.resample or problem.parameters:
        return False
    if any(_is_of_some_times(condition, problem.domain) for condition in conditions):
        return False
    known = all(channel.sampled and isinstance(channel.precision, Exact) for channel in problem.channels(0))
    return known and not any(problem.domain.breaks) and set(breaks) <= {TIME}


def _from_the_begin(condition: Condition, problem: Problem) -> Condition:
    """A value that is given on the face where time begins, as the initial value that it is; other conditions as they are."""
    match condition:
        case Robin(a=1.0, b=0.0, points=None, on=str(on)):
            faces = problem.domain.faces(on)
            if all(face.is_instant for face in faces) and {face.name for face in faces} == {problem.domain.faces(TIME)[0].name}:
                same = ("target", "field", "hard", "sigma", "tolerance", "weight")
                return Initial(**{name: getattr(condition, name) for name in same}, name=condition.label)
    return condition


def _is_of_some_times(condition: Condition, domain: Domain) -> bool:
    """Whether a condition is about a certain time, or about two of them, so that it says nothing of a part of all time."""
    if isinstance(condition, Periodic):
        return condition.along == TIME
    on = getattr(condition, "on", None)
    return on is not None and any(face.is_instant for face in domain.faces(on))


class Stretch:
    """What is asked for from one time to another."""

    def __init__(self, problems: Sequence[Problem], scales: Sequence[Scales], begin: float, end: float, keys: Keys):
        self.begin, self.end = begin, end
        self.problems = [_during(problem, begin, end) for problem in problems]
        self.scales = [_shifted(one, problem.domain, begin, end) for one, problem in zip(scales, self.problems, strict=True)]
        self.keys = keys

    def candidates(self, before: Solution | None, round: int) -> tuple[Channel, ...]:
        """The same conditions at many other points."""
        many = copy.copy(self)
        many.problems = [problem.with_many_points(CANDIDATES) for problem in self.problems]
        many.keys = fold_in(self.keys, round)
        return many.channels(before)

    def channels(self, before: Solution | None, elsewhere: bool = False) -> tuple[Channel, ...]:
        """The conditions of all seeds; initial values are what the window before ends with."""
        here = self._made(self.scales, elsewhere)
        if before is None:
            return here
        theirs = [dataclasses.replace(one, units=_units(before, i)) for i, one in enumerate(self.scales)]
        there = tuple(channel for channel in self._made(theirs, elsewhere) if channel.kind == "initial")
        handed = {channel.name: jnp.asarray(channel.target) for channel in in_its_precision(_values, there, before)}
        return tuple(dataclasses.replace(c, target=handed[c.name], target_moves=False) if c.name in handed else c for c in here)

    def _made(self, scales: Sequence[Scales], elsewhere: bool) -> tuple[Channel, ...]:
        parts = zip(self.problems, self.keys, scales, strict=True)
        return tuple(stack([one.channels(problem, key, elsewhere) for problem, key, one in parts]))


@eqx.filter_jit
def _values(channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
    """The channels with what a solution has there as their targets."""

    def one(channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
        bare = tuple(dataclasses.replace(c, target=jnp.zeros_like(c.target)) for c in channels)
        return tuple(dataclasses.replace(c, target=found) for c, found in zip(bare, residuals(bare, solution), strict=True))

    return over_seeds(one, channels, solution)


def ends(problem: Problem) -> tuple[float, float]:
    """When time begins and ends."""
    axis = problem.domain.axis(TIME)
    return problem.domain.lower[axis], problem.domain.upper[axis]


def _during(problem: Problem, begin: float, end: float) -> Problem:
    slots: dict[str, Any] = {
        slot: tuple(_from_the_begin(condition, problem) for condition in getattr(problem, slot))
        for slot in ("boundary", "initial", "extra")
    }
    return dataclasses.replace(problem, domain=problem.domain.between(begin, end), **slots)


def _shifted(scales: Scales, domain: Domain, begin: float, end: float) -> Scales:
    """The same scales with time from -1 to 1 in a window. What fans out when all time begins may do so in each of them: no
    network is shown less than another."""
    axis, units = domain.axis(TIME), scales.units
    middle, half = units.middle.at[axis].set((begin + end) / 2), units.half.at[axis].set((end - begin) / 2)
    units = eqx.tree_at(lambda u: (u.middle, u.half), units, (middle, half))
    return dataclasses.replace(scales, units=units, fans=tuple(fan.during(begin, end) for fan in scales.fans))


def _units(solution: Solution, seed: int) -> Units:
    units: Units = jax.tree.map(lambda leaf: leaf[seed], solution.units)
    return units
