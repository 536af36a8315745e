"""Measurements out of a table: points, values and noise, in the units of the problem."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from ..errors import InputError, shown, unknown_name
from .cells import as_numbers
from .read import read
from .table import Table, Wanted, listed
from .units import Units, asked, converted, factor, is_unit

Columns = Mapping[str, Float[np.ndarray, " n"]]


@dataclass(frozen=True, eq=False)
class Measurements:
    """Readings from a file: one row of `points` and one value each, where they stand, and notes for whoever uses them.

    Sigma is one per reading, or None if it is in no column.
    """

    coordinates: tuple[str, ...]
    points: Float[np.ndarray, "n d"]
    values: Float[np.ndarray, " n"]
    sigma: Float[np.ndarray, " n"] | None
    lines: Int[np.ndarray, " n"] | None
    notes: tuple[str, ...]


def read_measurements(
    file: Any,
    *,
    coordinates: Mapping[str, str] | Sequence[str],
    value: str,
    sigma: str | None = None,
    units: Units | None = None,
    sheet: str | None = None,
    keep_copies: bool = False,
) -> Measurements:
    """Measurements from a file with columns. `coordinates` are columns, or columns by the coordinates that they are."""
    by_coordinate, units = _by_coordinate(coordinates), units or {}
    wanted = Wanted(tuple(by_coordinate.values()), (value,) if sigma is None else (value, sigma))
    _check_columns(wanted)
    table = read(file, wanted, sheet)
    columns = as_numbers(table, wanted.names)
    if len({len(column) for column in columns.values()}) > 1:
        raise InputError(f"{table.path} is damaged: its columns differ in length; save it again.")
    _check_units(units, {*by_coordinate, *wanted.names})
    rows, notes = _rows_to_take(table, columns, keep_copies)
    columns = {name: column[rows] for name, column in columns.items()}
    points = [_coordinate(table, units, name, column, columns[column]) for name, column in by_coordinate.items()]
    lines = None if table.lines is None else table.lines[rows]
    ends = asked(units, (value,), table.unit(value), _what(table, value))
    values = columns[value] if ends is None else converted(columns[value], *ends, _what(table, value))
    noise = None
    if sigma is not None:
        _check_positive(columns[sigma], sigma, table, rows)
        own = table.unit(value)
        noise = columns[sigma] * _factor_of_noise(table, sigma, units.get(sigma), ends or (own, own), is_asked=ends is not None)
    return Measurements(tuple(by_coordinate), np.stack(points, axis=1), values, noise, lines, notes)


def _by_coordinate(coordinates: Any) -> dict[str, str]:
    if isinstance(coordinates, Mapping):
        by_coordinate = dict(coordinates)
    else:
        names = (coordinates,) if isinstance(coordinates, str) else coordinates
        by_coordinate = {name: name for name in names} if isinstance(names, tuple | list) else {}
    if not by_coordinate or not all(isinstance(part, str) for pair in by_coordinate.items() for part in pair):
        raise InputError(
            "coordinates= names columns, ('x', 't') say, or maps coordinates to columns, {'x': 'position'} say; "
            f"not {shown(coordinates)}."
        )
    return by_coordinate


def _check_columns(wanted: Wanted) -> None:
    if not all(isinstance(name, str) for name in wanted.others):
        raise InputError(f"value= is the name of a column, not {shown(wanted.others[0])}.")
    if len(set(wanted.names)) < len(wanted.names):
        raise InputError(f"one column is asked for twice: {', '.join(wanted.names)}.")


def _check_units(units: Any, known: set[str]) -> None:
    if not isinstance(units, Mapping):
        raise InputError(f"units= maps names to units, {{'x': 'mm'}} say; not {shown(units)}.")
    for name in units:
        if name not in known:
            raise InputError(f"units: {unknown_name('coordinate or column', str(name), known)}")


def _rows_to_take(table: Table, columns: Columns, keep_copies: bool) -> tuple[Bool[np.ndarray, " n"], tuple[str, ...]]:
    """Rows in which nothing is missing, each once, and notes that say which were left out."""
    notes = []
    whole = np.all([np.isfinite(column) for column in columns.values()], axis=0)
    if not whole.all():
        empty = " or ".join(repr(name) for name, column in columns.items() if not np.isfinite(column).all())
        notes.append(
            f"{table.path.name}: {np.sum(~whole)} of {len(table)} rows are left out, since {empty} is missing "
            f"there{_where(table, ~whole)}."
        )
    if not whole.any():
        raise InputError(f"{table.path} has no row with a number in each of the columns {', '.join(map(repr, columns))}.")
    copies = whole & (np.zeros(len(table), bool) if keep_copies else _copies(table))
    if copies.any():
        notes.append(
            f"{table.path.name}: {copies.sum()} of {len(table)} rows are left out as exact copies of earlier ones"
            f"{_where(table, copies)}; if they were measured again, keep_copies=True keeps them."
        )
    return whole & ~copies, tuple(notes)


def _copies(table: Table) -> Bool[np.ndarray, " n"]:
    """Which rows are the same as an earlier one in all columns of the file. Arrays have one value at each place."""
    seen: set[tuple[Any, ...]] = set()
    found = np.zeros(len(table), bool)
    if table.lines is not None:
        for i, row in enumerate(zip(*table.columns, strict=True)):
            found[i] = row in seen
            seen.add(row)
    return found


def _coordinate(table: Table, units: Units, name: str, column: str, values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    ends = asked(units, (name, column), table.unit(column), _what(table, column))
    return values if ends is None else converted(values, *ends, _what(table, column))


def _check_positive(noise: Float[np.ndarray, " n"], name: str, table: Table, rows: Bool[np.ndarray, " all"]) -> None:
    wrong = np.flatnonzero(~(noise > 0))
    if wrong.size:
        where = table.at(int(np.flatnonzero(rows)[wrong[0]]))
        raise InputError(
            f"{where}, column {name!r}: sigma is {noise[wrong[0]]:g}, and must be positive; mend it or drop the row."
        )


def _factor_of_noise(table: Table, sigma: str, entry: Any, of_value: tuple[str | None, str | None], *, is_asked: bool) -> float:
    """What takes sigma to the unit that the values get; a column that does not say its own has that of the values."""
    what, (stored, wanted) = _what(table, sigma), of_value
    own = table.unit(sigma) or stored
    if entry is not None:
        own, said = asked({sigma: entry}, (sigma,), own, what) or (own, None)
        wanted = wanted or said
        if said is not None and wanted is not None and not np.isclose(factor(said, wanted, what), 1.0):
            raise InputError(f"{what} is asked for in {said!r}, but sigma has the unit of the values, {wanted!r}.")
    if own is None or wanted is None or own == wanted:
        return 1.0
    if not is_asked and entry is None and not (is_unit(own) and is_unit(wanted)):
        return 1.0  # nobody spoke of units, and what the headers have in brackets is something else
    return factor(own, wanted, what)


def _what(table: Table, column: str) -> str:
    return f"the column {column!r} of {table.path.name}"


def _where(table: Table, rows: Bool[np.ndarray, " n"]) -> str:
    return "" if table.lines is None else f" ({listed(table.lines[rows])})"
