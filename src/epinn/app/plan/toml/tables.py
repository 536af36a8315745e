"""Tables of a TOML file, read key by key: what has the wrong type, and what nobody asked for, is refused by its place."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ....derivatives.expression import Expression
from ....derivatives.formula import read_number
from ....derivatives.parsing import HIGHEST_ORDER
from ....errors import InputError, shown, unknown_name

T = TypeVar("T")
MOST = 10_000_000  # of anything that is counted


@contextlib.contextmanager
def at(place: str) -> Iterator[None]:
    """Mistakes inside are told with their place."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


class Table:
    """A table whose keys are taken one by one; `end` refuses those that are left."""

    def __init__(self, content: Any, place: str, constants: Mapping[str, Expression] | None = None):
        self.place, self.constants = place, constants or {}
        if not isinstance(content, Mapping):
            self.fail(f"this must be a table of names and values, not {shown(content)}")
        self._left: dict[str, Any] = dict(content)
        self._asked: set[str] = set()

    def fail(self, reason: str) -> Any:
        raise InputError(f"{self.place}: {reason}.")

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str, read: Callable[[Any], T] | None = None, default: Any = None) -> Any:
        """The value of a key, read; the default where it is missing."""
        self._asked.add(key)
        if key not in self._left:
            return default
        value = self._left.pop(key)
        if read is None:
            return value
        with at(f"{self.place}, {key}"):
            return read(value)

    def need(self, key: str, read: Callable[[Any], T], example: str) -> T:
        """The value of a key that must be there."""
        if key not in self._left:
            self._asked.add(key)
            near = [other for other in self._left if other not in self._asked]
            self.fail(f"{key} is missing, as in {key} = {example}" + (f" (there is {near[0]!r})" if near else ""))
        found: T = self.take(key, read)
        return found

    def number(self, value: Any) -> float:
        """A finite number, or text that gives one: "2 * pi"."""
        return as_number(value, self.constants)

    def end(self) -> None:
        """Refuse what is left."""
        for key in self._left:
            with at(self.place):
                raise unknown_name("key", key, self._asked)


def as_number(value: Any, constants: Mapping[str, Expression]) -> float:
    """A finite number, or text that gives one."""
    if isinstance(value, str):
        return read_number(value, constants)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise InputError(f"this must be a finite number, not {shown(value)}.")
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floating-point ones
        return False


def whole(value: Any, most: int = MOST) -> int:
    """A whole number that is not absurd."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise InputError(f"this must be a whole number up to {most}, not {shown(value)}.")
    return value


def order(value: Any) -> int:
    """The order of a derivative."""
    return whole(value, HIGHEST_ORDER)


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"this must be text in quotes, not {shown(value)}.")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"this must be true or false, not {shown(value)}.")
    return value


def names(value: Any) -> list[str]:
    """One name, or a list of them."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
        raise InputError(f'this must be a name, or a list of names as in ["x", "t"], not {shown(value)}.')
    return found


def tables(value: Any, kind: str, place: str) -> list[tuple[str, Any]]:
    """All tables of a kind, `[[data]]`, each with its place; one alone needs no list."""
    listed = value if isinstance(value, list) else [value]
    where = f"{place}, [[{kind}]]"
    return [(f"{where} {number}" if len(listed) > 1 else where, one) for number, one in enumerate(listed, 1)]
