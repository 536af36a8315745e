"""What a file of measurements holds: columns under headers, and where in the file each row stands."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int, Shaped

from ..errors import InputError, unknown_name

LARGEST = 50 * 2**20  # bytes of a table, unpacked: a million readings and more, which no fit can take; text takes 25 times that
FEW = 3  # lines that a message names one by one
HEADER = re.compile(r"^(?P<name>.+?)\s*(?:\[(?P<square>.+)\]|\((?P<round>.+)\))$")


@dataclass(frozen=True, eq=False)
class Wanted:
    """The columns that somebody asked for: those of coordinates in their order, and others."""

    coordinates: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.coordinates, *self.others)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as they stand in a file: numbers, or cells that may be numbers, texts or None.

    `lines` say where each row stands in the file; tables made from arrays of more than one dimension have no lines. `units`
    are those that are said beside a column, not in its header.
    """

    path: Path
    headers: tuple[str, ...]
    columns: tuple[Shaped[np.ndarray, " n"], ...]
    lines: Int[np.ndarray, " n"] | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def place(self, name: str) -> int:
        """The place of a column, by its whole header or by the name in it."""
        return find(name, self.headers, self.path)

    def unit(self, name: str) -> str | None:
        """The unit that the file says a column has."""
        header = self.headers[self.place(name)]
        return self.units.get(header) or split(header)[1]

    def at(self, row: int) -> str:
        """Where a row stands, for a message: "lab.csv, line 7"."""
        return f"{self.path.name}, {f'row {row}' if self.lines is None else f'line {self.lines[row]}'}"


def table_of_rows(path: Path, header: Sequence[Any], rows: Sequence[Sequence[Any]], lines: Sequence[int]) -> Table:
    """A table from rows of cells; short rows lack their last cells, and empty cells beyond the header are no cells."""
    names = ["" if cell is None else str(cell).strip() for cell in header]
    while names and not names[-1]:
        names.pop()
    width = len(names)
    for row, line in zip(rows, lines, strict=True):
        if len(row) > width and any(cell not in ("", None) for cell in row[width:]):
            raise InputError(
                f"{path.name}, line {line} has {len(row)} cells under {width} headers; put texts with separators, and numbers "
                "with decimal commas in a file separated by commas, in quotes."
            )
    filled = [[*row[:width], *[None] * (width - len(row))] for row in rows]
    cells = np.array(filled, object).reshape(len(rows), width)
    return Table(path, tuple(names), tuple(cells.T), np.asarray(lines, int))


def find(name: str, headers: Sequence[str], path: Path) -> int:
    """The place of a column among headers, by its whole header ("T [degC]") or by the name in it ("T")."""
    places = [i for i, header in enumerate(headers) if header == name]
    places = places or [i for i, header in enumerate(headers) if split(header)[0] == name]
    if not places:
        raise InputError(f"{path.name}: {unknown_name('column', name, [split(header)[0] for header in headers if header])}")
    if len(places) > 1:
        found = ", ".join(repr(headers[i]) for i in places)
        raise InputError(f"{path.name} has {len(places)} columns {name!r} ({found}); rename them, or give the whole header.")
    return places[0]


def split(header: str) -> tuple[str, str | None]:
    """The name in a header, and the unit if there is one: "T [degC]", "T (degC)"."""
    found = HEADER.match(header)
    return (found["name"], found["square"] or found["round"]) if found else (header, None)


def refuse_large(path: Path, size: int) -> None:
    """Refuse a file whose content would fill the memory."""
    if size > LARGEST:
        raise InputError(
            f"{path} holds {size / 2**20:,.0f} MB, and {LARGEST / 2**20:.0f} MB is the most that is read: thin it out first, "
            "every tenth reading say."
        )


def listed(lines: Sequence[Any] | np.ndarray) -> str:
    """The first of some line numbers: "line 4", "lines 4, 9, 13 and 2 more"."""
    first = ", ".join(str(line) for line in lines[:FEW])
    more = f" and {len(lines) - FEW} more" if len(lines) > FEW else ""
    return f"line{'s' if len(lines) > 1 else ''} {first}{more}"
