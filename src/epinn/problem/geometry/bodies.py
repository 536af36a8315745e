"""Bodies by themselves: inside tests, boxes around them and their surfaces, all of it by formulas."""

import functools
import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .combined import Figure, Form, in_brackets
from .forms import polygon
from .outline import tracks
from .sheets import Flat, Points, Round, Sheet, Triple, Tube, Wall, across

Names = tuple[str, str, str]


@dataclass(frozen=True)
class Body(Figure):
    """A body in space."""

    @abstractmethod
    def bounds(self) -> tuple[Triple, Triple]:
        """The lowest and the highest value of every coordinate."""

    @abstractmethod
    def sheets(self) -> Sequence[Sheet]:
        """Its surface, or more than that: of a sheet counts what has the body on one side alone."""


@dataclass(frozen=True)
class CuboidForm(Body):
    """The product of three intervals of coordinates with names."""

    coordinates: Names
    lower: Triple
    upper: Triple

    kind = ""

    def __str__(self) -> str:
        ends = (f"{n}=({a:g}, {b:g})" for n, a, b in zip(self.coordinates, self.lower, self.upper, strict=True))
        return f"Cuboid({', '.join(ends)}{in_brackets(self.name)})"

    def distance(self, points: Points) -> Float[np.ndarray, " n"]:
        beyond = np.maximum(np.asarray(self.lower) - points, points - np.asarray(self.upper))
        return np.asarray(beyond.max(axis=1))

    def bounds(self) -> tuple[Triple, Triple]:
        return self.lower, self.upper

    def sheets(self) -> list[Sheet]:
        return [
            _lid(self.coordinates, self.lower, self.upper, axis, at_upper) for axis in range(3) for at_upper in (False, True)
        ]


@dataclass(frozen=True)
class SphereForm(Body):
    """Around a centre."""

    coordinates: Names
    center: Triple
    radius: float

    kind = "sphere"

    def __str__(self) -> str:
        at = ", ".join(f"{name}={value:g}" for name, value in zip(self.coordinates, self.center, strict=True))
        return f"Sphere({at}, radius={self.radius:g}{in_brackets(self.name)})"

    def distance(self, points: Points) -> Float[np.ndarray, " n"]:
        return np.asarray(np.linalg.norm(points - np.asarray(self.center), axis=1) - self.radius)

    def bounds(self) -> tuple[Triple, Triple]:
        return triple(np.subtract(self.center, self.radius)), triple(np.add(self.center, self.radius))

    def sheets(self) -> list[Sheet]:
        return [Round(self.center, self.radius)]


@dataclass(frozen=True)
class CylinderForm(Body):
    """Around the axis from one point to another."""

    coordinates: Names
    begin: Triple
    end: Triple
    radius: float

    kind = "cylinder"

    def __str__(self) -> str:
        ends = zip(self.coordinates, self.begin, self.end, strict=True)
        at = ", ".join(f"{name}={a:g}" if a == b else f"{name}=({a:g}, {b:g})" for name, a, b in ends)
        return f"Cylinder({at}, radius={self.radius:g}{in_brackets(self.name)})"

    @property
    def _axis(self) -> Triple:
        return triple(np.subtract(self.end, self.begin))

    def distance(self, points: Points) -> Float[np.ndarray, " n"]:
        away, length = points - np.asarray(self.begin), math.dist(self.begin, self.end)
        along = away @ (np.asarray(self._axis) / length)
        radial = np.linalg.norm(away @ across(self._axis).T, axis=1)
        return np.asarray(np.maximum(radial - self.radius, np.maximum(-along, along - length)))

    def bounds(self) -> tuple[Triple, Triple]:
        half = self.radius * np.linalg.norm(across(self._axis), axis=0)  # of the discs at both ends
        return triple(np.minimum(self.begin, self.end) - half), triple(np.maximum(self.begin, self.end) + half)

    def sheets(self) -> list[Sheet]:
        first, second = self.radius * across(self._axis)
        below, above = (triple(np.asarray(at) - first - second) for at in (self.begin, self.end))
        sides = triple(2 * first), triple(2 * second)
        tags = self._tags()
        return [
            Tube(self.begin, self._axis, self.radius, "side"),
            Flat(below, sides[1], sides[0], tags[0]),
            Flat(above, sides[0], sides[1], tags[1]),
        ]

    def _tags(self) -> tuple[str, str]:
        """What both ends are called: by their coordinate if the axis goes along one."""
        along = [i for i in range(3) if self.begin[i] != self.end[i]]
        if len(along) > 1:
            return "begin", "end"
        name, i = self.coordinates[along[0]], along[0]
        return f"{name}={self.begin[i]:.12g}", f"{name}={self.end[i]:.12g}"


@dataclass(frozen=True)
class ExtrusionForm(Body):
    """A planar form, moved across its plane along the coordinate number `along`."""

    coordinates: Names
    planar: Form
    along: int
    low: float
    high: float

    kind = ""

    def __str__(self) -> str:
        return f"Extrusion({self.planar}, {self.coordinates[self.along]}=({self.low:g}, {self.high:g}){in_brackets(self.name)})"

    def distance(self, points: Points) -> Float[np.ndarray, " n"]:
        heights = points[:, self.along]
        beyond = np.maximum(self.low - heights, heights - self.high)
        return np.asarray(np.maximum(self.planar.distance(np.delete(points, self.along, axis=1)), beyond))

    def bounds(self) -> tuple[Triple, Triple]:
        west, south, east, north = polygon(self.planar).bounds
        return (
            triple(np.insert([west, south], self.along, self.low)),
            triple(np.insert([east, north], self.along, self.high)),
        )

    def sheets(self) -> list[Sheet]:
        walls = [Wall(track, self.along, self.low, self.high) for track in tracks(self.planar)]
        lids = [_lid(self.coordinates, *self.bounds(), self.along, at_upper) for at_upper in (False, True)]
        return [*walls, *lids]


@functools.lru_cache(maxsize=256)
def size_of(form: Form) -> float:
    """The longest side of the boxes around the bodies of a form."""
    bounds = [figure.bounds() for figure in form.figures() if isinstance(figure, Body)]
    return float(max(np.max(np.subtract(upper, lower)) for lower, upper in bounds))


def _lid(coordinates: Names, lower: Triple, upper: Triple, axis: int, at_upper: bool) -> Flat:
    """One side of a box, named by its place: "z=0"."""
    place, sides = (upper if at_upper else lower)[axis], np.diag(np.subtract(upper, lower))
    corner = np.where(np.arange(3) == axis, place, lower)
    first, second = sides[(axis + 1) % 3], sides[(axis + 2) % 3]
    pair = (first, second) if at_upper else (second, first)
    return Flat(triple(corner), triple(pair[0]), triple(pair[1]), f"{coordinates[axis]}={place:.12g}")


def triple(values: Iterable[float]) -> Triple:
    """Three numbers of an array or a list."""
    x, y, z = map(float, values)
    return x, y, z
