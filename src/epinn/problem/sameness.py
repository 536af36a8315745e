"""Equality by value of what problems are made of: numbers, arrays, conditions, and functions that do the same."""

import dataclasses
import functools
import inspect
import types
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from .problem import Problem

Pairs = frozenset[tuple[int, int]]  # identities of what is being compared further up, since functions may refer to themselves


def same_value(a: Any, b: Any, above: Pairs = frozenset()) -> bool:
    """Whether two values are equal: arrays number by number, dataclasses field by field, functions by what they do."""
    if a is b or (id(a), id(b)) in above:
        return True
    above |= {(id(a), id(b))}
    if callable(a) and callable(b) and not isinstance(a, type):
        return _same_callable(a, b, above)
    if _is_array(a) or _is_array(b):
        return _same_array(a, b)
    if type(a) is not type(b):
        return isinstance(a, int | float) and isinstance(b, int | float) and a == b
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same_value(x, y, above) for x, y in zip(a, b, strict=True))
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same_value(a[key], b[key], above) for key in a)
    if dataclasses.is_dataclass(a):
        return all(same_value(getattr(a, f.name), getattr(b, f.name), above) for f in dataclasses.fields(a))
    return bool(a == b)


def check_same_equations(problem: "Problem", other: "Problem") -> None:
    """Refuse to train two problems together unless they differ in numbers only."""
    if len(problem.conditions) != len(other.conditions):
        raise InputError("seeds that run together must have the same conditions.")
    for mine, its in zip(problem.conditions, other.conditions, strict=True):
        for part in ("operator", "target"):
            a, b = getattr(mine, part, None), getattr(its, part, None)
            if (callable(a) or callable(b)) and not same_value(a, b):
                raise InputError(
                    f"the function behind {mine.label!r} differs between seeds; seeds that run together may differ in data "
                    "and target values only, so put what differs there, or run the seeds one by one."
                )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | jax.Array)


def _same_array(a: Any, b: Any) -> bool:
    a, b = (jax.random.key_data(v) if _is_key(v) else v for v in (a, b))
    try:
        return np.array_equal(np.asarray(a), np.asarray(b))
    except (TypeError, ValueError):
        return False


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _same_callable(a: Any, b: Any, above: Pairs) -> bool:
    if inspect.isfunction(a) and inspect.isfunction(b):
        same_code = a.__code__ is b.__code__ or (a.__code__ == b.__code__ and _same_globals(a, b, above))
        return same_code and all(same_value(x, y, above) for x, y in zip(_captured(a), _captured(b), strict=True))
    if inspect.ismethod(a) and inspect.ismethod(b):
        return same_value(a.__func__, b.__func__, above) and same_value(a.__self__, b.__self__, above)
    if isinstance(a, functools.partial) and isinstance(b, functools.partial):
        return all(same_value(x, y, above) for x, y in ((a.func, b.func), (a.args, b.args), (a.keywords, b.keywords)))
    if type(a) is type(b) and dataclasses.is_dataclass(a):
        return all(same_value(getattr(a, f.name), getattr(b, f.name), above) for f in dataclasses.fields(a))
    return bool(a == b)


def _captured(function: types.FunctionType) -> list[Any]:
    """The values that a function has taken along from where it was made."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [*cells, function.__defaults__, function.__kwdefaults__]


def _same_globals(a: types.FunctionType, b: types.FunctionType, above: Pairs) -> bool:
    """Whether the global names in the code of two functions mean the same: the file of a problem may have been read twice."""
    if a.__globals__ is b.__globals__:
        return True
    names = [name for name in _names(a.__code__) if name in a.__globals__ or name in b.__globals__]
    return all(same_value(a.__globals__.get(name), b.__globals__.get(name), above) for name in names)


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that a function and the functions inside it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
