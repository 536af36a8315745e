"""A report: one page of HTML with text, tables that sort, and pictures. It needs no network and no other file.

What a page says is plain data (`Page` and its parts); how it looks is in `templates/`. Jinja escapes every piece of text, so
that nothing a user or a file brings can become markup.
"""

import base64
import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
SCRIPTS, VIEW_SCRIPTS = ("page.js",), ("view_plots.js", "view.js")  # files of our own, beside the templates
WIDE, BROAD = 1.6, 1.0  # width over height of pictures that take a whole row: of any, and of those with several panels
SEVERAL = 900  # pixels; a wider picture has several panels side by side
HOW_TO_LOOK = "Point at a place, or move the cursor with the arrow keys, for mean and band there."
LONG = 40  # letters; a longer cell may take several lines


@dataclass(frozen=True)
class Cell:
    """One entry of a table. `value` is what it is sorted by; `mark` is "", "good", "bad" or "muted"."""

    text: str
    value: float | None = None
    mark: str = ""

    @property
    def key(self) -> str | None:
        """The number that the script sorts by, as JavaScript reads it."""
        return None if self.value is None or math.isnan(self.value) else str(float(self.value)).replace("inf", "Infinity")


@dataclass(frozen=True)
class Table:
    """Rows under named columns. The first cell of a row is its name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """By column: "number" if any of its cells has a value."""
        return tuple("number" if any(row[i].value is not None for row in self.rows) else "" for i in range(len(self.columns)))


@dataclass(frozen=True)
class Picture:
    """A PNG image."""

    title: str
    png: bytes
    caption: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, from the header of the file."""
        width, height = (int.from_bytes(self.png[start : start + 4], "big") for start in (16, 20))
        return width, height

    @property
    def is_wide(self) -> bool:
        """Whether it takes a whole row of the page, and scrolls on a phone instead of shrinking."""
        width, height = self.size
        return width > (BROAD if width > SEVERAL else WIDE) * height

    @property
    def address(self) -> str:
        """The image itself, as an address that needs no other file."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


@dataclass(frozen=True)
class View:
    """Fields to be looked at place by place, as `view.view_of` describes them. Pages without scripts do not show it."""

    data: Mapping[str, Any]
    caption: str
    title: str = "Place by place"


@dataclass(frozen=True)
class Beside:
    """A file in the folder of the page, by its name: the page is whole without it."""

    title: str
    name: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs, tables, pictures, files beside it. A folded one opens at a click, and in print."""

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    view: View | None = None
    files: tuple[Beside, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Line:
    """A line of the summary: what it is about in bold, a verdict in a coloured frame, and the rest of the sentence.

    `tone` is the colour of the verdict: "good", "fair", "bad" or "" for none.
    """

    text: str
    about: str = ""
    verdict: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Page:
    """All that a report says, in plain text except for `code` in backticks."""

    title: str
    subtitle: str
    summary: tuple[Line, ...]
    sections: tuple[Section, ...]
    facts: Mapping[str, str]


def render(page: Page) -> str:
    """The page as HTML."""
    environment = _environment()
    scripts = SCRIPTS + (VIEW_SCRIPTS if any(section.view for section in page.sections) else ())
    style = Markup(_source(environment, "page.css"))  # noqa: S704  (files of our own)
    script = Markup("".join(_source(environment, name) for name in scripts))  # noqa: S704
    text = environment.get_template("page.html").render(page=page, policy=POLICY, style=style, script=script, long=LONG)
    return text.encode(errors="replace").decode()  # names of files may hold what cannot be written as UTF-8


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["prose"] = _prose
    return environment


def _source(environment: Environment, name: str) -> str:
    """The text of a file beside the templates, as it is: braces of CSS and JavaScript mean nothing to Jinja."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _prose(text: str) -> Markup:
    """Escaped text, in which `backticks` mark code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  (what comes from elsewhere is escaped)
