"""The page of one run: in words, in tables, in pictures."""

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...judge.metrics import LEVEL
from ...judge.verdict import overall
from ...judge.wording import COLUMNS, DECIMALS, in_range, notes, plus_minus, setting
from ...methods.mcmc.diagnostics import MIXED
from ..plan import summarise
from ..published import lookup
from ..store.files import write_atomically
from ..store.run_folder import RunFolder
from .page import Cell, Line, Page, Picture, Section, Table, render

POOR = LEVEL - 0.05  # a coverage below this is marked
MORE = {
    "time_uq_s": "band alone (s)",
    "nll": "NLL",
    "crps": "CRPS",
    "acceptance": "acceptance",
    "rhat": "R-hat",
    "ess": "ESS",
    "ess_tail": "tail ESS",
}
PLACES = DECIMALS | {"time_uq_s": 1, "nll": 2, "crps": 4, "acceptance": 2, "rhat": 3, "ess": 0, "ess_tail": 0}
KINDS = {
    "field": "Mean and band",
    "error": "Error and band, magnified",
    "slices": "Slices at half time and at the end",
    "unknowns": "Draws of the unknowns",
}
PARTS = "What a measurement would be uncertain by: the field itself (epistemic), and its noise (aleatoric)"
EXPLANATION = (
    "Over several seeds: median (lowest to highest). Sharpness: mean width of the ±2σ band. Coverage: part of the points where "
    f"the truth is in the {LEVEL:.0%} band, ✗ if below {POOR:.2f}. RMSE: error of the mean. Interval score: lower is better."
)

Json = Mapping[str, Any]
Row = dict[str, Cell]  # by column
NOTHING = Cell("-", mark="muted")


def write_report(folder: RunFolder) -> None:
    """Write `report.html`, the page that shows a run, into its folder."""
    write_atomically(folder.path / "report.html", render(run_page(folder)).encode())


def run_page(folder: RunFolder) -> Page:
    """What is in a run folder, finished or not."""
    try:
        run = folder.read_json("run.json")
        records = folder.read_json("metrics.json")["records"] if run["status"] == "finished" else folder.records()
        return Page(
            title=", ".join([Path(run["problem"]).name, *_noises(run)]),
            subtitle=f"{', '.join(run['methods'])} · {_seeds(run['seeds'])}",
            summary=tuple(_summary(folder.path, run, records)),
            sections=tuple(_sections(folder.path, run, records)),
            facts=_facts(run),
        )
    except InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"{folder.path} cannot be shown ({error!r}); its run.json or metrics.json is damaged.") from None


def _summary(path: Path, run: Json, records: Sequence[Json]) -> Iterator[Line]:
    """What came out, in plain words."""
    if run["status"] != "finished":
        so_far = "what was found so far is below." if records else "there are no results yet."
        yield Line(f"{so_far} Go on with `epinn resume {shlex.quote(str(path))}`", f"Not finished ({run['status']})")
    summary = summarise(records)
    for method, row in summary.items():
        own = [record for record in records if record["method"] == method]
        verdict = ""
        if all("verdict" in record for record in own):
            verdict = f"{overall([record['verdict'] for record in own], [record['seed'] for record in own])}; "
        found = [f"{name} = {_unknown(row, name).text}{exact}" for name, exact in _exact(own).items()]
        found = found or [f"{COLUMNS[name]} {_number(name, row[name]).text}" for name in list(COLUMNS)[:3] if row[name]]
        partly = "" if len(own) == len(run["seeds"]) else f"; {len(own)} of {len(run['seeds'])} seeds so far"
        yield Line(f"{verdict}{', '.join(found)}{partly}.", method)
        failed = [record["seed"] for record in own if record.get("failed")]
        if failed:
            rest = "left out above" if len(failed) < len(own) else "there is no other"
            yield Line(f"{_seeds(failed)} failed; {rest}.", method)
        yield from (Line(text, about) for about, text in (note.split(": ", 1) for note in notes(own)))
    yield from (Line("no results yet.", method) for method in run["methods"] if records and method not in summary)


def _sections(path: Path, run: Json, records: Sequence[Json]) -> Iterator[Section]:
    pictures = _pictures(path, run["seeds"][0])
    first, others = (tuple(p for seed, p in pictures if (seed == run["seeds"][0]) is same) for same in (True, False))
    if records:
        yield Section("Results", (), (_table_of("By method", _by_method(run, records), EXPLANATION),), first)
        yield Section("Every seed", tables=(_table_of("By method and seed", map(_by_seed, records)),))
        tables = _table_of("What was used for each condition", _channels(records)), _table_of(PARTS, _parts(records))
        yield Section("Noise", tables=tables)
    if others:
        yield Section("Pictures of the other seeds", pictures=others, folded=True)
    settings = ({"setting": Cell(name), "value": Cell(setting(value))} for name, value in run["settings"].items())
    yield Section("Settings", (), (_table_of("", settings),), folded=True)


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
        published = run["noise"] is not None and not run.get("noise_on")
        paper = lookup(run["problem"], method, run["noise"], run["settings"]) if published else None
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
            sigma = channel["sigma"]
            row = {"method": Cell(record["method"]), "condition": Cell(channel["channel"])}
            row |= {"rows": Cell(str(channel["rows"]), channel["rows"]), "σ": Cell(f"{sigma:.3g}", sigma) if sigma else NOTHING}
            row |= {"where σ is from": Cell(channel["origin"]), "used": Cell(channel.get("used", "-"))}
            rows[tuple(cell.text for cell in row.values())] = row
    return rows.values()


def _parts(records: Sequence[Json]) -> Iterator[Row]:
    """Mean standard deviations of every field, epistemic and aleatoric apart."""
    for record in records:
        for name, spread in record.get("spread", {}).items():
            noise = record["noise_sd"].get(name)
            row = {"method": Cell(record["method"]), "seed": Cell(str(record["seed"]), record["seed"]), "field": Cell(name)}
            total = None if noise is None or spread is None else math.hypot(spread, noise)
            parts = {"epistemic sd": spread, "aleatoric sd": noise, "together": total}
            yield row | {title: NOTHING if sd is None else Cell(f"{sd:.2g}", sd) for title, sd in parts.items()}


def _pictures(folder: Path, first: int) -> list[tuple[int, Picture]]:
    """The pictures with their seeds, in the order of the seeds; one without a seed goes with the first."""
    found, order = [], list(KINDS.values())
    for path in sorted(folder.glob("[!.]*.png")):
        name, _, seed = path.stem.partition("-seed")
        kind, _, field = name.partition("_")
        title = f"{KINDS[kind]} of {field}".removesuffix(" of ") if kind in KINDS else name
        found.append((int(seed) if seed.isdecimal() else first, Picture(title, path.read_bytes(), seed and f"seed {seed}")))
    return sorted(found, key=lambda pair: (pair[0], order.index(pair[1].title) if pair[1].title in order else len(order)))


def _noises(run: Json) -> Iterator[str]:
    """The noise level, and noise that was added to kinds of conditions."""
    if run["noise"] is not None:
        yield f"noise {run['noise']:g}"
    yield from (f"{kind} ± {sigma:g}" for kind, sigma in run.get("noise_on", {}).items())


def _facts(run: Json) -> dict[str, str]:
    machine, versions = run["machine"], {"epinn": run["epinn"]} | run["versions"]
    times = [run[name][:16].replace("T", " ") for name in ("started", "ended") if name in run]
    network = {"Network": f"{Path(run['network']['model']).name}, trained elsewhere"} if "network" in run else {}
    return {
        "Command": f"`{run['command']}`",
        **network,
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
    return Cell(in_range(spread, PLACES[name]), spread["median"], "bad" if bad else "")


def _unknown(values: Json, name: str) -> Cell:
    """A mean with its standard deviation, or the medians of both."""
    found = (values.get(f"{name}_{part}") for part in ("mean", "std"))
    mean, std = (value["median"] if isinstance(value, Mapping) else value for value in found)
    return NOTHING if mean is None or std is None else Cell(plus_minus(mean, std), mean)


def _exact(records: Sequence[Json]) -> dict[str, str]:
    """The unknowns, with their exact values in words where these are known."""
    found = {name: row["exact"] for record in records for name, row in record.get("unknowns", {}).items()}
    return {name: "" if exact is None else f" (exact {exact:.4g})" for name, exact in found.items()}


def _seeds(seeds: Sequence[int]) -> str:
    listed = f"{seeds[0]} to {seeds[-1]}" if seeds[-1] - seeds[0] == len(seeds) - 1 > 1 else ", ".join(map(str, seeds))
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {listed}"
