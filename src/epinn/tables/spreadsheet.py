"""Tables of Excel and Parquet: columns with types."""

import warnings
import zipfile
from pathlib import Path

import numpy as np

from ..errors import InputError, one_line, unknown_name
from ..extras import optional
from .table import Table, refuse_large, table_of_rows


def read_workbook(path: Path, sheet: str | None = None) -> Table:
    """A sheet of an Excel file, the first by default, whose first row names the columns."""
    openpyxl = optional("openpyxl", "Excel files", "data")
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_large(path, sum(part.file_size for part in archive.infolist()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which tables do not need
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever goes wrong in it first, and so does what unpacks for it
        raise InputError(f"{path} is damaged or protected, or no Excel file ({one_line(error)}); save it again.") from None
    try:
        if sheet is not None and sheet not in book.sheetnames:
            raise InputError(f"{path.name}: {unknown_name('sheet', sheet, book.sheetnames)}")
        chosen = book[sheet or book.sheetnames[0]]
        rows = [(i, row) for i, row in enumerate(chosen.iter_rows(values_only=True), 1) if any(c is not None for c in row)]
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is damaged ({one_line(error)}); save it again.") from None
    finally:
        book.close()
    if not rows:
        raise InputError(f"{path}: the sheet {chosen.title!r} is empty; others are chosen by sheet=.")
    return table_of_rows(path, rows[0][1], [row for _, row in rows[1:]], [i for i, _ in rows[1:]])


def read_parquet(path: Path) -> Table:
    """A Parquet file; its rows are numbered from 1."""
    parquet = optional("pyarrow.parquet", "Parquet files", "data")
    arrow = optional("pyarrow", "Parquet files", "data")
    try:
        metadata = parquet.read_metadata(path)
        refuse_large(path, sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)))
        found = parquet.ParquetFile(path).read()
    except arrow.ArrowException as error:
        raise InputError(f"{path} is damaged, or no Parquet file ({one_line(error)}); save it again.") from None
    columns = tuple(column.to_numpy() for column in found.itercolumns())
    return Table(path, tuple(found.column_names), columns, np.arange(1, found.num_rows + 1))
