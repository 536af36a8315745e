"""The operators of boundary, initial and other conditions, as values: two that are equal share their compiled code."""

import inspect
from dataclasses import dataclass
from typing import Any

from ..derivatives.quantity import Quantity


def _asks_for(*names: str) -> inspect.Signature:
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names])


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of one field, each along a tuple of coordinates."""

    field: str
    along: tuple[tuple[str, ...], ...]

    @property
    def __signature__(self) -> inspect.Signature:
        return _asks_for(self.field)

    def __call__(self, **fields: Quantity) -> list[Quantity]:
        return [fields[self.field].diff(*names) for names in self.along]

    def of_constant(self, value: Any) -> list[Any]:
        """What it gives where the field has one value everywhere."""
        return [value * (not names) for names in self.along]


@dataclass(frozen=True)
class Traces:
    """Derivatives of several fields, each along a tuple of coordinates; with a coordinate and its value (or what the value is
    called that is given at each point), as they are at that value, from points next to it."""

    parts: tuple[tuple[str, tuple[str, ...]], ...]
    at: tuple[str, float | str] | None = None

    @property
    def __signature__(self) -> inspect.Signature:
        asked = () if self.at is None else (name for name in self.at if isinstance(name, str))
        return _asks_for(*dict.fromkeys(field for field, _ in self.parts), *asked)

    def __call__(self, **known: Any) -> list[Any]:
        found = [known[field].diff(*along) for field, along in self.parts]
        if self.at is None:
            return found
        name, at = self.at
        value = known[at] if isinstance(at, str) else at
        slopes = [known[field].diff(*along, name) for field, along in self.parts]
        return [trace + slope * (value - known[name]) for trace, slope in zip(found, slopes, strict=True)]


@dataclass(frozen=True)
class Flux:
    """a u + b du/dn, with the components of the normal given at each point under the names in `normals`."""

    field: str
    a: float
    b: float
    space: tuple[str, ...]

    @property
    def normals(self) -> tuple[str, ...]:
        """What the components of the normal are called; none where there is no normal derivative."""
        return tuple(f"normal_{name}" for name in self.space) if self.b else ()

    @property
    def __signature__(self) -> inspect.Signature:
        return _asks_for(self.field, *self.normals)

    def of_constant(self, value: Any) -> list[Any]:
        """What it gives where the field has one value everywhere."""
        return [self.a * value]

    def __call__(self, **known: Any) -> Quantity:
        u: Quantity = known[self.field]
        flux = self.a * u
        if self.b:
            flux += self.b * sum(u.diff(name) * known[normal] for name, normal in zip(self.space, self.normals, strict=True))
        return flux
