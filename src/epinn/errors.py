"""What can go wrong in a way that the user can mend. Each message is one line that says what to do next.

Messages name settings and arguments as they are written in Python, `Base(epochs=...)`; the command line puts its own options in
their place (`app/plan/vocabulary.py`).
"""

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

FEW = 4  # numbers that a message can show one by one
MANY = 12  # names that it can show of a long list
LONGEST_LIST = 400  # characters that a list of all names may have
LONG = 200  # characters of something that a message tells
QUOTED = 60  # characters of a text or number of the user's that a message shows
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
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4) if isinstance(name, str) and len(name) <= LONG else []
    hint = f"did you mean {near[0]!r}?" if near else f"known: {_listed(known)}."
    return InputError(f"there is no {what} {shown(name)}; {hint}")


def _listed(names: Sequence[str]) -> str:
    """Names one after the other, as many as a line can show."""
    names = [name if len(name) <= QUOTED else f"{name[:QUOTED]}..." for name in names]
    most = len(names) if len(", ".join(names)) <= LONGEST_LIST else MANY
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "") or "none"


def one_line(error: BaseException) -> str:
    """What went wrong in a package that epinn uses, in one line that is not too long."""
    said = " ".join(str(error).split())
    return (said if len(said) <= LONG else f"{said[:LONG]}...") or type(error).__name__


def shown(value: Any) -> str:
    """A wrong value in a few words: numbers and short texts as they are, arrays by their shape, others by their type."""
    if value is None or isinstance(value, bool | int | float | complex | str):
        return _quoted(value)
    if isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype"):
        return f"an array of shape {value.shape}" if value.shape else _quoted(value.item())
    if isinstance(value, list | tuple) and len(value) <= FEW and all(isinstance(part, int | float | str) for part in value):
        return (
            f"{'[' if isinstance(value, list) else '('}{', '.join(map(shown, value))}{']' if isinstance(value, list) else ')'}"
        )
    size = f" of {len(value)}" if isinstance(value, list | tuple | dict | set) else ""
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}{size}"


def _quoted(value: Any) -> str:
    """A value as Python writes it, without its middle if it is long."""
    try:
        whole = " ".join(repr(value).split())
    except ValueError:  # a whole number of thousands of digits
        return "a number of thousands of digits"
    half = QUOTED // 2
    return whole if len(whole) <= QUOTED else f"{whole[:half]}...{whole[-half:]}"
