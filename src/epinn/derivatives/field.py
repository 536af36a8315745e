"""Equations as people write them: `u.t + u * u.x - nu * u.xx`.

An operator is a plain function whose arguments are named after what it needs: fields (`u`), coordinates (`x`, `t`),
unknown parameters (`nu`), values given at the points, or `p`, the whole point, which has all but the fields as attributes. A
problem may use the name `p` for something of its own, a pressure say; the whole point is then `point`. A first call on
recording fields finds out which partial derivatives an operator asks for; they are then computed in one pass (`jet.py`).
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Num

from ..errors import EpinnError, InputError, shown, unknown_name
from .jet import Jet, MultiIndex, lower_closure


@jax.tree_util.register_pytree_node_class
class Field:
    """One field at one point: itself in arithmetic, its partial derivatives as attributes (`u.x`, `u.xt`, `u.xx`).

    Being a pytree with `__jax_array__` lets it stand wherever `jax.numpy` expects an array, `jnp.tanh(u)` included.
    """

    def __init__(self, name: str, coordinates: tuple[str, ...], value: Array, read: Callable[[MultiIndex], Array]):
        self._name, self._coordinates, self._value, self._read = name, coordinates, value, read

    def __getattr__(self, letters: str) -> Array:
        if letters.startswith("_"):
            raise AttributeError(letters)
        return self.diff(*_split(letters, self._coordinates, self._name))

    def diff(self, *coordinates: str) -> Array:
        """The partial derivative along the named coordinates: `u.diff("x", "t")` is `u.xt`."""
        for name in coordinates:
            if name not in self._coordinates:
                raise unknown_name("coordinate", name, self._coordinates)
        return self._read(tuple(coordinates.count(name) for name in self._coordinates))

    def __jax_array__(self) -> Array:
        return self._value

    def tree_flatten(self) -> tuple[tuple[Array], tuple[str, tuple[str, ...]]]:
        return (self._value,), (self._name, self._coordinates)

    @classmethod
    def tree_unflatten(cls, static: tuple[str, tuple[str, ...]], children: tuple[Any]) -> Any:
        return children[0]  # inside compiled functions a field is its value

    __array_priority__ = 1000  # numpy scalars on the left must leave the operation to us

    def __add__(self, other: Any) -> Array:
        return self._value + _value(other)

    def __sub__(self, other: Any) -> Array:
        return self._value - _value(other)

    def __rsub__(self, other: Any) -> Array:
        return self._value.__rsub__(_value(other))

    def __mul__(self, other: Any) -> Array:
        return self._value * _value(other)

    def __truediv__(self, other: Any) -> Array:
        return self._value / _value(other)

    def __rtruediv__(self, other: Any) -> Array:
        return self._value.__rtruediv__(_value(other))

    def __pow__(self, other: Any) -> Array:
        return self._value ** _value(other)

    def __rpow__(self, other: Any) -> Array:
        return self._value.__rpow__(_value(other))

    def __neg__(self) -> Array:
        return -self._value

    def __abs__(self) -> Array:
        return abs(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)  # in a traced operator this raises, and the user is told to use where

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]  # elementwise, as arrays compare
        return self._value == _value(other)

    def __ne__(self, other: Any) -> Array:  # type: ignore[override]  # elementwise, as arrays compare
        return self._value != _value(other)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Array:
        return self._value < _value(other)

    def __le__(self, other: Any) -> Array:
        return self._value <= _value(other)

    def __gt__(self, other: Any) -> Array:
        return self._value > _value(other)

    def __ge__(self, other: Any) -> Array:
        return self._value >= _value(other)

    __radd__, __rmul__ = __add__, __mul__


def _value(other: Any) -> ArrayLike:
    value: ArrayLike = other._value if isinstance(other, Field) else other
    return value


class Names(eqx.Module):
    """The vocabulary of a problem: what an operator may ask for."""

    fields: tuple[str, ...] = eqx.field(static=True)
    coordinates: tuple[str, ...] = eqx.field(static=True)
    unknowns: tuple[str, ...] = eqx.field(static=True, default=())
    positive: tuple[str, ...] = eqx.field(static=True, default=())

    @property
    def positive_columns(self) -> tuple[int, ...]:
        """The places of the positive fields among all fields."""
        return tuple(self.fields.index(name) for name in self.positive)


POINT = ("p", "point")  # what an operator may call the whole point, unless the problem uses the name otherwise


class Point:
    """The whole point: coordinates, unknown parameters and given values by name."""

    def __init__(self, values: Mapping[str, Array]):
        self._values = dict(values)

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._values:
            raise unknown_name("coordinate, unknown or given value", name, self._values)
        return self._values[name]


class Operator(eqx.Module):
    """A function of fields and point, with the derivatives that it asks for found once, when it is made."""

    function: Callable[..., Any] = eqx.field(static=True)
    names: Names
    given: tuple[str, ...] = eqx.field(static=True)
    arguments: tuple[str, ...] = eqx.field(static=True)
    positional: int = eqx.field(static=True)  # how many of the arguments, as the first ones, have no name for the caller
    orders: tuple[MultiIndex, ...] = eqx.field(static=True)
    size: int = eqx.field(static=True)

    def __init__(self, function: Any, names: Names, given: tuple[str, ...] = ()):
        self.function, self.names, self.given = function, names, given
        scalars = (*names.coordinates, *names.unknowns, *given)
        self.arguments, self.positional = _arguments(function, {*names.fields, *scalars, *POINT})
        requests: set[MultiIndex] = {(0,) * len(names.coordinates)}

        def record(dummy: Array) -> Array:
            def read(order: MultiIndex) -> Array:
                requests.add(order)
                return dummy

            fields = {name: Field(name, names.coordinates, dummy, read) for name in names.fields}
            return self._call(fields, dict.fromkeys(scalars, dummy))

        try:
            self.size = jax.eval_shape(record, jnp.zeros(())).shape[0]
        except jax.errors.TracerBoolConversionError:
            raise InputError(f"{_describe(function)} branches on a value; use jax.numpy.where instead of if.") from None
        except EpinnError:
            raise
        except Exception as error:
            if isinstance(error, jax.errors.TracerArrayConversionError) or "ufunc" in str(error):
                raise InputError(f"{_describe(function)} uses numpy on a field; use jax.numpy instead.") from None
            reason = (str(error).strip().splitlines() or [""])[0]
            raise InputError(f"{_describe(function)} failed: {type(error).__name__}: {reason}") from None
        self.orders = lower_closure(requests)

    def __call__(
        self, jet: Jet, x: Float[Array, " d"], unknowns: Mapping[str, Array], given: Mapping[str, Array]
    ) -> Num[Array, " size"]:
        """The operator at one point, from the jet of all fields there."""
        parts = jet.parts()
        value = parts[jet.orders[0]]
        fields = {
            name: Field(name, self.names.coordinates, value[i], lambda order, i=i: parts[order][i])  # type: ignore[misc]
            for i, name in enumerate(self.names.fields)
        }
        scalars = dict(zip(self.names.coordinates, x, strict=True)) | dict(unknowns) | dict(given)
        return self._call(fields, scalars)

    def _call(self, fields: Mapping[str, Field], scalars: Mapping[str, Array]) -> Array:
        known = {**dict.fromkeys(POINT, Point(scalars)), **scalars, **fields}
        positional = [known[name] for name in self.arguments[: self.positional]]
        result = self.function(*positional, **{name: known[name] for name in self.arguments[self.positional :]})
        rows = result if isinstance(result, tuple | list) else [result]
        try:
            return jnp.concatenate([jnp.atleast_1d(jnp.asarray(_value(row))) for row in rows])
        except TypeError:
            raise InputError(f"{_describe(self.function)} must return a number or a tuple of numbers.") from None


def at_points(function: Callable[..., Any], coordinates: tuple[str, ...], points: Float[Array, "n d"]) -> Num[Array, "n k"]:
    """A known function of the coordinates (by name, or of `p`, the whole point), one row per point."""
    return _at_points(Operator(function, Names(fields=(), coordinates=coordinates)), points)


@eqx.filter_jit
def _at_points(operator: Operator, points: Float[Array, "n d"]) -> Num[Array, "n k"]:
    nothing = Jet(jnp.zeros((1, 0)), ((0,) * points.shape[1],))
    return jax.vmap(lambda x: operator(nothing, x, {}, {}))(points)


def _arguments(function: Any, known: set[str]) -> tuple[tuple[str, ...], int]:
    """The names that a function asks for, and how many of them can only be given by position."""
    if not callable(function):
        raise InputError(f"an operator must be a function of fields and coordinates, not {shown(function)}.")
    parameters = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    wanted = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for parameter in wanted:
        if parameter.name not in known:
            what = f"argument for {_describe(function)}: field, coordinate, unknown or given value"
            raise unknown_name(what, parameter.name, known)
    return tuple(p.name for p in wanted), sum(p.kind is p.POSITIONAL_ONLY for p in wanted)


def _describe(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    where = f" (line {code.co_firstlineno} of {code.co_filename})" if code else ""
    return f"the operator {getattr(function, '__name__', shown(function))}{where}"


def _split(letters: str, coordinates: tuple[str, ...], field: str) -> list[str]:
    """`xxt` as coordinates; longer names are matched first."""
    rest, parts = letters, []
    while rest:
        part = next((c for c in sorted(coordinates, key=len, reverse=True) if rest.startswith(c)), None)
        if part is None:
            raise InputError(
                f"{field}.{letters} asks for a derivative along {rest[0]!r}, but the coordinates are "
                f"{', '.join(coordinates)}; use those letters, as in {field}.{coordinates[0] * 2}."
            )
        parts.append(part)
        rest = rest[len(part) :]
    return parts
