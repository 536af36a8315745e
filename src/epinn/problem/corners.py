"""Where given values contradict each other: a hot plate with cold sides, a hot rod that is put between cold ends.

At such a corner no field can have both values; there it takes all that are between them, and its slopes have no limit. A
network would spend all it has on it, and still miss both. So nothing is asked in its immediate neighbourhood, and points that
would be there are moved out of it.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .domain import Box, Face
from .geometry.meeting import meeting
from .region import Domain
from .stated import Stated, stated

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
        given = [(one, one.part) for one in _given(problem, name) if isinstance(one.part, Face)]
        points = _spread(domain)
        every = [one.at(points.at[:, face.axis].set(face.position), domain.coordinates) for one, face in given]
        size = np.ptp(np.concatenate(every)) if given else 0.0
        for (one, face), (other, its_face) in itertools.combinations(given, 2):
            if face.axis == its_face.axis or not size or _are_one(one, other):
                continue
            points = _edge(domain, face, its_face)
            differ = np.abs(one.at(points, domain.coordinates) - other.at(points, domain.coordinates))
            if np.max(differ) > APART * size:
                corner = _corner(domain, face, its_face)
                found.setdefault((corner.axes, corner.at), corner)
    return tuple(found.values())


def contradicting_parts(problem: "Problem") -> list[str]:
    """The same for a shape: which parts of its boundary meet with different values, "x=0 and hole"."""
    found: dict[str, None] = {}
    for name in problem.fields if not isinstance(problem.domain, Box) else ():
        given, coordinates = _given(problem, name), problem.domain.coordinates
        every = [one.at(one.part.placed(PLACES, "grid").points, coordinates) for one in given]
        size = np.ptp(np.concatenate(every)) if given else 0.0
        for one, other in itertools.combinations(given, 2):
            places = meeting(one.part, other.part)
            if not size or not len(places) or _are_one(one, other):
                continue
            differ = np.abs(np.subtract(*(each.at(jnp.asarray(places, float), coordinates) for each in (one, other))))
            if np.max(differ) > APART * size:
                found[f"{one.part.name} and {other.part.name}"] = None
    return list(found)


def _given(problem: "Problem", name: str) -> list[Stated]:
    """The exact values of a field on whole parts of the boundary."""
    return [one for one in stated(problem) if one.what == name]


def _are_one(one: Stated, other: Stated) -> bool:
    """Whether two faces have the same values, one function of the place."""
    return one.condition is other.condition and (one.is_function or one.is_number)


def _edge(domain: Box, one: Face, other: Face) -> Float[Array, "n d"]:
    """Places where two faces meet."""
    points = _spread(domain)
    for face in (one, other):
        points = points.at[:, face.axis].set(face.position)
    return points


def _spread(domain: Box) -> Float[Array, "n d"]:
    return domain.points(PLACES, "sobol", key=jax.random.key(0))


def _corner(domain: Box, one: Face, other: Face) -> Corner:
    first, second = sorted((one, other), key=lambda face: face.axis)
    axes = (first.axis, second.axis)
    sides = [domain.upper[axis] - domain.lower[axis] for axis in axes]
    return Corner(
        axes,
        (first.position, second.position),
        (RADIUS * sides[0], RADIUS * sides[1]),
        (-first.outward, -second.outward),
    )


def in_words(corners: Sequence[Corner], domain: Domain) -> str:
    """Where they are, and what they are."""
    return f"next to {places_in_words([(c.axes, c.at) for c in corners], domain)} given values contradict each other"


def places_in_words(places: Sequence[tuple[tuple[int, int], tuple[float, float]]], domain: Domain) -> str:
    """Two coordinates of each: "(x = 0, t = 0) and (x = 1, t = 0)"."""
    names = domain.coordinates
    found = [", ".join(f"{names[axis]} = {at:.4g}" for axis, at in zip(axes, every, strict=True)) for axes, every in places]
    return " and ".join(f"({place})" for place in found)
