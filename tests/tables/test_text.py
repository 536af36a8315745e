"""Text files as people have them: every separator, decimal commas, code pages, comments; and what is no table."""

import numpy as np
import pytest

from epinn.tables import table as table_module
from epinn.tables.cells import as_numbers
from epinn.tables.text import read_text

EXPECTED = {"x": [1.5, 2.5], "T": [20.25, -3e-2]}


def written(tmp_path, content, name="lab.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def numbers(path):
    return as_numbers(read_text(path), ("x", "T"))


@pytest.mark.parametrize(
    "content",
    [
        "x,T\n1.5,20.25\n2.5,-3e-2\n",
        "x, T\r\n1.5, 20.25\r\n2.5, -3E-2\r\n\r\n",
        "x;T\n1,5;20,25\n2,5;-3e-2\n",
        "x\tT\n1,5\t20,25\n2,5\t-0,03\n",
        'x,T\n"1,5","20,25"\n"2,5","-0,03"\n',
        "x  T\n 1.5   20.25\n2.5  -0.03 \n",
        "# x T\n1.5 20.25\n2.5 -0.03\n",
        "% model: rod\n% x [m],T (degC)\n1.5,20.25\n2.5,-0.03\n",
        'x,T,remark,\n1.5,20.25,"hot, or\nnot",\n2.5,-0.03,,\n',
        "\ufeffx;T\n1.5;20.25\n2.5;-0.03",
        "T;x\n20.25;1.5\n-0.03;2.5",
        "x [m];T [°C]\n1,5;20,25\n2,5;-0,03\n".encode("cp1252"),
        "x\tT\n1.5\t20.25\n2.5\t-0.03\n".encode("utf-16"),
    ],
)
def test_the_same_numbers_however_they_are_written(tmp_path, content):
    found = numbers(written(tmp_path, content))
    for name, values in EXPECTED.items():
        np.testing.assert_allclose(found[name], values)


def test_lines_are_those_that_an_editor_shows(tmp_path):
    table = read_text(written(tmp_path, '# rod\n\nx,T\n1,2\n\n# pause\n"3",4\n'))
    assert table.lines.tolist() == [4, 7]


@pytest.mark.parametrize("mark", ["", "-", "NaN", "n/a", "NULL", "#N/A"])
def test_what_is_missing_is_nan(tmp_path, mark):
    np.testing.assert_array_equal(numbers(written(tmp_path, f"x,T\n1,{mark}\n2,3\n3\n"))["T"], [np.nan, 3, np.nan])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x,T\n1,2\n2,abc\n", ("lab.csv, line 3", "'T'", "'abc'")),
        ("x,T\n2024-05-01 10:00,1\n", ("line 2", "'x'", "times")),
        ("x,T\n1_000,1\n", ("'1_000'",)),
        ("x;T\n1.234,5;1\n", ("'1.234,5'",)),
        ("x;T\n1,234;1.5\n", ("line 2", "'1,234'", "comma")),
        ("x,T\n1,5,20,25\n", ("line 2", "4 cells", "2 headers", "quotes")),
        ("1,2\n3,4\n", ("no header",)),
        ("\n  \n", ("empty",)),
        ('x,T\n"1,2\n' + "3,4\n" * 50_000, ("quote",)),
        (b"PAR1\x00\x01\x02\x03", ("not a text file",)),
        (bytes(range(1, 256)), ("not a text file",)),
        ("x,x,T\n1,2,3\n", ("2 columns 'x'", "rename")),
        ("x [m],x [mm],T\n1,2,3\n", ("'x [m]', 'x [mm]'",)),
        ("X,T\n1,2\n", ("no column 'x'",)),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, rejects, content, words):
    path = written(tmp_path, content)
    with rejects(*words):
        numbers(path)


def test_a_column_that_nobody_asked_for_may_hold_anything(tmp_path):
    assert numbers(written(tmp_path, "x,who,T\n1,Ada,2\n"))["T"] == [2]


def test_a_huge_file_is_refused_before_it_is_read(tmp_path, rejects, monkeypatch):
    monkeypatch.setattr(table_module, "LARGEST", 2**20)
    path = tmp_path / "lab.csv"
    with path.open("wb") as file:
        file.truncate(3 * 2**20)
    with rejects("3 MB", "thin"):
        read_text(path)
