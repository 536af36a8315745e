"""Text files with columns: separated by commas, semicolons, tabs or spaces, with decimal points or decimal commas."""

import csv
from collections.abc import Iterator
from pathlib import Path

from ..errors import InputError
from .cells import is_number
from .table import Table, refuse_large, table_of_rows

SEPARATORS = ("\t", ";", ",")  # in this order: where there are semicolons, commas may be those of decimals
COMMENTS = ("#", "%")  # what lines that are no data begin with; the last before the data may be the header
SEEN = 4096  # characters that tell a text from another file


def read_text(path: Path) -> Table:
    """The table in a text file, whose first line names the columns."""
    refuse_large(path, path.stat().st_size)
    lines = [(i, line) for i, line in enumerate(_decoded(path).splitlines(), 1) if line.strip()]
    comments = [line.strip().lstrip("".join(COMMENTS)) for _, line in lines if _is_comment(line)]
    lines = [(i, line) for i, line in lines if not _is_comment(line)]
    if not lines:
        raise InputError(f"{path} is empty; its first line must name the columns, and the others hold numbers.")
    separator = _separator([line for _, line in lines])
    if all(is_number(cell) for cell in _cells(lines[0][1], separator)):
        if not comments:
            raise InputError(f"{path} has no header: its first line must name the columns, as in x{separator}t{separator}T.")
        header = comments[-1]
    else:
        header, lines = lines[0][1], lines[1:]
    try:
        rows = list(_rows(lines, separator))
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as a table ({error}); look for a quote that is not closed.") from None
    return table_of_rows(path, _cells(header, separator), [row for _, row in rows], [line for line, _ in rows])


def _decoded(path: Path) -> str:
    """The text of a file: UTF-8, UTF-16 or Windows' western code page, which older programs write."""
    content = path.read_bytes()
    encodings = ("utf-16",) if content.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if all(character.isprintable() or character.isspace() for character in text[:SEEN]) and "\0" not in text:
            return text
    raise InputError(f"{path} is not a text file, whatever its name says; save the table as CSV with your program.")


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(COMMENTS)


def _separator(lines: list[str]) -> str:
    """What stands between the cells: the first candidate that the first line has."""
    for separator in SEPARATORS:
        if len(_cells(lines[0], separator)) > 1:
            return separator
    by_spaces = {len(line.split()) for line in lines[:2]}
    return " " if len(by_spaces) == 1 and by_spaces != {1} else SEPARATORS[-1]


def _cells(line: str, separator: str) -> list[str]:
    return next(_rows([(1, line)], separator))[1]


def _rows(lines: list[tuple[int, str]], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of every row, and the line where it ends: a cell in quotes may go over several lines."""
    texts = ((line.strip(" ") if separator == " " else line) + "\n" for _, line in lines)
    reader = csv.reader(texts, delimiter=separator, skipinitialspace=True)
    for row in reader:
        yield lines[reader.line_num - 1][0], [cell.strip() for cell in row]
