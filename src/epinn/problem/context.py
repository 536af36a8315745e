"""What a condition needs to know of the problem it belongs to: its domain, its names, and how points are chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..arguments import is_whole
from ..derivatives.operator import Names
from ..errors import InputError, unknown_name
from .domain import SAMPLINGS
from .region import Domain, Part, Placed

COLLOCATION = {1: 128, 2: 1024}  # by dimension; 4096 above
PER_FACE = {1: 1, 2: 64}  # by dimension; 256 above
FEWEST = 8  # on a part of a boundary, however short it is beside the others


@runtime_checkable
class Clear(Protocol):
    """A place that points keep away from (see `corners.py`)."""

    def outside(self, points: Float[Array, "n d"], face: int | None = None) -> Float[Array, "n d"]:
        """The points, those near it moved away; on a face across a coordinate they stay on it."""


@dataclass(frozen=True)
class Points:
    """How the points of equations and conditions are chosen; None leaves a number to the dimension of the domain.

    `boundary` counts the points on each face of a box; a shape has four times as many in all, shared out by length, a solid six
    times, by area. With `resample` = k the points are drawn anew every k steps. All numbers are multiplied by `times`. They
    keep away from what is to be kept `clear`, which whoever solves a problem finds out.
    """

    collocation: int | None = None
    boundary: int | None = None
    sampling: str | None = None
    resample: int = 0
    times: int = 1
    clear: tuple[Any, ...] = ()  # of `Clear`

    def __post_init__(self) -> None:
        counts = [n for n in (self.collocation, self.boundary, self.times) if n is not None]
        if not all(is_whole(n, 1) for n in counts) or not is_whole(self.resample):
            raise InputError("numbers of points must be whole and at least 1, and resample must not be negative.")
        if not isinstance(self.clear, tuple) or not all(isinstance(place, Clear) for place in self.clear):
            raise InputError("what points keep clear of is found when a problem is solved; leave out clear=.")
        if self.sampling is not None and (not isinstance(self.sampling, str) or self.sampling not in SAMPLINGS):
            raise unknown_name("sampling", self.sampling, SAMPLINGS)


@dataclass(frozen=True)
class Context:
    """The domain, the names and the choice of points that the conditions of one problem share."""

    domain: Domain
    names: Names
    points: Points

    @property
    def sampling(self) -> str:
        """How points are spread: as the user said, or a grid in one dimension and a Sobol set in more."""
        return self.points.sampling or ("grid" if self.domain.dimension == 1 else "sobol")

    def field_name(self, name: str | None) -> str:
        """The field meant by `name`; without one, the only field there is."""
        fields = self.names.fields
        if name is None:
            if len(fields) > 1:
                raise InputError(f"this problem has the fields {', '.join(fields)}: say which one, as in field={fields[0]!r}.")
            return fields[0]
        if not isinstance(name, str) or name not in fields:
            raise unknown_name("field", name, fields)
        return name

    def collocation(self, key: PRNGKeyArray) -> Float[Array, "n d"]:
        """Points in the interior: so many in every piece of the domain, or so many in all if the user said how many."""
        pieces = self.domain.zones
        n = self._number(self.points.collocation, COLLOCATION.get(self.domain.dimension, 4096), len(pieces))
        return self._clear(
            jnp.concatenate(
                [piece.points(n, self.sampling, key=own) for piece, own in zip(pieces, _keys(key, len(pieces)), strict=True)]
            )
        )

    def on_faces(self, faces: Sequence[Part], key: PRNGKeyArray) -> Placed:
        """Points on some parts of the boundary with their normals, part by part; equally many on each face of a box."""
        return _joined([self._on_face(face, key) for face in faces])

    def _on_face(self, face: Part, key: PRNGKeyArray) -> Placed:
        parts = face.pieces
        usual = self._number(self.points.boundary, PER_FACE.get(self.domain.dimension, 256), len(parts))
        n = max(min(usual, FEWEST), round(usual * face.share))
        drawn = [part.placed(n, self.sampling, key=own) for part, own in zip(parts, _keys(key, len(parts)), strict=True)]
        points, normals = _joined(drawn)
        return Placed(self._clear(points, face.across), normals)

    def _clear(self, points: Float[Array, "n d"], face: int | None = None) -> Float[Array, "n d"]:
        for place in self.points.clear:
            points = place.outside(points, face)
        return points

    def _number(self, said: int | None, usual: int, pieces: int) -> int:
        return self.points.times * (usual if said is None else max(1, said // pieces))


def _joined(parts: Sequence[Placed]) -> Placed:
    points, normals = zip(*parts, strict=True)
    traced = any(isinstance(normal, jax.Array) for normal in normals)
    return Placed(jnp.concatenate(points), (jnp if traced else np).concatenate(normals))


def _keys(key: PRNGKeyArray, number: int) -> list[PRNGKeyArray]:
    """One key for each piece; a domain in one piece has the points of its own key."""
    return [key] if number == 1 else list(jax.random.split(key, number))
