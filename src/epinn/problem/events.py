"""What happens suddenly in the middle of time: a heater is switched on, a wall is cooled from then on, a load comes and goes.

Before and after it fields are smooth in time, and in that moment they are not. Time that is solved in windows ends one there;
at a wall, what follows spreads from a corner as it does when time begins (see `sudden.py`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ..derivatives.units import Units
from .boundary import Boundary, Robin
from .channel import Channel
from .conditions import Equation
from .domain import Box, Face
from .jumps import looks_at_its_place, places_along
from .region import TIME
from .sudden import LINES, along

if TYPE_CHECKING:
    from .problem import Problem

MOST = 16  # times
SAME = 2e-6  # of all time: what is nearer together happens at one time, that was found in two ways
APART = 1e-4  # of all time: no window can be joined to others between times that are nearer, and the first of them counts
DIGITS = 11  # of the length of time, to which one is known

Wall = tuple[int, float]  # the coordinate that it is across, and where


@dataclass(frozen=True)
class Event:
    """Something that happens at a time."""

    time: float
    walls: tuple[Wall, ...]  # at which it happens; all of them if it happens inside


def events(problem: "Problem", channels: Sequence[Channel], units: Units) -> tuple[Event, ...]:
    """All of them, in targets that are functions and in operators that look at the time, with every unknown at its guess; the
    channels are those of the problem in the user's units."""
    domain = problem.domain
    if not isinstance(domain, Box) or TIME not in domain.coordinates or not domain.space or any(domain.breaks):
        return ()
    begin, end = (ends[domain.axis(TIME)] for ends in (domain.lower, domain.upper))
    every = [*_in_targets(problem, domain), *_in_operators(problem, domain, channels, units)]
    found = list[Event]()
    for event in _merged(sorted(every, key=lambda event: event.time), SAME * (end - begin)):
        if found and event.time - found[-1].time <= APART * (end - begin):
            found[-1] = Event(found[-1].time, tuple(sorted({*found[-1].walls, *event.walls})))
        elif min(event.time - begin, end - event.time) > APART * (end - begin):
            found.append(event)
    return tuple(found) if len(found) <= MOST else ()


def _merged(found: Sequence[Event], near: float) -> list[Event]:
    """What happens at one time as one event, at the time that is written most shortly."""
    groups = list[list[Event]]()
    for event in found:
        if groups and event.time - groups[-1][-1].time < near:
            groups[-1].append(event)
        else:
            groups.append([event])
    walls = [sorted({wall for event in group for wall in event.walls}) for group in groups]
    times = [min((event.time for event in group), key=lambda time: len(repr(time))) for group in groups]
    return [Event(time, tuple(own)) for time, own in zip(times, walls, strict=True)]


def _in_targets(problem: "Problem", domain: Box) -> Iterator[Event]:
    in_time = domain.axis(TIME)
    digits = DIGITS - math.ceil(math.log10(domain.upper[in_time] - domain.lower[in_time]))
    through = np.random.default_rng(0).uniform(domain.lower, domain.upper, (LINES, domain.dimension))
    for condition in problem.conditions:
        match condition:
            case Robin(points=None, target=target, on=on) | Boundary(target=target, on=on) if callable(target):
                for axis, at in _walls(problem, on):
                    on_wall = np.where(np.arange(domain.dimension) == axis, at, through)
                    times = along(target, on_wall, in_time, domain, MOST)
                    yield from (Event(round(time, digits), ((axis, at),)) for time in times)
            case Equation(points=None, target=target) if callable(target):
                times = along(target, through, in_time, domain, MOST)
                yield from (Event(round(time, digits), _walls(problem)) for time in times)


def _in_operators(problem: "Problem", domain: Box, channels: Sequence[Channel], units: Units) -> Iterator[Event]:
    in_time = domain.axis(TIME)
    guesses = {name: jnp.asarray(unknown.guess or 1.0, float) for name, unknown in problem.parameters.items()}
    for condition, channel in zip(problem.conditions, channels, strict=False):
        if not isinstance(condition, Equation | Boundary) or not looks_at_its_place(channel):
            continue
        walls = _walls(problem, condition.on if isinstance(condition, Boundary) else None)
        yield from (Event(time, walls) for time in places_along([channel.operator], in_time, domain, units, guesses, MOST))


def _walls(problem: "Problem", on: str | None = None) -> tuple[Wall, ...]:
    around = {problem.domain.axis(name) for name in problem.periodic}
    faces = [face for face in problem.domain.faces(on) if isinstance(face, Face) and not face.is_instant]
    return tuple((face.axis, face.position) for face in faces if face.axis not in around)
