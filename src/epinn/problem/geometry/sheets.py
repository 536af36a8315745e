"""Pieces of surfaces in closed form. Each maps the unit square so that equal areas stay equal; points and normals are exact."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from .outline import Track

Points = Float[np.ndarray, "n 3"]
Triple = tuple[float, float, float]


class Sheet(ABC):
    """A piece of the surface of a body, with normals that point out of it."""

    tag: str  # that tells it from the other pieces of the same body
    is_smooth: ClassVar[bool] = True  # whether neighbours in the unit square are neighbours in space

    @property
    @abstractmethod
    def area(self) -> float:
        """Its size."""

    @abstractmethod
    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        """Points and unit normals that belong to points of the unit square."""


@dataclass(frozen=True)
class Flat(Sheet):
    """A parallelogram; its normal is that of a right-handed screw from the first side to the second."""

    corner: Triple
    first: Triple
    second: Triple
    tag: str

    @property
    def area(self) -> float:
        return float(np.linalg.norm(np.cross(self.first, self.second)))

    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        points = np.asarray(self.corner) + unit @ np.array([self.first, self.second])
        normal = np.cross(self.first, self.second) / self.area
        return points, np.tile(normal, (len(unit), 1))


@dataclass(frozen=True)
class Round(Sheet):
    """A sphere."""

    center: Triple
    radius: float
    tag: str = ""

    @property
    def area(self) -> float:
        return 4 * math.pi * self.radius**2

    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        """Heights are even on a sphere, as Archimedes found."""
        height, angle = 2 * unit[:, 1] - 1, 2 * math.pi * unit[:, 0]
        beside = np.sqrt(np.maximum(0, 1 - height**2))
        normals = np.stack([beside * np.cos(angle), beside * np.sin(angle), height], axis=1)
        return np.asarray(self.center) + self.radius * normals, normals


@dataclass(frozen=True)
class Tube(Sheet):
    """The side of a cylinder along `axis`, which has its length."""

    begin: Triple
    axis: Triple
    radius: float
    tag: str

    @property
    def area(self) -> float:
        return 2 * math.pi * self.radius * math.dist(self.axis, (0, 0, 0))

    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        angle = 2 * math.pi * unit[:, 0]
        normals = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ across(self.axis)
        return np.asarray(self.begin) + unit[:, 1:] * np.asarray(self.axis) + self.radius * normals, normals


@dataclass(frozen=True, eq=False)
class Wall(Sheet):
    """A part of the boundary of a planar shape, moved across its plane: along coordinate `along` from `low` to `high`."""

    track: Track
    along: int
    low: float
    high: float

    @property
    def tag(self) -> str:  # type: ignore[override]  # what a track is called
        return self.track.name

    @property
    def area(self) -> float:
        return self.track.length * (self.high - self.low)

    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        points, normals = self.track.at(unit[:, 0])
        heights = self.low + unit[:, 1] * (self.high - self.low)
        return np.insert(points, self.along, heights, axis=1), np.insert(normals, self.along, 0.0, axis=1)


def across(axis: Triple) -> Float[np.ndarray, "2 3"]:
    """Two unit vectors that make a right-handed system with the direction of an axis."""
    along = np.asarray(axis) / np.linalg.norm(axis)
    first = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(along, first)])
