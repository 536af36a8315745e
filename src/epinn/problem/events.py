"""What happens suddenly in the middle of time: a heater is switched on, a wall is cooled from then on, a load comes and goes.

Before and after it fields are smooth in time, and in that moment they are not. Time that is solved in windows ends one there;
at a wall, what follows spreads from a corner as it does when time begins (see `sudden.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
DIGITS = 12  # of one


@dataclass(frozen=True)
class Event:
    """Something that happens at a time."""

    time: float
    walls: tuple[tuple[int, float], ...]  # the coordinates that they are across, and where; all of them if it happens inside,
    # where a field follows at once, and its given values at a wall do not


def events(problem: "Problem", channels: Sequence[Channel], units: Units) -> tuple[Event, ...]:
    """All of them, in targets that are functions and in operators that look at the time; the channels are those of the problem
    in the user's units."""
    domain = problem.domain
    if not isinstance(domain, Box) or TIME not in domain.coordinates or not domain.space or any(domain.breaks):
        return ()
    found = dict.fromkeys([*_in_targets(problem, domain), *_in_operators(problem, domain, channels, units)])
    return tuple(found) if len({event.time for event in found}) <= MOST else ()


def _in_targets(problem: "Problem", domain: Box) -> Iterator[Event]:
    in_time = domain.axis(TIME)
    through = np.random.default_rng(0).uniform(domain.lower, domain.upper, (LINES, domain.dimension))
    for condition in problem.conditions:
        match condition:
            case Robin(points=None, target=target, on=on) | Boundary(target=target, on=on) if callable(target):
                for axis, at in _walls(problem, on):
                    on_wall = np.where(np.arange(domain.dimension) == axis, at, through)
                    yield from (Event(_rounded(time), ((axis, at),)) for time in along(target, on_wall, in_time, domain))
            case Equation(points=None, target=target) if callable(target):
                yield from (Event(_rounded(time), _walls(problem)) for time in along(target, through, in_time, domain))


def _in_operators(problem: "Problem", domain: Box, channels: Sequence[Channel], units: Units) -> Iterator[Event]:
    in_time = domain.axis(TIME)
    for condition, channel in zip(problem.conditions, channels, strict=False):
        if not isinstance(condition, Equation | Boundary) or not looks_at_its_place(channel):
            continue
        walls = _walls(problem, condition.on if isinstance(condition, Boundary) else None)
        yield from (Event(time, walls) for time in places_along([channel.operator], in_time, domain, units, {}, MOST))


def _rounded(time: float) -> float:
    """As somebody would have written it: it was found between two numbers that are not much further apart than that."""
    return float(f"{time:.{DIGITS}g}")


def _walls(problem: "Problem", on: str | None = None) -> tuple[tuple[int, float], ...]:
    around = {problem.domain.axis(name) for name in problem.periodic}
    faces = [face for face in problem.domain.faces(on) if isinstance(face, Face) and not face.is_instant]
    return tuple((face.axis, face.position) for face in faces if face.axis not in around)
