"""From the units of a file to those of a problem, by pint: values with their offsets (degC to K), noise as a difference."""

import functools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import InputError, one_line, shown
from ..extras import optional

SINCE = re.compile(r"\s+since\s.*$")  # NetCDF's times, "minutes since 2024-05-01": the unit is that of the numbers
FAR = 1e3  # two values so far apart tell the factor between two units, whatever their offset
TAKEN = (("C", "coulomb", "degC"), ("F", "farad", "degF"))  # letters that people write for temperatures

Units = Mapping[str, str | tuple[str, str]]


def is_pair(entry: Any) -> bool:
    """Whether an entry of `units` says both units: from, to."""
    return isinstance(entry, tuple | list) and len(entry) == 2 and all(isinstance(part, str) for part in entry)


def asked(units: Units, names: tuple[str, ...], own: str | None, what: str) -> tuple[str, str] | None:
    """The unit that a column has and the one it shall have, if any is asked for under one of its names."""
    entries = [units[name] for name in names if name in units]
    if not entries:
        return None
    entry = entries[0]
    if is_pair(entry):
        return entry[0], entry[1]
    if not isinstance(entry, str):
        raise InputError(f"the unit of {what} is a text such as 'mm', or two of them, from and to; not {shown(entry)}.")
    if own is None:
        raise InputError(f"{what} does not say its unit; say both, units={{{names[0]!r}: ('mm', {entry!r})}} say.")
    return own, entry


def converted(values: Float[np.ndarray, "..."], own: str, wanted: str, what: str) -> Float[np.ndarray, "..."]:
    """Values in other units."""
    if own == wanted:
        return values
    source, target = _unit(own, what), _unit(wanted, what)
    pint = _pint()
    try:
        return np.asarray(_registry().Quantity(values, source).to(target).magnitude, float)
    except pint.PintError:
        kinds = [unit.dimensionality for unit in (source, target)]
        hint = "".join(
            f" {short!r} is a {meant}; temperatures are in {full!r}." for short, meant, full in TAKEN if short == own
        )
        raise InputError(
            f"{what} cannot be converted from {own!r} ({source}, {kinds[0]}) to {wanted!r} ({target}, {kinds[1]}).{hint}"
        ) from None


def factor(own: str, wanted: str, what: str) -> float:
    """What a difference, such as a standard deviation, is multiplied by."""
    if own == wanted:
        return 1.0
    low, middle, high = converted(np.asarray([-FAR, 0.0, FAR]), own, wanted, what)
    if not np.isclose(high - middle, middle - low, rtol=1e-6, atol=0):
        raise InputError(
            f"{what} cannot be converted from {own!r} to {wanted!r}: equal differences in one are unequal in the other."
        )
    return float((high - low) / (2 * FAR))


def is_unit(text: str) -> bool:
    """Whether pint knows a unit."""
    try:
        _unit(text, "")
    except InputError as error:
        if isinstance(error.__cause__, ImportError):  # it is pint that is missing
            raise
        return False
    return True


def _unit(text: str, what: str) -> Any:
    registry = _registry()
    try:
        return registry.parse_units(SINCE.sub("", text.strip()))
    except Exception as error:  # its parser raises whatever goes wrong in it first
        raise InputError(f"{what}: {shown(text)} is not a unit ({one_line(error)}).") from None


def _pint() -> Any:
    return optional("pint", "units", "data")


@functools.cache
def _registry() -> Any:
    return _pint().UnitRegistry()
