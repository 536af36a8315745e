"""Functions that do the same as an earlier one, so that a problem that is written in a loop is compiled once, not each time.

Python makes a new function object each time that a `lambda` is reached, and JAX would compile each of them anew and keep it.
A function is known again by its code and by the values that it takes from around it, if all of these are numbers, texts,
arrays, functions of that kind, or parts of NumPy and JAX. What is used is a copy that has taken these values along: later
changes to them make another function.
"""

import builtins
import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np

KEPT = 256  # functions that are remembered
DEEPEST = 8  # functions that functions use
LARGEST = 1_000_000  # bytes of an array by which a function is known again
PACKAGES = ("jax", "jaxlib", "numpy", "math", "builtins", "scipy", "epinn")  # whose parts stay what they are

_known: OrderedDict[Hashable, types.FunctionType] = OrderedDict()


class _Unclear(Exception):
    """A value may change, or cannot be compared."""


def recurring(function: Any) -> Any:
    """A function that does the same, if such a one was here before; otherwise, or where that is not clear, this one."""
    if not _is_users(function):
        return function
    try:
        recipe = _recipe(function, DEEPEST)
        found = _known.get(recipe) or _copy(function)
    except _Unclear:
        return function
    _known[recipe] = found
    _known.move_to_end(recipe)
    while len(_known) > KEPT:
        _known.popitem(last=False)
    return found


def _is_users(value: Any) -> bool:
    """Whether it is a function in Python, and not one of ours, of which there may be others with other values around them."""
    return type(value) is types.FunctionType and (value.__module__ or "").partition(".")[0] not in PACKAGES


def _recipe(value: Any, deeper: int) -> Hashable:
    """What tells a value from others."""
    if not deeper:
        raise _Unclear
    if value is None or isinstance(value, bool | int | str | bytes):
        return type(value), value
    if isinstance(value, float | complex):
        return type(value), repr(value)  # which tells -0.0 from 0.0, and knows NaN again
    if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.nbytes <= LARGEST:
        return "array", value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, tuple):
        return type(value), *(_recipe(part, deeper - 1) for part in value)
    if _is_users(value):
        if vars(value):  # of a decorator, which says there what it stands for
            raise _Unclear
        around = {name: _recipe(found, deeper - 1) for name, found in _around(value).items()}
        return value.__code__, value.__code__.co_filename, *around.items()
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    if (
        isinstance(name, str)
        and name.partition(".")[0] in PACKAGES
        and (callable(value) or isinstance(value, types.ModuleType))
    ):
        return "part of", id(value)  # the copy keeps it, so that nothing else can have its place
    raise _Unclear


def _around(function: types.FunctionType) -> dict[str, Any]:
    """Everything that a function takes from where it was made, by where it takes it from."""
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # not filled yet
        raise _Unclear from None
    return {
        "defaults": function.__defaults__,
        **{f"default {name}": value for name, value in (function.__kwdefaults__ or {}).items()},
        **{f"cell {i}": value for i, value in enumerate(cells)},
        **{f"global {name}": value for name, value in _globals(function).items()},
    }


def _globals(function: types.FunctionType) -> dict[str, Any]:
    names = dict.fromkeys(_names(function.__code__))
    return {name: function.__globals__[name] for name in names if name in function.__globals__}


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that a function and the functions inside it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _copy(function: types.FunctionType) -> types.FunctionType:
    """The same function with values that nobody can change any more."""

    def own(value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(own, value))
        return _copy(value) if _is_users(value) else value.copy() if type(value) is np.ndarray else value

    return _with(function, own)


def _with(function: types.FunctionType, own: Callable[[Any], Any]) -> types.FunctionType:
    """The same function with something else in the place of each value that it takes from around it."""
    cells = tuple(types.CellType(own(cell.cell_contents)) for cell in function.__closure__ or ())
    taken = {name: own(value) for name, value in _globals(function).items()}
    named = {"__name__": function.__module__, "__builtins__": builtins}
    made = types.FunctionType(function.__code__, taken | named, function.__name__, own(function.__defaults__), cells)
    made.__kwdefaults__ = function.__kwdefaults__ and {name: own(value) for name, value in function.__kwdefaults__.items()}
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made


def afresh(function: Any) -> Any:
    """The same function with copies of all NumPy arrays that it uses, for as long as it is traced once.

    JAX (0.10) knows an array again that it has seen, and then takes it for what it was made at first: for single precision
    where double precision is on by now, or the other way round, which ends in an error or in fewer digits.
    """
    return _Afresh().of(function)


class _Afresh:
    """Values with copies of their arrays; those without any are what they were."""

    def __init__(self) -> None:
        self._made = dict[int, Any]()

    def of(self, value: Any) -> Any:
        if id(value) not in self._made:
            self._made[id(value)] = value  # functions may use each other
            self._made[id(value)] = self._of(value)
        return self._made[id(value)]

    def _of(self, value: Any) -> Any:
        if type(value) is np.ndarray:
            return value.copy()
        if type(value) in (tuple, list):
            parts = [self.of(part) for part in value]
            return type(value)(parts) if self._differ(parts, value) else value
        if type(value) is dict:
            own = {name: self.of(part) for name, part in value.items()}
            return own if self._differ(own.values(), value.values()) else value
        if type(value) is functools.partial:
            whole = (value.func, value.args, value.keywords)
            function, arguments, named = map(self.of, whole)
            return (
                functools.partial(function, *arguments, **named) if self._differ((function, arguments, named), whole) else value
            )
        if _is_users(value):
            try:
                around = list(_around(value).values())
            except _Unclear:
                return value
            return _with(value, self.of) if self._differ(map(self.of, around), around) else value
        return value

    def _differ(self, made: Iterable[Any], before: Iterable[Any]) -> bool:
        return any(new is not old for new, old in zip(made, before, strict=True))
