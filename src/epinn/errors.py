"""What can go wrong in a way that the user can mend. Each message is one line that says what to do next.

A message names a setting or an argument in braces, `{base.epochs}`, `{hmc.step_size=1e-4}` or `{seed}`, wherever the place that
it appears in has a way of its own to write it: `in_python` makes `Base(epochs=...)`, `HmcMethod(step_size=1e-4)` and `key` of
these, `on_command_line` makes `--set base.epochs=...`, `--set hmc.step_size=1e-4` and `--seed`.
"""

import difflib
import re
from collections.abc import Iterable

_NAMED = re.compile(r"\{(?:([a-z]+)\.)?([a-z_]+)(?:=([^{}]*))?\}")
_IN_PYTHON = {  # where Python has another way to say it
    "seed": "key",
    "compute.memory": "epinn.limited_to({})",
    "points.held_out": "problem.holding_out({}, key=0)",
    "predict.draws": "draws={}",
}


class EpinnError(Exception):
    """A failure with a message for the user; the command line prints it without a traceback."""

    @property
    def message(self) -> str:
        """As it was raised, with names in braces."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return in_python(self.message)


class InputError(EpinnError, ValueError):
    """A mistake in what was asked: an unknown name, a wrong shape, a value that makes no sense."""


class Diverged(EpinnError, ArithmeticError):
    """Training or sampling left the finite numbers."""


class EpinnWarning(UserWarning):
    """Something that makes a result less trustworthy: a fit that is no solution, chains that have not mixed."""


def in_python(message: str) -> str:
    """The message for whoever called a function."""

    def written(match: re.Match[str]) -> str:
        group, name, text = match.groups()
        value = {None: "...", "true": "True", "false": "False"}.get(text, text)
        if (known := _IN_PYTHON.get(f"{group}.{name}" if group else name)) is not None:
            return known.format(value)
        if group is None:
            return name + ("" if text is None else f"={value}")
        return f"{group.capitalize()}{'' if group in ('base', 'points', 'weights') else 'Method'}({name}={value})"

    return _NAMED.sub(written, message)


def on_command_line(message: str) -> str:
    """The message for whoever typed a command."""

    def written(match: re.Match[str]) -> str:
        group, name, value = match.groups()
        if group is None:
            return f"--{name.replace('_', '-')}" + ("" if value is None else f" {value}")
        return f"--set {group}.{name}={'...' if value is None else value}"

    return _NAMED.sub(written, message)


def unknown_name(what: str, name: str, known: Iterable[str]) -> InputError:
    """An error for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}."
    return InputError(f"there is no {what} {name!r}; {hint}")
