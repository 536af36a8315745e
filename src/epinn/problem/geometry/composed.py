"""What shapes and solids have in common as domains: they are put together by `|`, `-` and `&`, and have no zones."""

import contextlib
import math
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import equinox as eqx
import numpy as np

from ...arguments import is_number, text
from ...errors import EpinnWarning, InputError, shown
from ..domain import Box
from ..region import TIME, Part, no_zones, place_meant
from .combined import Combined, Form
from .during import During
from .inside import Irregular
from .surface import Surface

ON = 1e-6  # of the size of a domain: so near its boundary a point is on it
LISTED = 12  # names of parts in a message
RESERVED = ",=."  # characters that mean something in the name of a part

Made = TypeVar("Made", bound="Composed")


class Composed(Irregular):
    """A domain in space that is made of figures."""

    form: eqx.AbstractVar[Form]
    kind: eqx.AbstractClassVar[str]  # in messages
    example: eqx.AbstractClassVar[str]
    blur: eqx.AbstractClassVar[float]  # of its sizes: what differs by no more is the same

    @abstractmethod
    def made_of(self: Made, form: Form) -> Made:
        """Another form in the same coordinates."""

    @abstractmethod
    def sizes(self) -> dict[str, float]:
        """What shows that something was taken away."""

    @abstractmethod
    def parts(self) -> Sequence[Surface]:
        """All of its boundary."""

    def __repr__(self) -> str:
        return str(self.form)

    def __or__(self: Made, other: Any) -> Made:
        return self._combined("|", other)

    def __and__(self: Made, other: Any) -> Made:
        return self._combined("&", other)

    def __sub__(self: Made, other: Any) -> Made:
        made = self._combined("-", other)
        before, after = self.sizes(), made.sizes()
        if before.keys() == after.keys() and all(math.isclose(before[k], after[k], rel_tol=self.blur) for k in before):
            warnings.warn(f"{other!r} does not overlap {self!r}: nothing was taken away.", EpinnWarning, stacklevel=2)
            return self
        return made

    def _combined(self: Made, operation: str, other: Any) -> Made:
        if isinstance(other, During):
            raise InputError(f"combine {self.kind}s before time comes in: (one - other).during(t=(0, 60)).")
        if not isinstance(other, type(self)):
            raise InputError(f"a {self.kind} goes with {self.kind}s only, such as {self.example}; got {shown(other)}.")
        if self.coordinates != other.coordinates:
            mine, its = (", ".join(one.coordinates) for one in (self, other))
            raise InputError(
                f"{self.kind}s to combine have the same coordinates in the same order; these have {mine} and {its}."
            )
        return self.made_of(Combined(operation, self.form, other.form))

    def during(self, **time: Any) -> During:
        """The same times an interval of time: `plate.during(t=(0, 60))`."""
        return During(self, Box(**time))

    @property
    def pieces(self: Made) -> list[Made]:
        return [self]

    @property
    def zones(self: Made) -> list[Made]:
        return [self]

    def broken(self: Made, breaks: Mapping[str, Sequence[float]]) -> Made:
        if any(len(places) for places in breaks.values()):
            raise no_zones(self)
        return self

    def between(self: Made, begin: float, end: float) -> Made:
        raise InputError(f"{self!r} has no time; add some with .during({TIME}=({begin:g}, {end:g})).")

    def contains(self, points: np.ndarray) -> np.ndarray:
        size = max(np.subtract(self.upper, self.lower))
        return np.asarray(self.form.distance(np.asarray(points, np.float64)) <= ON * size)

    def excluded(self, points: np.ndarray) -> str:
        holes = [figure for figure in self.form.taken() if np.any(figure.distance(np.asarray(points, np.float64)) < 0)]
        return "in " + ", ".join(figure.name or str(figure) for figure in holes) if holes else ""

    def faces(self, on: str | None = None) -> list[Surface]:
        parts = list(self.parts())
        if on is None:
            return parts
        text(on, "a part of the boundary", "disc")
        if "," in on:
            return [face for part in on.split(",") for face in self.faces(part.strip())]
        wanted = self._meant(on.strip(), [part.name for part in parts])
        found = [part for part in parts if part.name in wanted]
        if not found:
            known = [part.name for part in parts]
            listed = ", ".join(known[:LISTED]) + (f" and {len(known) - LISTED} more" if len(known) > LISTED else "")
            raise InputError(f"{on!r} is no part of the boundary; its parts are {listed}.")
        return found

    def _meant(self, on: str, names: Sequence[str]) -> set[str]:
        """The parts that a user means: "wedge.1" by "wedge"; "x=0" by "x", by "x=0.0", and by "x=min" if none is before it."""
        if on in names and "=" in on:
            return {on}
        if "=" not in on:
            return {name for name in names if name == on or name.startswith((f"{on}.", f"{on}="))}
        asked, _, said = (piece.strip() for piece in on.rpartition("="))
        along = asked.rpartition(".")[2]
        if along not in self.coordinates:
            return set()
        axis, places = self.axis(along), dict[float, str]()
        for name in names:
            with contextlib.suppress(ValueError):  # a group of a mesh may be called "x=left"
                own, _, place = name.rpartition("=")
                places |= {float(place): name} if own == asked else {}
        found = place_meant(said, tuple(places), self.upper[axis] - self.lower[axis])
        return set() if found is None else {places[found]}

    def section(self, along: str, at: float) -> Part:
        raise no_zones(self)


def numbers(values: Any, what: str) -> tuple[float, ...]:
    """Finite numbers; `what` names them where they are not."""
    try:
        found = tuple(values)
    except TypeError:
        found = (None,)
    if not all(map(is_number, found)):
        raise InputError(f"{what} must be finite numbers, not {shown(values)}.")
    return tuple(map(float, found))


def checked_name(name: str) -> str:
    """The name of a figure, refused where it could be taken for something else."""
    if not isinstance(name, str) or any(character in name for character in RESERVED) or name != name.strip():
        raise InputError(f"the name of a shape is a word without commas, points and equals signs, not {shown(name)}.")
    return name


def so_many(values: Mapping[str, Any], number: int, what: str, example: str) -> Mapping[str, Any]:
    """As many coordinates as there must be, time not among them."""
    if len(values) != number:
        count = {2: "two", 3: "three"}[number]
        raise InputError(f"{what} has {count} coordinates, as in {example}; got {', '.join(values) or 'none'}.")
    if TIME in values:
        raise InputError(f"{TIME} is time, and no coordinate of a shape; add it with .during({TIME}=(0, 60)).")
    return values
