"""Any file with a table, by the end of its name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError, one_line, shown
from .arrays import read_matlab, read_netcdf
from .spreadsheet import read_parquet, read_workbook
from .table import Table, Wanted
from .text import read_text

TEXT = (".csv", ".tsv", ".txt", ".dat")
WORKBOOK = (".xlsx", ".xlsm")
READERS: dict[str, Callable[[Path, Wanted], Table]] = {
    **dict.fromkeys((".parquet", ".pq"), lambda path, wanted: read_parquet(path)),
    **dict.fromkeys((".nc", ".nc4", ".cdf"), read_netcdf),
    ".mat": read_matlab,
    **dict.fromkeys(TEXT, lambda path, wanted: read_text(path)),
}


def read(file: Any, wanted: Wanted, sheet: str | None = None) -> Table:
    """The table in a file: CSV and other text, Excel, Parquet, NetCDF or MAT. Files with arrays give the wanted ones."""
    path = _checked(file)
    kind = path.suffix.lower()
    if sheet is not None and kind not in WORKBOOK:
        raise InputError(f"{path} has no sheets; leave out sheet=.")
    try:
        return read_workbook(path, sheet) if kind in WORKBOOK else READERS[kind](path, wanted)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or one_line(error)}).") from None


def _checked(file: Any) -> Path:
    try:
        path = Path(file)
    except TypeError:
        raise InputError(f"the file with measurements is a path such as 'lab.csv', not {shown(file)}.") from None
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it.")
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    if path.suffix.lower() not in (*READERS, *WORKBOOK):
        known = ", ".join((*TEXT, *WORKBOOK, *(end for end in READERS if end not in TEXT)))
        raise InputError(f"{path} is not a kind of file that is known; known are {known}.")
    if not path.stat().st_size:
        raise InputError(f"{path} is empty.")
    return path
