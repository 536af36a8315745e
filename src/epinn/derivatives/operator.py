"""Equations as people write them: `u.t + u * u.x - nu * u.xx`.

An operator is a plain function whose arguments are named after what it needs: fields (`u`), coordinates (`x`, `t`),
unknown parameters (`nu`), values given at the points, or `p`, the whole point, which has all but the fields as attributes. A
problem may use the name `p` for something of its own, a pressure say; the whole point is then `point`. A first call on
recording fields finds out which partial derivatives an operator asks for; they are then computed in one pass (`jet.py`).
What a field does in arithmetic is in `quantity.py`.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num

from ..errors import EpinnError, InputError, shown, unknown_name
from .jet import Jet, MultiIndex, lower_closure
from .quantity import Quantity, Read, Run, value_of
from .recurring import afresh, recurring


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
    """The whole point: coordinates, unknown parameters and given values by name; `used` gets the names that were asked for."""

    def __init__(self, values: Mapping[str, Any], used: set[str]):
        self._values, self._used = dict(values), used

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._values:
            raise unknown_name("coordinate, unknown or given value", name, self._values)
        self._used.add(name)
        return self._values[name]


class Operator(eqx.Module):
    """A function of fields and point, with the derivatives that it asks for found once, when it is made."""

    function: Callable[..., Any] = eqx.field(static=True)
    names: Names
    given: tuple[str, ...] = eqx.field(static=True)
    arguments: tuple[str, ...] = eqx.field(static=True)
    positional: int = eqx.field(static=True)  # how many of the arguments, as the first ones, have no name for the caller
    bare: bool = eqx.field(static=True)  # whether coordinates and unknowns are handed over as plain arrays
    orders: tuple[MultiIndex, ...] = eqx.field(static=True)
    asked: frozenset[tuple[str, MultiIndex]] = eqx.field(static=True)  # fields and their derivatives that stand in the function
    used: frozenset[str] = eqx.field(static=True)  # names that stand in the function, as arguments or behind the whole point
    kinds: frozenset[str] = eqx.field(static=True)  # of what it returns: NumPy's letters, "f" for real numbers, "b" for truths
    fluxes: tuple[str, ...] = eqx.field(static=True)  # along which coordinates expressions are differentiated, one by one
    size: int = eqx.field(static=True)
    flux: int | None = eqx.field(static=True)  # the expression that is meant instead of the whole: K * h.x of (K * h.x).x

    def __init__(self, function: Any, names: Names, given: tuple[str, ...] = (), flux: int | None = None):
        self.function, self.names, self.given, self.flux = recurring(function), names, given, flux
        scalars = (*names.coordinates, *names.unknowns, *given)
        self.arguments, self.positional = _arguments(function, {*names.fields, *scalars, *POINT})
        try:
            self.bare = True
            self._record(scalars)
        except AttributeError:  # an array in front of a field's derivative has made a plain array of their product
            self.bare = False
            with _explained(function, names):
                self._record(scalars)
        if "c" in self.kinds:
            raise InputError(
                f"{_describe(function)} gives complex numbers; make two fields of the real and the imaginary part, with an "
                "equation for each."
            )

    def _record(self, scalars: tuple[str, ...]) -> None:
        """Find out which derivatives the function asks for, by calling it."""
        requests: set[MultiIndex] = {(0,) * len(self.names.coordinates)}
        along: list[str] = []
        asked: set[tuple[str, MultiIndex]] = set()
        used, kinds = set(self.arguments) - set(POINT), set[str]()

        def record(dummy: Array) -> Array:
            def read(field: str, order: MultiIndex) -> Array:
                requests.add(order)
                return dummy

            run = self._run(read, dict.fromkeys(scalars, dummy))
            rows = self._rows(run)
            along.extend(run.differentiated)
            asked.update(run.asked)
            used.update(run.used)
            kinds.update(run.kinds)
            return rows

        with _explained(self.function, self.names, but=AttributeError if self.bare else None):
            self.size = jax.eval_shape(record, jnp.zeros(())).shape[0]
        self.orders, self.fluxes, self.asked = lower_closure(requests), tuple(along), frozenset(asked)
        self.used, self.kinds = frozenset(used), frozenset(kinds)

    def __call__(
        self, jet: Jet, x: Float[Array, " d"], unknowns: Mapping[str, Array], given: Mapping[str, Array]
    ) -> Num[Array, " size"]:
        """The operator at one point, from the jet of all fields there."""
        parts, columns = jet.parts(), {name: i for i, name in enumerate(self.names.fields)}
        scalars = dict(zip(self.names.coordinates, x, strict=True)) | dict(unknowns) | dict(given)
        return self._rows(self._run(lambda field, order: parts[order][columns[field]], scalars))

    def _run(self, read: Read, scalars: Mapping[str, Array]) -> Run:
        return Run(self._called, read, scalars, self.names.coordinates, target=self.flux, bare=self.bare)

    def _rows(self, run: Run) -> Array:
        return jnp.atleast_1d(run() if self.flux is None else run.reached())

    def _called(self, run: Run) -> Array:
        """What the function returns in a run, as one row of numbers."""
        fields = {name: run.field(name, (0,) * len(run.coordinates)) for name in self.names.fields}
        known = {**dict.fromkeys(POINT, Point(run.scalars, run.used)), **run.scalars, **fields}
        positional = [known[name] for name in self.arguments[: self.positional]]
        result = afresh(self.function)(*positional, **{name: known[name] for name in self.arguments[self.positional :]})
        rows = result if isinstance(result, tuple | list) else [result]
        try:
            arrays = [jnp.atleast_1d(jnp.asarray(value_of(row))) for row in rows]
            run.kinds |= {array.dtype.kind for array in arrays}
            return jnp.concatenate(arrays)
        except TypeError:
            raise InputError(f"{_describe(self.function)} must return a number or a tuple of numbers.") from None


@contextmanager
def _explained(function: Callable[..., Any], names: Names, but: type[Exception] | None = None) -> Iterator[None]:
    """Whatever goes wrong in a user's function becomes one line; `but` what is tried another way."""
    try:
        yield
    except EpinnError:
        raise
    except jax.errors.TracerBoolConversionError:
        raise InputError(f"{_describe(function)} branches on a value; use jax.numpy.where instead of if.") from None
    except Exception as error:
        if but is not None and isinstance(error, but):
            raise
        raise InputError(f"{_describe(function)} {_reason(error, names)}") from None


def _reason(error: Exception, names: Names) -> str:
    """Why a user's function has failed, and what to write instead."""
    said = (str(error).strip().splitlines() or [""])[0]
    if isinstance(error, jax.errors.TracerArrayConversionError) or "ufunc" in said:
        return "uses numpy where jax.numpy is needed: jnp.exp instead of np.exp, jax.scipy instead of scipy."
    is_early = isinstance(error, jax.errors.ConcretizationTypeError | jax.errors.TracerIntegerConversionError)
    if is_early or (isinstance(error, TypeError) and "real number, not" in said and Quantity.__name__ in said):
        return "asks for a value before there is one, as math.sin and float do; use jax.numpy: jnp.sin instead of math.sin."
    missing = getattr(error, "name", None)
    if isinstance(error, AttributeError) and missing and set(missing) <= set("".join(names.coordinates)):
        u, x = (*names.fields, "u")[0], names.coordinates[0]
        return (
            f"asks an array for its derivative .{missing}; put a field in front of it: ({u}.{x} * k).{missing} instead of "
            f"(k * {u}.{x}).{missing}, (0 * {u} + jnp.exp({u})).{missing} instead of jnp.exp({u}).{missing}."
        )
    return f"failed: {type(error).__name__}: {said}"


def at_points(function: Callable[..., Any], coordinates: tuple[str, ...], points: Float[Array, "n d"]) -> Num[Array, "n k"]:
    """A known function of the coordinates (by name, or of `p`, the whole point), one row per point."""
    return _at_points(Operator(function, Names(fields=(), coordinates=coordinates)), points)


@eqx.filter_jit
def _at_points(operator: Operator, points: Float[Array, "n d"]) -> Num[Array, "n k"]:
    nothing = Jet(jnp.zeros((1, 0)), ((0,) * points.shape[1],))
    return jax.vmap(lambda x: operator(nothing, x, {}, {}))(points)


def wanted(function: Any) -> list[inspect.Parameter]:
    """The arguments that a function asks for."""
    if not callable(function):
        raise InputError(f"an operator must be a function of fields and coordinates, not {shown(function)}.")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some that are written in C
        raise InputError(
            f"{_describe(function)} does not say what its arguments are; put it into a function that does."
        ) from None
    parameters = [p for p in signature.parameters.values() if p.default is p.empty]
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _arguments(function: Any, known: set[str]) -> tuple[tuple[str, ...], int]:
    """The names that a function asks for, and how many of them can only be given by position."""
    found = wanted(function)
    for parameter in found:
        if parameter.name not in known:
            what = f"argument for {_describe(function)}: field, coordinate, unknown or given value"
            raise unknown_name(what, parameter.name, known)
    return tuple(p.name for p in found), sum(p.kind is p.POSITIONAL_ONLY for p in found)


def _describe(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    where = f" (line {code.co_firstlineno} of {code.co_filename})" if code else ""
    return f"the operator {getattr(function, '__name__', shown(function))}{where}"
