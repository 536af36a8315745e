"""Cells of a table as numbers; what is none is named by its line and column."""

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from ..errors import InputError, shown
from .table import Table

MISSING = {"", "-", "--", "?", "nan", "na", "n/a", "#n/a", "<na>", "null", "none", "missing"}


def as_numbers(table: Table, names: Sequence[str]) -> dict[str, Float[np.ndarray, " n"]]:
    """Some columns as numbers, NaN where a value is missing. Decimal commas are recognised, for all columns alike."""
    columns = {name: table.columns[table.place(name)] for name in names}
    comma = _has_decimal_commas(table, columns)
    return {name: _column(table, name, cells, comma) for name, cells in columns.items()}


def is_number(text: str) -> bool:
    """Whether a cell is a number, with a decimal point or comma."""
    return _parsed(text, comma=True) is not None and not _is_missing(text)


def _column(table: Table, name: str, cells: Shaped[np.ndarray, " n"], comma: bool) -> Float[np.ndarray, " n"]:
    if cells.dtype.kind in "iuf":
        return cells.astype(float)
    if all(type(cell) is str and "_" not in cell for cell in cells):  # all at once, as long as each of them is a number
        with contextlib.suppress(ValueError):
            return np.array([cell.replace(",", ".") for cell in cells] if comma else cells, object).astype(float)
    found = np.empty(len(cells))
    for i, cell in enumerate(cells):
        number = _parsed(cell, comma)
        if number is None:
            hint = "; give times as numbers, since the first reading say" if _is_date(cell) else ""
            raise InputError(f"{table.at(i)}, column {name!r}: {_in_words(cell)} is not a number{hint}.")
        found[i] = number
    return found


def _has_decimal_commas(table: Table, columns: dict[str, Shaped[np.ndarray, " n"]]) -> bool:
    """Whether numbers are written with commas; refused where both occur, since one of them then parts thousands."""
    columns = {name: cells for name, cells in columns.items() if cells.dtype == object}
    both = [any(mark in cell for cells in columns.values() for cell in cells if isinstance(cell, str)) for mark in ",."]
    if not all(both):
        return both[0]
    texts = [(i, name, cell) for name, cells in columns.items() for i, cell in enumerate(cells) if isinstance(cell, str)]
    commas = [(i, name, cell) for i, name, cell in texts if "," in cell and _parsed(cell, comma=True) is not None]
    points = any("." in cell and _parsed(cell, comma=False) is not None for _, _, cell in texts)
    if commas and points:
        i, name, cell = commas[0]
        raise InputError(
            f"{table.at(i)}, column {name!r}: {cell!r} has a comma, others a decimal point; write all numbers alike, "
            "and thousands without separators."
        )
    return bool(commas)


def _parsed(cell: Any, comma: bool) -> float | None:
    """The number in a cell, NaN if it is missing, None if it is something else."""
    if _is_missing(cell):
        return math.nan
    if isinstance(cell, str):
        cell = cell.replace(",", ".") if comma else cell
        if "_" in cell:  # which Python takes for a separator of thousands
            return None
    elif isinstance(cell, bool | np.bool_ | np.datetime64):
        return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().casefold() in MISSING)


def _is_date(cell: Any) -> bool:
    if hasattr(cell, "year") or isinstance(cell, np.datetime64):
        return True
    return isinstance(cell, str) and cell[:1].isdigit() and sum(cell.count(mark) for mark in "-/.:") >= 2


def _in_words(cell: Any) -> str:
    return shown(cell) if isinstance(cell, str | bool | int | float) else f"{cell}"
