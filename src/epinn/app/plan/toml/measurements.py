"""Tables of measurements: from a file beside the TOML file, or from columns that stand in it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import InputError, shown, unknown_name
from ....problem.conditions import Data
from .conditions import Reader
from .tables import Table, at, flag, names, text

UNKNOWN = "unknown"  # noise that is to be inferred


def read_data(reader: Reader, content: Any, place: str, folder: Path) -> Data:
    """The measurements of one table."""
    table = Table(content, place, reader.constants)
    columns = table.take("columns", lambda value: _columns(value, table))
    file = table.take("file", text)
    if (columns is None) == (file is None):
        table.fail(
            'measurements are in a file, as in file = "lab.csv", or in columns, as in columns = { t = [0, 1], T = [9, 8] }'
        )
    value = table.need("value", text, '"T"')
    known = reader.words.coordinates
    of = table.take("coordinates", lambda given: _coordinates(given, known), {name: name for name in known})
    sigma = table.take("sigma", lambda given: given if isinstance(given, str) else table.number(given), UNKNOWN)
    options = {
        "field": table.take("field", reader.field),
        "operator": table.take("expression", reader.measured),
        "over": table.take("over", lambda given: _windows(given, table)),
        "noise": table.take("noise", text, "gaussian"),
        "held_out": table.take("held_out", flag, False),
        "name": table.take("name", text, ""),
    }
    if options["operator"] is None and options["field"] is None and value in (reader.words.fields or ()):
        options["field"] = value
    reading = {} if file is None else _of_files(table)
    table.end()
    with at(place):
        if columns is not None:
            return _from_columns(columns, of, value, sigma, options)
        return Data.from_file(folder / file, coordinates=of, value=value, sigma=sigma, **options, **reading)


def _windows(value: Any, table: Table) -> dict[str, Any]:
    """What is averaged over, by coordinate: a width around each point, or where it begins and ends beside it."""
    if not isinstance(value, Mapping):
        raise InputError(f"averages are over a table, as in {{ t = 5 }} or {{ t = [-5, 0] }}, not {shown(value)}.")
    return {name: tuple(map(table.number, one)) if isinstance(one, list) else table.number(one) for name, one in value.items()}


def _of_files(table: Table) -> dict[str, Any]:
    """What is said of files alone."""
    units = table.take("units", _units, {})
    return {"units": units, "sheet": table.take("sheet", text), "keep_copies": table.take("keep_copies", flag, False)}


def _units(value: Any) -> dict[str, Any]:
    """Those of the problem by column, `{ t = "s" }`, or what the file has and what the problem has, `{ t = ["min", "s"] }`."""
    if not isinstance(value, Mapping):
        raise InputError(f'units are a table, as in {{ t = "s" }} or {{ t = ["min", "s"] }}, not {shown(value)}.')
    return {name: tuple(names(one)) if isinstance(one, list) else text(one) for name, one in value.items()}


def _from_columns(
    columns: Mapping[str, np.ndarray], of: Mapping[str, str], value: str, sigma: float | str, options: Mapping[str, Any]
) -> Data:
    def column(name: str) -> np.ndarray:
        if name not in columns:
            raise unknown_name("column", name, columns)
        return columns[name]

    points = np.stack([column(name) for name in of.values()], axis=1)
    own = column(sigma) if isinstance(sigma, str) and sigma != UNKNOWN else sigma
    return Data(points, column(value), sigma=own, **options)


def _columns(value: Any, table: Table) -> dict[str, np.ndarray]:
    """Columns of numbers, all of one length."""
    found = {}
    if not isinstance(value, Mapping):
        raise InputError(f"columns are a table, as in {{ t = [0, 1], T = [9, 8] }}, not {shown(value)}.")
    for name, numbers in value.items():
        if not isinstance(numbers, list) or not numbers:
            raise InputError(f"the column {name} must be a list of numbers, not {shown(numbers)}.")
        with at(name):
            found[name] = np.asarray([table.number(one) for one in numbers])
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns have as many numbers each, not {', '.join(f'{n} ({k})' for n, k in lengths.items())}.")
    return found


def _coordinates(value: Any, known: Sequence[str]) -> dict[str, str]:
    """The column of each coordinate: a list if they have their names, `{ t = "time" }` if not."""
    chosen = value if isinstance(value, Mapping) else {name: name for name in names(value)}
    for name in chosen:
        if name not in known:
            raise unknown_name("coordinate", name, known)
    for name in known:
        if name not in chosen:
            raise InputError(f"the column of the coordinate {name} is missing.")
    return {name: text(chosen[name]) for name in known}
