"""What a user passes where a number, a name or a text is meant: checked where it is given, and refused in one line."""

import math
import operator
from typing import Any

import numpy as np

from .errors import InputError, shown


def is_number(value: Any) -> bool:
    """Whether a value is one finite real number, of Python, NumPy or JAX."""
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    if isinstance(value, str | bytes | bool) or getattr(value, "ndim", 0) != 0 or kind not in "iuf" or np.ma.is_masked(value):
        return False
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def number(value: Any, what: str, *, positive: bool = False) -> None:
    """Refuse what is no finite number; `what` names it."""
    if not is_number(value) or (positive and not value > 0):
        raise InputError(f"{what} must be a {'positive' if positive else 'finite'} number, not {shown(value)}.")


def is_whole(value: Any, least: int = 0) -> bool:
    """Whether a value is a whole number, and not less than that."""
    if not is_number(value):
        return False
    try:
        return operator.index(value) >= least
    except TypeError:
        return False


def whole(value: Any, what: str, least: int = 0, most: float = math.inf) -> None:
    """Refuse what is no whole number, or less or more than it may be."""
    if not is_whole(value, least) or value > most:
        between = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise InputError(f"{what} must be a whole number {between}, not {shown(value)}.")


def text(value: Any, what: str, example: str) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a text such as {example!r}, not {shown(value)}.")


def names(value: Any, what: str, example: str) -> tuple[str, ...]:
    """Names of things that equations ask for: one, or several."""
    try:
        found = (value,) if isinstance(value, str) else tuple(value)
    except TypeError:
        found = (None,)
    if not all(isinstance(name, str) and name.isidentifier() for name in found):
        raise InputError(f"{what} must be names, as in {example}, not {shown(value)}.")
    return found
