"""Fields in the arithmetic of an equation: `u.t + u * u.x - nu * u.xx`, and `(K * h.x).x`, the derivative of a product.

What a field's own derivatives are is known from a jet. The derivative of an expression is found by running the operator again
up to the expression, at a point that is displaced along the coordinate, and differentiating by the displacement: so whatever
`jax.numpy` does on the way is differentiated too.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from ..errors import InputError, unknown_name
from .jet import MultiIndex

LARGEST = 2**31 - 1  # whole number of an array by default

Read = Callable[[str, MultiIndex], Array]  # a field's derivative of some order, by the name of the field


@jax.tree_util.register_pytree_node_class
class Quantity:
    """One number at one point: itself in arithmetic, its partial derivatives as attributes (`u.x`, `u.xt`, `u.xx`).

    Being a pytree with `__jax_array__` lets it stand wherever `jax.numpy` expects an array, `jnp.tanh(u)` included. It is
    computed when it is needed, so that running an operator up to one expression costs nothing for the others.
    """

    def __init__(self, run: "Run", compute: Callable[[], Any], field: str | None = None, order: MultiIndex = ()):
        self._run, self._compute = run, compute
        self._field, self._order = field, order  # if it is a derivative of a field, which one

    @cached_property
    def _value(self) -> Array:
        return jnp.asarray(self._compute())

    def __getattr__(self, letters: str) -> "Quantity":
        if letters.startswith("_"):
            raise AttributeError(letters)
        named = self._field if self._field and not any(self._order) else "(...)"
        return self.diff(*split(letters, self._run.coordinates, named))

    def diff(self, *coordinates: str) -> "Quantity":
        """The partial derivative along the named coordinates: `u.diff("x", "t")` is `u.xt`."""
        found = self
        for name in coordinates:
            if name not in self._run.coordinates:
                raise unknown_name("coordinate", name, self._run.coordinates)
            found = found._slope(name)
        return found

    def _slope(self, along: str) -> "Quantity":
        if self._field is None:
            return self._run.derive(self, along)
        return self._run.field(self._field, _raised(self._order, self._run.coordinates.index(along)))

    def __jax_array__(self) -> Array:
        return self._value

    def tree_flatten(self) -> tuple[tuple[Array], None]:
        return (self._value,), None

    @classmethod
    def tree_unflatten(cls, static: None, children: tuple[Any]) -> Any:
        return children[0]  # inside compiled functions it is its value

    __array_priority__ = 1000  # numpy scalars on the left must leave the operation to us

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a numpy ufunc cannot be differentiated")

    def _with(self, compute: Callable[[], Any]) -> "Quantity":
        """An expression that has this quantity in it."""
        return Quantity(self._run, compute)

    def __add__(self, other: Any) -> "Quantity":
        return self._with(lambda: self._value + value_of(other))

    def __sub__(self, other: Any) -> "Quantity":
        return self._with(lambda: self._value - value_of(other))

    def __rsub__(self, other: Any) -> "Quantity":
        return self._with(lambda: value_of(other) - self._value)

    def __mul__(self, other: Any) -> "Quantity":
        return self._with(lambda: self._value * value_of(other))

    def __truediv__(self, other: Any) -> "Quantity":
        return self._with(lambda: self._value / value_of(other))

    def __rtruediv__(self, other: Any) -> "Quantity":
        return self._with(lambda: value_of(other) / self._value)

    def __pow__(self, other: Any) -> "Quantity":
        return self._with(lambda: self._value ** value_of(other))

    def __rpow__(self, other: Any) -> "Quantity":
        return self._with(lambda: value_of(other) ** self._value)

    def __neg__(self) -> "Quantity":
        return self._with(lambda: -self._value)

    def __pos__(self) -> "Quantity":
        return self

    def __abs__(self) -> "Quantity":
        return self._with(lambda: abs(self._value))

    def __bool__(self) -> bool:
        return bool(self._value)  # in a traced operator this raises, and the user is told to use where

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]  # elementwise, as arrays compare
        return self._value == value_of(other)

    def __ne__(self, other: Any) -> Array:  # type: ignore[override]  # elementwise, as arrays compare
        return self._value != value_of(other)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Array:
        return self._value < value_of(other)

    def __le__(self, other: Any) -> Array:
        return self._value <= value_of(other)

    def __gt__(self, other: Any) -> Array:
        return self._value > value_of(other)

    def __ge__(self, other: Any) -> Array:
        return self._value >= value_of(other)

    __radd__, __rmul__ = __add__, __mul__


class Reached(Exception):  # it is no error: it ends a run where there is no more to be learned from it
    """The expression that a run was made for."""

    def __init__(self, expression: Quantity):
        self.expression = expression


class Run:
    """One run of an operator's function at a point, `moved` along some coordinates by amounts that are to be differentiated by.

    With a `target` it ends at the expression whose derivative is asked for as number `target`, and raises it.
    """

    def __init__(
        self,
        function: Callable[["Run"], Any],
        read: Read,
        scalars: Mapping[str, Array],
        coordinates: tuple[str, ...],
        moved: tuple[tuple[str, Array], ...] = (),
        target: int | None = None,
        bare: bool = True,
    ):
        self.function, self.read, self.coordinates, self.moved, self.target = function, read, coordinates, moved, target
        self.unmoved, self.bare = scalars, bare
        self.differentiated: list[str] = []  # expressions so far, by the coordinate
        self.asked: set[tuple[str, MultiIndex]] = set()  # derivatives of fields that the operator itself has asked for
        self.used: set[str] = set()  # what it has asked the whole point for
        self.kinds: set[str] = set()  # of numbers that it has returned

    def __call__(self) -> Any:
        return self.function(self)

    def field(self, name: str, order: MultiIndex) -> Quantity:
        """A field's derivative of some order."""

        def compute() -> Array:
            self.asked.add((name, order))
            return self._moved(name, order, self.moved)

        return Quantity(self, compute, name, order)

    def _moved(self, name: str, order: MultiIndex, moved: tuple[tuple[str, Array], ...]) -> Array:
        """The same at the moved point: linear in every displacement, which is all that a derivative by it needs."""
        if not moved:
            return self.read(name, order)
        (along, by), rest = moved[0], moved[1:]
        further = _raised(order, self.coordinates.index(along))
        return self._moved(name, order, rest) + by * self._moved(name, further, rest)

    @property
    def scalars(self) -> dict[str, Any]:
        """Coordinates, unknowns and given values: bare arrays, or quantities, which can stand in front of a derivative."""
        found: dict[str, Any] = dict(self.unmoved)
        for name, by in self.moved:
            found[name] = found[name] + by
        if self.bare:
            return found
        return {name: Quantity(self, lambda value=value: value) for name, value in found.items()}  # type: ignore[misc]

    def derive(self, expression: Quantity, along: str) -> Quantity:
        """The derivative of an expression."""
        number = len(self.differentiated)
        self.differentiated.append(along)
        if number == self.target:
            raise Reached(expression)

        def up_to_it(by: Array) -> Array:
            again = Run(self.function, self.read, self.unmoved, self.coordinates, (*self.moved, (along, by)), number, self.bare)
            value = again.reached()
            self.asked |= again.asked
            return value

        def compute() -> Array:
            zero = jnp.zeros((), jnp.result_type(float))
            slope: Array = jax.jvp(up_to_it, (zero,), (jnp.ones_like(zero),))[1]
            return slope

        return Quantity(self, compute)

    def reached(self) -> Array:
        """The value of the expression that this run is made for."""
        try:
            self()
        except Reached as found:
            return found.expression._value
        raise InputError("an operator must ask for the same derivatives every time that it is called.")


def value_of(other: Any) -> ArrayLike:
    """The value of a quantity, or what is none as it is; a whole number that no array of them holds (`T**4 - 293**4`) as a real
    one."""
    if isinstance(other, Quantity):
        return other._value
    value: ArrayLike = float(other) if isinstance(other, int) and abs(other) > LARGEST else other
    return value


def applied(function: Callable[..., Any], *parts: Any) -> Any:
    """A function of quantities and numbers: a quantity again, which has derivatives, if any of them is one."""
    found = next((part for part in parts if isinstance(part, Quantity)), None)
    return function(*parts) if found is None else found._with(lambda: function(*map(value_of, parts)))


def _raised(order: MultiIndex, axis: int) -> MultiIndex:
    return (*order[:axis], order[axis] + 1, *order[axis + 1 :])


def split(letters: str, coordinates: tuple[str, ...], what: str) -> list[str]:
    """`xxt` as coordinates; longer names are matched first."""
    rest, parts = letters, []
    while rest:
        part = next((c for c in sorted(coordinates, key=len, reverse=True) if rest.startswith(c)), None)
        if part is None:
            raise InputError(
                f"{what}.{letters} asks for a derivative along {rest[0]!r}, but the coordinates are "
                f"{', '.join(coordinates)}; use those letters, as in {what}.{coordinates[0] * 2}."
            )
        parts.append(part)
        rest = rest[len(part) :]
    return parts
