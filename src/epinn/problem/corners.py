"""Where given values contradict each other: a hot plate with cold sides, a hot rod that is put between cold ends.

At such a corner no field can have both values; there it takes all that are between them, and its slopes have no limit. A
network would spend all it has on it, and still miss both. So nothing is asked in its immediate neighbourhood, and points that
would be there are moved out of it.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.operator import at_points
from .boundary import Robin
from .conditions import Initial
from .domain import Box, Face
from .geometry.meeting import meeting
from .region import TIME, Domain, Part

if TYPE_CHECKING:
    from .problem import Problem

RADIUS = 0.03  # of the sides of the box
PLACES = 64  # along a corner that has a length
APART = 0.01  # of the range of all given values: what differs by more is a contradiction


@dataclass(frozen=True)
class Corner:
    """Where two faces meet: the values of two coordinates there, and how far from it nothing is asked."""

    axes: tuple[int, int]
    at: tuple[float, float]
    radius: tuple[float, float]
    inward: tuple[float, float]  # signs

    def outside(self, points: Float[Array, "n d"], face: int | None = None) -> Float[Array, "n d"]:
        """The points, those near the corner moved away from it, each in its own direction; on a face across a coordinate they
        stay on it. The distances from 0 to 2 become those from 1 to 2, so that none come to lie on each other."""
        axes = np.asarray(self.axes)
        away = (points[:, axes] - jnp.asarray(self.at)) / jnp.asarray(self.radius)
        sideways = jnp.asarray([inward * (axis != face) for axis, inward in zip(self.axes, self.inward, strict=True)])
        distance = jnp.linalg.norm(away, axis=1, keepdims=True)
        direction = jnp.where(distance > 0, away / jnp.where(distance > 0, distance, 1.0), sideways)
        moved = jnp.asarray(self.at) + jnp.asarray(self.radius) * direction * (1 + distance / 2)
        return points.at[:, axes].set(jnp.where(distance < 2, moved, points[:, axes]))


def contradictions(problem: "Problem") -> tuple[Corner, ...]:
    """The corners of a box at which two exact values of one field differ."""
    if not isinstance(problem.domain, Box):
        return ()
    domain, found = problem.domain, dict[tuple[tuple[int, int], tuple[float, float]], Corner]()
    for name in problem.fields:
        given = _given(problem, domain, name)
        points = _spread(domain)
        every = [_values(one, points.at[:, one[1].axis].set(one[1].position), problem) for one in given]
        size = np.ptp(np.concatenate(every)) if given else 0.0
        for one, other in itertools.combinations(given, 2):
            if one[1].axis == other[1].axis or not size or _are_one(one[0], other[0]):
                continue
            points = _edge(domain, one[1], other[1])
            differ = np.abs(_values(one, points, problem) - _values(other, points, problem))
            if np.max(differ) > APART * size:
                corner = _corner(domain, one, other)
                found.setdefault((corner.axes, corner.at), corner)
    return tuple(found.values())


def contradicting_parts(problem: "Problem") -> list[str]:
    """The same for a shape: which parts of its boundary meet with different values, "x=0 and hole"."""
    found: dict[str, None] = {}
    for name in problem.fields if not isinstance(problem.domain, Box) else ():
        given = _given(problem, problem.domain, name)
        every = [_values(one, one[1].placed(PLACES, "grid").points, problem) for one in given]
        size = np.ptp(np.concatenate(every)) if given else 0.0
        for one, other in itertools.combinations(given, 2):
            places = meeting(one[1], other[1])
            if not size or not len(places) or _are_one(one[0], other[0]):
                continue
            differ = np.abs(np.subtract(*(_values(given, jnp.asarray(places, float), problem) for given in (one, other))))
            if np.max(differ) > APART * size:
                found[f"{one[1].name} and {other[1].name}"] = None
    return list(found)


_Of = TypeVar("_Of", bound=Part)
_Given = tuple[Robin | Initial, _Of, int]  # a condition, one of its parts of the boundary, and the place of that among them


def _given(problem: "Problem", domain: Domain, name: str) -> list[_Given[Any]]:
    """The exact values of a field on whole parts of the boundary."""
    found: list[_Given[Any]] = []
    for condition in problem.conditions:
        match condition:
            case Robin(b=0, points=None, sigma=None) if condition.a:
                faces = domain.faces(condition.on)
            case Initial(points=None, order=0, sigma=None):
                faces = domain.faces(TIME)[:1]
            case _:
                continue
        if problem.field_name(condition.field) == name:
            found += [(condition, face, place) for place, face in enumerate(faces)]
    return found


def _are_one(one: Robin | Initial, other: Robin | Initial) -> bool:
    """Whether two faces have the same values, one function of the place."""
    return one is other and (callable(one.target) or np.ndim(one.target) == 0)


def _values(given: _Given[Any], points: Float[Array, "n d"], problem: "Problem") -> np.ndarray:
    """What a condition says at points of its face."""
    condition, _, place = given
    target, by = condition.target, condition.a if isinstance(condition, Robin) else 1.0
    if callable(target):
        return np.asarray(at_points(target, problem.domain.coordinates, points))[:, 0] / by
    one = np.asarray(target, float)
    return np.full(len(points), (one if one.ndim == 0 else one[place]) / by)


def _edge(domain: Box, one: Face, other: Face) -> Float[Array, "n d"]:
    """Places where two faces meet."""
    points = _spread(domain)
    for face in (one, other):
        points = points.at[:, face.axis].set(face.position)
    return points


def _spread(domain: Box) -> Float[Array, "n d"]:
    return domain.points(PLACES, "sobol", key=jax.random.key(0))


def _corner(domain: Box, one: _Given[Face], other: _Given[Face]) -> Corner:
    first, second = sorted((one, other), key=lambda given: given[1].axis)
    axes = (first[1].axis, second[1].axis)
    sides = [domain.upper[axis] - domain.lower[axis] for axis in axes]
    return Corner(
        axes,
        (first[1].position, second[1].position),
        (RADIUS * sides[0], RADIUS * sides[1]),
        (-first[1].outward, -second[1].outward),
    )


def in_words(corners: Sequence[Corner], domain: Domain) -> str:
    """Where they are, and what they are."""
    names = domain.coordinates
    places = [", ".join(f"{names[axis]} = {at:.4g}" for axis, at in zip(c.axes, c.at, strict=True)) for c in corners]
    return f"next to {' and '.join(f'({place})' for place in places)} given values contradict each other"
