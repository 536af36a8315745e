"""A domain in space times an interval of time."""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ...arguments import text
from ...errors import InputError
from ..domain import Box
from ..region import TIME, Domain, Part, Placed, no_zones
from .inside import Irregular
from .surface import Surface


class During(Irregular):
    """A domain in space, whose boundary is made of `Surface`s, during some time, which may have breaks."""

    of: Domain
    time: Box
    coordinates: tuple[str, ...] = eqx.field(static=True)
    lower: tuple[float, ...] = eqx.field(static=True)
    upper: tuple[float, ...] = eqx.field(static=True)
    breaks: tuple[tuple[float, ...], ...] = eqx.field(static=True)

    def __init__(self, of: Domain, time: Box):
        if time.coordinates != (TIME,):
            raise InputError(f"time is the coordinate {TIME}: write during({TIME}=(0, 60)).")
        self.of, self.time = of, time
        self.coordinates = (*of.coordinates, TIME)
        self.lower, self.upper = (*of.lower, *time.lower), (*of.upper, *time.upper)
        self.breaks = (*of.breaks, *time.breaks)

    def __repr__(self) -> str:
        return f"({self.of!r}).during({repr(self.time).removeprefix('Box(')}"

    @property
    def fill(self) -> float:
        return self.of.fill

    @property
    def pieces(self) -> list["During"]:
        return [During(self.of, piece) for piece in self.time.pieces]

    @property
    def zones(self) -> list["During"]:
        return [During(self.of, zone) for zone in self.time.zones]

    def broken(self, breaks: Mapping[str, Sequence[float]]) -> "During":
        if not {name for name, places in breaks.items() if len(places)} <= {TIME}:
            raise no_zones(self)
        return During(self.of, self.time.broken(breaks))

    def between(self, begin: float, end: float) -> "During":
        return During(self.of, Box(**{TIME: (begin, end)}))

    def contains(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(self.of.contains(points[:, :-1]) & self.time.contains(points[:, -1:]))

    def faces(self, on: str | None = None) -> list[Part]:
        if on is not None:
            text(on, "a part of the boundary", "x=0")
        if on is not None and "," in on:
            return [face for part in on.split(",") for face in self.faces(part.strip())]
        if on is None or on.partition("=")[0].strip() != TIME:
            surfaces = self.of.faces(on)
            assert all(isinstance(surface, Surface) for surface in surfaces)
            return [Swept(surface, self.time) for surface in surfaces if isinstance(surface, Surface)]
        return [Instant(self.of, face.position) for face in self.time.faces(on)]

    def section(self, along: str, at: float) -> "Instant":
        if along != TIME:
            raise no_zones(self)
        return Instant(self.of, at)

    def outlines(self) -> Sequence[Float[np.ndarray, "n 2"]]:
        return self.of.outlines()

    def excluded(self, points: np.ndarray) -> str:
        return self.of.excluded(points[:, :-1])


class Swept(Surface):
    """A part of the boundary in space at all times."""

    of: Surface
    time: Box

    @property
    def name(self) -> str:
        return self.of.name

    @property
    def share(self) -> float:
        return self.of.share

    @property
    def pieces(self) -> list["Swept"]:
        return [Swept(self.of, zone) for zone in self.time.zones]

    @property
    def extent(self) -> int:
        return self.of.extent + 1

    @property
    def fill(self) -> float:
        return self.of.fill

    @property
    def may_be_cut(self) -> bool:
        return self.of.may_be_cut

    def at(self, unit: Any) -> tuple[Any, Any]:
        points, normals = self.of.at(unit[:, :-1])
        times = self.time.lower[0] + unit[:, -1:] * (self.time.upper[0] - self.time.lower[0])
        xp = jnp if isinstance(unit, jax.Array) else np
        return xp.concatenate([points, times], axis=1), normals


class Instant(Part):
    """All of the space at one time."""

    of: Domain
    position: float = eqx.field(static=True)

    @property
    def name(self) -> str:
        return f"{TIME}={self.position:.12g}"

    @property
    def share(self) -> float:
        return 1.0

    @property
    def across(self) -> int:
        return self.of.dimension

    @property
    def is_instant(self) -> bool:
        return True

    @property
    def pieces(self) -> list["Instant"]:
        return [self]

    def placed(self, n: int, sampling: str, *, key: PRNGKeyArray | None = None) -> Placed:
        points = self.of.points(n, sampling, key=key)
        return Placed(jnp.pad(points, [(0, 0), (0, 1)], constant_values=self.position), np.zeros((n, self.of.dimension)))
