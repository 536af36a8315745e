"""Excel and Parquet, and files that are none of those that are known."""

import sys

import numpy as np
import openpyxl
import pandas
import pytest

from epinn.tables import table as table_module
from epinn.tables.cells import as_numbers
from epinn.tables.read import read
from epinn.tables.table import Wanted

WANTED = Wanted(("x",), ("T",))
FRAME = pandas.DataFrame({"x [mm]": [1, 2, 3], "T": [0.5, None, 2.5], "who": ["a", "b", None]})


def save(path):
    FRAME.to_excel(path, index=False) if path.suffix == ".xlsx" else FRAME.to_parquet(path)


@pytest.mark.parametrize(("name", "lines"), [("a.xlsx", [2, 3, 4]), ("a.parquet", [1, 2, 3])])
def test_columns_with_types(tmp_path, name, lines):
    save(tmp_path / name)
    table = read(tmp_path / name, WANTED)
    found = as_numbers(table, WANTED.names)
    np.testing.assert_array_equal(found["x"], [1, 2, 3])
    np.testing.assert_array_equal(found["T"], [0.5, np.nan, 2.5])
    assert (table.unit("x"), table.unit("T"), table.lines.tolist()) == ("mm", None, lines)


def test_sheets_are_chosen_by_name(tmp_path, rejects):
    book = openpyxl.Workbook()
    book.active.append(["notes"])
    sheet = book.create_sheet("Runs")
    for row in (["x", "T"], [1, "2,5"], [2, "3,5"]):
        sheet.append(row)
    book.create_sheet("Nothing")
    book.save(tmp_path / "a.xlsx")
    found = as_numbers(read(tmp_path / "a.xlsx", WANTED, "Runs"), WANTED.names)
    np.testing.assert_array_equal(found["T"], [2.5, 3.5])
    with rejects("no sheet 'Run'", "'Runs'"):
        read(tmp_path / "a.xlsx", WANTED, "Run")
    with rejects("'Nothing' is empty"):
        read(tmp_path / "a.xlsx", WANTED, "Nothing")


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_dates_and_switches_are_no_numbers(tmp_path, rejects, name):
    frame = pandas.DataFrame({"x": pandas.to_datetime(["2024-05-01", "2024-05-02"]), "T": [True, False]})
    frame.to_excel(tmp_path / name, index=False) if name == "a.xlsx" else frame.to_parquet(tmp_path / name)
    table = read(tmp_path / name, WANTED)
    with rejects("'x'", "2024-05", "times"):
        as_numbers(table, ("x",))
    with rejects("'T'", "True"):
        as_numbers(table, ("T",))


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_large_and_damaged_files_are_refused(tmp_path, rejects, monkeypatch, name):
    save(tmp_path / name)
    monkeypatch.setattr(table_module, "LARGEST", 8)
    with rejects("thin"):
        read(tmp_path / name, WANTED)
    (tmp_path / name).write_text("x,T\n1,2\n")
    with rejects("damaged", name):
        read(tmp_path / name, WANTED)


@pytest.mark.parametrize(("name", "package"), [("a.xlsx", "openpyxl"), ("a.parquet", "pyarrow"), ("a.nc", "xarray")])
def test_without_the_package_the_extra_is_named(tmp_path, rejects, monkeypatch, name, package):
    (tmp_path / name).write_text("content")
    for module in [module for module in sys.modules if module.partition(".")[0] == package] + [package]:
        monkeypatch.setitem(sys.modules, module, None)
    with rejects(package, "pip install 'epinn[data]'"):
        read(tmp_path / name, WANTED)


def test_what_is_no_file_with_a_table(tmp_path, rejects):
    (tmp_path / "a.docx").write_text("words")
    (tmp_path / "a.csv").touch()
    with rejects("no file", "nothing.csv"):
        read(tmp_path / "nothing.csv", WANTED)
    with rejects("folder"):
        read(tmp_path, WANTED)
    with rejects("a.docx", ".csv", ".nc"):
        read(tmp_path / "a.docx", WANTED)
    with rejects("empty"):
        read(tmp_path / "a.csv", WANTED)
    with rejects("no sheets"):
        (tmp_path / "a.csv").write_text("x,T\n1,2\n")
        read(tmp_path / "a.csv", WANTED, "Runs")
    with rejects("path", "3"):
        read(3, WANTED)
