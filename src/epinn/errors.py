"""What can go wrong in a way that the user can mend. Each message is one line that says what to do next.

Messages name settings and arguments as they are written in Python, `Base(epochs=...)`; the command line puts its own options in
their place (`app/plan/vocabulary.py`).
"""

import difflib
import reprlib
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

FEW = 4  # numbers that a message can show one by one
OWN = ("epinn", "jaxtyping", "beartype")  # packages whose lines a warning is not about: ours, and those that check its types


class EpinnError(Exception):
    """A failure with a message for the user; the command line prints it without a traceback."""


class InputError(EpinnError, ValueError):
    """A mistake in what was asked: an unknown name, a wrong shape, a value that makes no sense."""


class Diverged(EpinnError, ArithmeticError):
    """Training or sampling left the finite numbers."""


class EpinnWarning(UserWarning):
    """Something that makes a result less trustworthy: a fit that is no solution, chains that have not mixed, lost readings."""


def warn(messages: Sequence[str]) -> None:
    """Every message as a Python warning, at the line of the user's that called epinn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OWN:
        frame, level = frame.f_back, level + 1
    for text in messages:
        warnings.warn(text, EpinnWarning, stacklevel=level)


def unknown_name(what: str, name: str, known: Iterable[str]) -> InputError:
    """An error for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}."
    return InputError(f"there is no {what} {name!r}; {hint}")


def shown(value: Any) -> str:
    """A wrong value in a few words: numbers and short texts as they are, arrays by their shape, others by their type."""
    if value is None or isinstance(value, bool | int | float | complex | str):
        return reprlib.repr(value)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"an array of shape {tuple(value.shape)}" if value.shape else reprlib.repr(value.item())
    if isinstance(value, list | tuple) and len(value) <= FEW and all(isinstance(part, int | float | str) for part in value):
        return repr(value)
    size = f" of {len(value)}" if isinstance(value, list | tuple | dict | set) else ""
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}{size}"
