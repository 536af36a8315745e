"""What all domains have in common: named coordinates, a box around them, points inside, parts of the boundary with normals.

Networks scale their inputs by the box around a domain; conditions ask the domain itself for points and normals. A new kind of
domain is one class with its parts.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError, unknown_name

TIME = "t"  # the coordinate that carries the initial condition; all others are space
ENDS: dict[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max}  # words for a place: "x=min"
DIGITS = 1e-6  # of a number: people do not write down all of them
ROUNDED = 1e-9  # of a side: 0.1 + 0.2 - 0.3 is meant to be nothing


class Placed(NamedTuple):
    """Points of a part of the boundary with their outward unit normals, one column per space coordinate; time has no normal."""

    points: Float[Array, "n d"]
    normals: Float[Array | np.ndarray, "n space"]


class Part(eqx.Module):
    """A part of the boundary of a domain."""

    @property
    @abstractmethod
    def name(self) -> str:
        """As in `on=`: "x=-1", "hole"."""

    @property
    @abstractmethod
    def share(self) -> float:
        """How many points it has, in parts of those of a face of a box."""

    @property
    @abstractmethod
    def across(self) -> int | None:
        """The place of the coordinate that is the same all over it; None if there is none."""

    @property
    @abstractmethod
    def is_instant(self) -> bool:
        """Whether it is the domain at one time, and has no normal."""

    @property
    @abstractmethod
    def pieces(self) -> Sequence["Part"]:
        """What is left of it between the breaks of its domain."""

    @abstractmethod
    def placed(self, n: int, sampling: str, *, key: PRNGKeyArray | None = None) -> Placed:
        """`n` points with their normals."""


class Domain(eqx.Module):
    """Where a problem is posed. `lower` and `upper` are the corners of the box around it, `breaks` places along each
    coordinate at which the fields may bend."""

    coordinates: eqx.AbstractVar[tuple[str, ...]]
    lower: eqx.AbstractVar[tuple[float, ...]]
    upper: eqx.AbstractVar[tuple[float, ...]]
    breaks: eqx.AbstractVar[tuple[tuple[float, ...], ...]]

    @property
    @abstractmethod
    def fill(self) -> float:
        """Its share of the box around it."""

    @property
    @abstractmethod
    def pieces(self) -> Sequence["Domain"]:
        """The domains between the breaks; this one alone where there are none."""

    @property
    @abstractmethod
    def zones(self) -> Sequence["Domain"]:
        """The pieces, a little apart from each other."""

    @abstractmethod
    def broken(self, breaks: Mapping[str, Sequence[float]]) -> "Domain":
        """This domain with further breaks."""

    @abstractmethod
    def between(self, begin: float, end: float) -> "Domain":
        """This domain for a stretch of its time."""

    @abstractmethod
    def contains(self, points: np.ndarray) -> np.ndarray:
        """Which points lie in the domain, its boundary included."""

    @abstractmethod
    def points(self, n: int, sampling: str, *, key: PRNGKeyArray | None = None) -> Float[Array, "n d"]:
        """`n` points in the domain."""

    @abstractmethod
    def interior(self, n: int) -> Float[Array, "n d"]:
        """`n` even points strictly inside, the same every time."""

    @abstractmethod
    def mesh(self, *counts: int) -> Float[Array, "n d"]:
        """A regular grid of the box around the domain with so many points along each coordinate (one number: along each)."""

    @abstractmethod
    def grid(self, *counts: int) -> Float[Array, "n d"]:
        """What lies in the domain of such a grid."""

    @abstractmethod
    def faces(self, on: str | None = None) -> Sequence[Part]:
        """The parts of the boundary named by `on`, several joined by commas; all of space by default. A time, "t", has two:
        when it begins and when it ends."""

    @abstractmethod
    def section(self, along: str, at: float) -> Part:
        """Where a coordinate has a value, inside the domain."""

    @abstractmethod
    def outlines(self) -> Sequence[Float[np.ndarray, "n 2"]]:
        """Closed curves around a domain in the plane, inner ones the other way round; none for a box."""

    @abstractmethod
    def excluded(self, points: np.ndarray) -> str:
        """Why points are not in the domain, where there is more to say than that: "in hole"."""

    @property
    def dimension(self) -> int:
        """How many coordinates there are, time included."""
        return len(self.coordinates)

    @property
    def space(self) -> tuple[str, ...]:
        """The coordinates without time."""
        return tuple(name for name in self.coordinates if name != TIME)

    def axis(self, name: str) -> int:
        """The place of a coordinate among all."""
        if name not in self.coordinates:
            raise unknown_name("coordinate", name, self.coordinates)
        return self.coordinates.index(name)


def place_meant(said: str, places: Sequence[float], side: float) -> float | None:
    """Which of some places along a side that is so long is meant by "0.32", "min" or "max"; None if none is."""
    if said in ENDS and places:
        return ENDS[said](places)
    try:
        value = float(said)
    except ValueError:
        return None
    nearest = min(places, key=lambda place: abs(place - value), default=math.nan)
    is_near = abs(nearest - value) <= max(DIGITS * min(abs(nearest), side), ROUNDED * side)
    return nearest if is_near else None


def no_zones(domain: Domain) -> InputError:
    """The error for breaks along the coordinates of a shape."""
    return InputError(f"{domain!r} cannot have zones along {', '.join(domain.space)}; only a Box can.")
