"""A report: one page of HTML with text, tables that sort, and pictures. It needs no network and no other file."""

import base64
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import COLUMNS, DECIMALS, _cell, _notes
from .errors import InputError
from .experiment import summarise
from .methods.hmc import MIXED
from .metrics import LEVEL
from .paper.published import lookup
from .plots import _plus_minus

if TYPE_CHECKING:
    from .runs import RunFolder

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
WIDE = 1.6  # a picture wider than this, in heights, scrolls on a phone instead of shrinking
SCROLLS = {"role": "region", "tabindex": "0"}  # a box that scrolls sideways, also by keyboard
POOR = LEVEL - 0.05  # a coverage below this is marked
MORE = {"time_uq_s": "band alone (s)", "nll": "NLL", "crps": "CRPS", "acceptance": "acceptance", "rhat": "R-hat", "ess": "ESS"}
PLACES = DECIMALS | {"time_uq_s": 1, "nll": 2, "crps": 4, "acceptance": 2, "rhat": 2, "ess": 0}
KINDS = {"field": "Mean and band", "slices": "Slices at half time and at the end", "unknowns": "Draws of the unknowns"}
EXPLANATION = (
    "Over several seeds: median (lowest to highest). Sharpness: mean width of the ±2σ band. Coverage: part of the points where "
    f"the truth is in the {LEVEL:.0%} band, ✗ if below {POOR:.2f}. RMSE: error of the mean. Interval score: lower is better."
)


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


# The page of one run.

Json = Mapping[str, Any]
Row = dict[str, Cell]  # by column
NOTHING = Cell("-", mark="muted")


def run_page(folder: "RunFolder") -> Page:
    """What is in a run folder, finished or not."""
    try:
        run = folder.read_json("run.json")
        records = folder.read_json("metrics.json")["records"] if run["status"] == "finished" else folder.records()
        return Page(
            title=Path(run["problem"]).name + ("" if run["noise"] is None else f", noise {run['noise']:g}"),
            subtitle=f"{', '.join(run['methods'])} · {_seeds(run['seeds'])}",
            summary=tuple(_summary(folder.path, run, records)),
            sections=tuple(_sections(folder.path, run, records)),
            facts=_facts(run),
        )
    except InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"{folder.path} cannot be shown ({error!r}); its run.json or metrics.json is damaged.") from None


def _summary(path: Path, run: Json, records: Sequence[Json]) -> Iterator[str]:
    """What came out, in plain words."""
    if run["status"] != "finished":
        so_far = "what was found so far is below." if records else "there are no results yet."
        yield f"Not finished ({run['status']}): {so_far} Go on with `epinn resume {shlex.quote(str(path))}`"
    summary = summarise(records)
    for method, row in summary.items():
        own = [record for record in records if record["method"] == method]
        found = [f"{name} = {_unknown(row, name).text}{exact}" for name, exact in _exact(own).items()]
        found = found or [f"{COLUMNS[name]} {_number(name, row[name]).text}" for name in list(COLUMNS)[:3] if row[name]]
        partly = "" if len(own) == len(run["seeds"]) else f"; {len(own)} of {len(run['seeds'])} seeds so far"
        yield f"{method}: {', '.join(found)}{partly}."
        failed = [record["seed"] for record in own if record.get("failed")]
        if failed:
            yield f"{method}: {_seeds(failed)} failed; {'left out above' if len(failed) < len(own) else 'there is no other'}."
        yield from _notes(own)
    yield from (f"{method}: no results yet." for method in run["methods"] if records and method not in summary)


def _sections(path: Path, run: Json, records: Sequence[Json]) -> Iterator[Section]:
    pictures = _pictures(path, run["seeds"][0])
    first, others = (tuple(p for seed, p in pictures if (seed == run["seeds"][0]) is same) for same in (True, False))
    if records:
        yield Section("Results", (), (_table_of("By method", _by_method(run, records), EXPLANATION),), first)
        yield Section("Every seed", tables=(_table_of("By method and seed", map(_by_seed, records)),))
        yield Section("Noise", tables=(_table_of("What was used for each condition", _channels(records)),))
    if others:
        yield Section("Pictures of the other seeds", pictures=others, folded=True)
    settings = ({"setting": Cell(name), "value": Cell(str(value).strip("[]"))} for name, value in run["settings"].items())
    yield Section("Settings", ("None leaves it to the problem.",), (_table_of("", settings),), folded=True)


def _table_of(title: str, rows: Iterable[Row], note: str = "") -> Table:
    """A table without the columns that have nothing in them."""
    rows = list(rows)
    columns = {name: [row.get(name, NOTHING) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    full = {name: cells for name, cells in columns.items() if set(cells) != {NOTHING}}
    return Table(title, tuple(full), tuple(zip(*full.values(), strict=True)), note)


def _by_method(run: Json, records: Sequence[Json]) -> Iterator[Row]:
    """Every method, with what was published for it beneath."""
    for method, found in summarise(records).items():
        yield _row(method, found, _exact(records))
        paper = None if run["noise"] is None else lookup(run["problem"], method, run["noise"], run["settings"])
        if paper:
            row = _row(f"{method}, published", paper.values, _exact(records))
            yield {name: replace(cell, mark="muted") for name, cell in row.items()}


def _by_seed(record: Json) -> Row:
    found = {f"{name}_{part}": value for name, row in record.get("unknowns", {}).items() for part, value in row.items()}
    row = _row(record["method"], {**record["diagnostics"], **record, **found}, record.get("unknowns", {}), COLUMNS | MORE)
    state = Cell("failed", mark="bad") if record.get("failed") else Cell("warning" if record["warnings"] else "ok")
    return {"method": row["method"], "seed": Cell(str(record["seed"]), record["seed"]), "state": state} | row


def _row(method: str, values: Json, unknowns: Iterable[str], titles: Mapping[str, str] = COLUMNS) -> Row:
    numbers = {title: _number(name, values.get(name)) for name, title in titles.items()}
    return {"method": Cell(method)} | {name: _unknown(values, name) for name in unknowns} | numbers


def _channels(records: Sequence[Json]) -> Iterable[Row]:
    """What each method used for each condition: once, unless seeds differ."""
    rows = {}
    for record in records:
        for channel in record["channels"]:
            sigma = channel["sigma"] or record["diagnostics"].get(f"sigma of {channel['channel']}")
            row = {"method": Cell(record["method"]), "condition": Cell(channel["channel"])}
            row |= {"rows": Cell(str(channel["rows"]), channel["rows"]), "σ": Cell(f"{sigma:.3g}", sigma) if sigma else NOTHING}
            row |= {"where σ is from": Cell(channel["origin"]), "used": Cell(channel.get("used", "-"))}
            rows[tuple(cell.text for cell in row.values())] = row
    return rows.values()


def _pictures(folder: Path, first: int) -> list[tuple[int, Picture]]:
    """The pictures with their seeds, in the order of the seeds; one without a seed goes with the first."""
    found = []
    for path in sorted(folder.glob("[!.]*.png")):
        name, _, seed = path.stem.partition("-seed")
        kind, _, field = name.partition("_")
        title = f"{KINDS[kind]} of {field}".removesuffix(" of ") if kind in KINDS else name
        found.append((int(seed) if seed.isdecimal() else first, Picture(title, path.read_bytes(), seed and f"seed {seed}")))
    return sorted(found, key=lambda pair: pair[0])


def _facts(run: Json) -> dict[str, str]:
    machine, versions = run["machine"], {"epinn": run["epinn"]} | run["versions"]
    times = [run[name][:16].replace("T", " ") for name in ("started", "ended") if name in run]
    return {
        "Command": f"`{run['command']}`",
        "Seeds": _seeds(run["seeds"]).removeprefix("seeds ").removeprefix("seed "),
        "Machine": f"{machine['device']}, {machine['system']}, {'double' if machine['float64'] else 'single'} precision",
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Date": f"{' to '.join(times)} UTC",
    }


def _number(name: str, found: Any) -> Cell:
    """A number, or a median with its range."""
    if found is None:
        return NOTHING
    spread = found if isinstance(found, Mapping) else {"median": found, "min": found, "max": found}
    bad = (name == "coverage" and spread["median"] < POOR) or (name == "rhat" and spread["median"] >= MIXED)
    return Cell(_cell(spread, PLACES[name]), spread["median"], "bad" if bad else "")


def _unknown(values: Json, name: str) -> Cell:
    """A mean with its standard deviation, or the medians of both."""
    found = (values.get(f"{name}_{part}") for part in ("mean", "std"))
    mean, std = (value["median"] if isinstance(value, Mapping) else value for value in found)
    return NOTHING if mean is None or std is None else Cell(_plus_minus(mean, std), mean)


def _exact(records: Sequence[Json]) -> dict[str, str]:
    """The unknowns, with their exact values in words where these are known."""
    found = {name: row["exact"] for record in records for name, row in record.get("unknowns", {}).items()}
    return {name: "" if exact is None else f" (exact {exact:.4g})" for name, exact in found.items()}


def _seeds(seeds: Sequence[int]) -> str:
    listed = f"{seeds[0]} to {seeds[-1]}" if seeds[-1] - seeds[0] == len(seeds) - 1 > 1 else ", ".join(map(str, seeds))
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {listed}"
