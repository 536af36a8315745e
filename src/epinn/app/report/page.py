"""A report: one page of HTML with text, tables that sort, and pictures. It needs no network and no other file."""

import base64
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
WIDE = 1.6  # a picture wider than this, in heights, scrolls on a phone instead of shrinking
SCROLLS = {"role": "region", "tabindex": "0"}  # a box that scrolls sideways, also by keyboard


@dataclass(frozen=True)
class Cell:
    """One entry of a table. `value` is what it is sorted by; `mark` is "", "good", "bad" or "muted"."""

    text: str
    value: float | None = None
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under named columns. The first cell of a row is its name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """A PNG image."""

    title: str
    png: bytes
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs, tables, pictures. A folded one opens at a click, and in print."""

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """All that a report says, in plain text but for `code` in backticks. `what: how` in the summary sets off the what."""

    title: str
    subtitle: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    facts: Mapping[str, str]


def render(page: Page) -> str:
    """The page as HTML."""
    style, script = (files(__package__).joinpath(f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    lines = "".join(_tag("li", re.sub(r"^([^:<]{1,40}): ", r"<strong>\1</strong> ", _prose(line))) for line in page.summary)
    links = "".join(_tag("li", _tag("a", escape(part.title), href=f"#part{i}")) for i, part in enumerate(page.sections))
    facts = "".join(_tag("div", _tag("dt", escape(name)) + _tag("dd", _prose(fact))) for name, fact in page.facts.items())
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>{escape(page.title)}</title><link rel="icon" href="data:,"><style>{style}</style></head>
<body><header>{_tag("h1", escape(page.title))}{_tag("p", _prose(page.subtitle))}</header>
<main>{_tag("ul", lines, class_="summary") if lines else ""}
{_tag("nav", _tag("ul", links), aria_label="Contents") if len(page.sections) > 1 else ""}
{"".join(map(_section, range(len(page.sections)), page.sections))}</main>
{_tag("footer", _tag("h2", "How this was made") + _tag("dl", facts)) if facts else ""}
<script>{script}</script></body></html>
""".encode(errors="replace").decode()  # names of files may hold what cannot be written as UTF-8


def _tag(name: str, content: str, **attributes: str) -> str:
    """An element. `content` is HTML, the attributes are text; those that are empty are left out."""
    pairs = [f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items() if value]
    return f"<{name}{''.join(pairs)}>{content}</{name}>"


def _prose(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _section(number: int, section: Section) -> str:
    content = "".join(_tag("p", _prose(text)) for text in section.text)
    content += _tag("div", "".join(map(_table, section.tables)), class_="tables") if section.tables else ""
    content += _tag("div", "".join(map(_picture, section.pictures)), class_="pictures") if section.pictures else ""
    outer, head = ("details", "summary") if section.folded else ("section", "div")
    return _tag(outer, _tag(head, _tag("h2", escape(section.title))) + content, id=f"part{number}") + "\n"


def _table(table: Table) -> str:
    kinds = ["number" if any(row[i].value is not None for row in table.rows) else "" for i in range(len(table.columns))]
    heads = [_tag("th", escape(name), scope="col", class_=kind) for name, kind in zip(table.columns, kinds, strict=True)]
    rows = [_tag("tr", "".join(map(_entry, range(len(row)), row, kinds))) for row in table.rows]
    grid = _tag("table", _tag("thead", _tag("tr", "".join(heads))) + _tag("tbody", "\n".join(rows)))
    title = _tag("h3", escape(table.title)) if table.title else ""
    note = _tag("p", _prose(table.note), class_="note") if table.note else ""
    box = _tag("div", grid, class_="scroll", aria_label=table.title or "Table", **SCROLLS)
    return _tag("div", title + box + note, class_="table") + "\n"


def _entry(column: int, cell: Cell, kind: str) -> str:
    known = "" if cell.value is None or math.isnan(cell.value) else str(float(cell.value)).replace("inf", "Infinity")
    tag, scope = ("td", "") if column else ("th", "row")
    classes = (kind, cell.mark, "long" if len(cell.text) > 40 else "")  # long text may take several lines
    return _tag(tag, escape(cell.text), scope=scope, class_=" ".join(filter(None, classes)), data_value=known)


def _picture(picture: Picture) -> str:
    width, height = (int.from_bytes(picture.png[start : start + 4], "big") for start in (16, 20))
    source = f"data:image/png;base64,{base64.b64encode(picture.png).decode()}"
    image = f'<img alt="{escape(picture.title)}" width="{width}" height="{height}" src="{source}">'
    box = _tag("div", image, class_="card wide" if width > WIDE * height else "card", aria_label=picture.title, **SCROLLS)
    caption = _tag("figcaption", _tag("strong", escape(picture.title)) + " " + _prose(picture.caption))
    return _tag("figure", box + caption) + "\n"
