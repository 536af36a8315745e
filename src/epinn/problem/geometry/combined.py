"""What shapes and solids are: figures put together by set operations, as values that compare by what they are.

Whether a point is inside is told in closed form, by distances that are negative inside.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


class Form(ABC):
    """A part of the plane, or of space."""

    @abstractmethod
    def distance(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """Negative inside; its size is that of the distance from the boundary, to first order near it."""

    @abstractmethod
    def figures(self) -> "Iterator[Figure]":
        """What it is made of, as it was written."""

    @abstractmethod
    def taken(self) -> "Iterator[Figure]":
        """What was taken away from it."""


@dataclass(frozen=True)
class Figure(Form):
    """A figure by itself, with the name that the user gave it."""

    name: str

    @property
    @abstractmethod
    def kind(self) -> str:
        """What it is called where it has no name; nothing if its sides have names of their own."""

    def figures(self) -> "Iterator[Figure]":
        yield self

    def taken(self) -> "Iterator[Figure]":
        yield from ()


@dataclass(frozen=True)
class Combined(Form):
    """Two forms put together by a set operation: "|", "&" or "-"."""

    operation: str
    first: Form
    second: Form

    def __str__(self) -> str:
        return f"{_bracketed(self.first)} {self.operation} {_bracketed(self.second)}"

    def distance(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        one, other = self.first.distance(points), self.second.distance(points)
        match self.operation:
            case "|":
                return np.asarray(np.minimum(one, other))
            case "&":
                return np.asarray(np.maximum(one, other))
        return np.asarray(np.maximum(one, -other))

    def figures(self) -> Iterator[Figure]:
        yield from self.first.figures()
        yield from self.second.figures()

    def taken(self) -> Iterator[Figure]:
        yield from self.first.taken()
        yield from self.second.figures() if self.operation == "-" else self.second.taken()


def called(form: Form) -> Iterator[tuple[str, Figure]]:
    """All figures with what they are called; of several of a kind without a name, each has a number."""
    figures = list(form.figures())
    nameless = [figure.kind for figure in figures if not figure.name]
    numbers: dict[str, int] = {}
    for figure in figures:
        name = figure.name or figure.kind
        if not figure.name and nameless.count(figure.kind) > 1 and name:
            numbers[name] = numbers.get(name, 0) + 1
            name = f"{name}.{numbers[name]}"
        yield name, figure


def in_brackets(name: str) -> str:
    """The name of a figure as the last argument that makes it; nothing where it has none."""
    return f", name={name!r}" if name else ""


def _bracketed(form: Form) -> str:
    return f"({form})" if isinstance(form, Combined) else str(form)
