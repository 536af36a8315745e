"""Expressions as values: what an equation that was written as text consists of, and what it gives.

Trees of a few kinds of nodes, all hashable, so that the same text is the same static part of a compiled function. They are
evaluated with whatever their names stand for: quantities, which have derivatives, or plain arrays.
"""

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import jax
import jax.numpy as jnp

from .quantity import Quantity, applied

Known = Mapping[str, Any]

SYMBOLS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Function:
    """A function that formulas may use, of arrays and of plain numbers, which are in double precision."""

    of_arrays: Callable[..., Any]
    of_numbers: Callable[..., float]
    arguments: int = 1


FUNCTIONS: dict[str, Function] = {
    "sin": Function(jnp.sin, math.sin),
    "cos": Function(jnp.cos, math.cos),
    "tan": Function(jnp.tan, math.tan),
    "asin": Function(jnp.arcsin, math.asin),
    "acos": Function(jnp.arccos, math.acos),
    "atan": Function(jnp.arctan, math.atan),
    "sinh": Function(jnp.sinh, math.sinh),
    "cosh": Function(jnp.cosh, math.cosh),
    "tanh": Function(jnp.tanh, math.tanh),
    "exp": Function(jnp.exp, math.exp),
    "log": Function(jnp.log, math.log),
    "ln": Function(jnp.log, math.log),
    "log10": Function(jnp.log10, math.log10),
    "sqrt": Function(jnp.sqrt, math.sqrt),
    "abs": Function(jnp.abs, abs),
    "sign": Function(jnp.sign, lambda number: float((number > 0) - (number < 0))),
    "erf": Function(jax.scipy.special.erf, math.erf),
    "min": Function(jnp.minimum, min, arguments=2),
    "max": Function(jnp.maximum, max, arguments=2),
}


class Expression(ABC):
    """A number at a point, once the names in it are known."""

    @abstractmethod
    def value(self, known: Known) -> Any:
        """What it gives where the names stand for these."""

    @property
    @abstractmethod
    def parts(self) -> "tuple[Expression, ...]":
        """The expressions that it is made of."""

    def every(self) -> "Iterator[Expression]":
        """This one and all inside it."""
        yield self
        for part in self.parts:
            yield from part.every()

    def names(self) -> tuple[str, ...]:
        """The names in it, each once, in the order of the text."""
        return tuple(dict.fromkeys(one.name for one in self.every() if isinstance(one, Name)))

    def differentiated(self) -> tuple[str, ...]:
        """The names whose own derivatives are asked for, `u` of `u.xx`."""
        found = [one.of for one in self.every() if isinstance(one, Derivative)]
        return tuple(dict.fromkeys(of.name for of in found if isinstance(of, Name)))


@final
@dataclass(frozen=True)
class Number(Expression):
    """A number, or a constant that was given a name."""

    number: float

    def value(self, known: Known) -> float:
        return self.number

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()


@final
@dataclass(frozen=True)
class Name(Expression):
    """A field, a coordinate or an unknown."""

    name: str

    def value(self, known: Known) -> Any:
        return known[self.name]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()


@final
@dataclass(frozen=True)
class Derivative(Expression):
    """A partial derivative: `u.xx`, `(K * h.x).x`."""

    of: Expression
    along: tuple[str, ...]

    def value(self, known: Known) -> Any:
        found = self.of.value(known)
        if not isinstance(found, Quantity):  # coordinates and unknowns alone: an operator then hands them over as quantities
            raise AttributeError(name="".join(self.along), obj=found)
        return found.diff(*self.along)

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.of,)


@final
@dataclass(frozen=True)
class Negative(Expression):
    """`-u`."""

    of: Expression

    def value(self, known: Known) -> Any:
        return applied(operator.neg, self.of.value(known))

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.of,)


@final
@dataclass(frozen=True)
class Arithmetic(Expression):
    """`u * u.x`."""

    symbol: str
    left: Expression
    right: Expression

    def value(self, known: Known) -> Any:
        left, right = self.left.value(known), self.right.value(known)
        if self.symbol == "**" and isinstance(self.right, Number) and self.right.number.is_integer():
            right = int(self.right.number)  # whole powers are products, whose derivatives exist at zero and below it
        return applied(SYMBOLS[self.symbol], left, right)

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.left, self.right)


@final
@dataclass(frozen=True)
class Call(Expression):
    """`sin(x)`."""

    function: str
    arguments: tuple[Expression, ...]

    def value(self, known: Known) -> Any:
        return applied(FUNCTIONS[self.function].of_arrays, *(argument.value(known) for argument in self.arguments))

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments


@final
@dataclass(frozen=True)
class Comparison(Expression):
    """`x < 400`, which is true or false."""

    symbol: str
    left: Expression
    right: Expression

    def value(self, known: Known) -> Any:
        return applied(COMPARISONS[self.symbol], self.left.value(known), self.right.value(known))

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.left, self.right)


@final
@dataclass(frozen=True)
class Both(Expression):
    """Several comparisons: all of them, or `any` of them."""

    comparisons: tuple[Expression, ...]
    any: bool = False

    def value(self, known: Known) -> Any:
        combine = jnp.logical_or if self.any else jnp.logical_and
        found, *others = (one.value(known) for one in self.comparisons)
        for other in others:
            found = applied(combine, found, other)
        return found

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.comparisons


@final
@dataclass(frozen=True)
class Choice(Expression):
    """`where(x < 400, 10, 1.2)`."""

    condition: Expression
    then: Expression
    otherwise: Expression

    def value(self, known: Known) -> Any:
        return applied(jnp.where, *(part.value(known) for part in self.parts))

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.condition, self.then, self.otherwise)
