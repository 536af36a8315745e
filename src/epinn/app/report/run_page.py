"""The page of one run: in words, in tables, in pictures."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import InputError
from ...judge.verdict import overall
from ...judge.wording import COLUMNS, notes
from ..plan.plan import summarise
from ..plan.published import Published, lookup
from ..store.files import write_atomically
from ..store.pictures import read_picture
from ..store.run_folder import RunFolder
from .page import HOW_TO_LOOK, Beside, Cell, Line, Page, Picture, Section, View, render
from .pictures import rank_of, title_of
from .tables import (
    EXPLANATION,
    SEVERAL,
    Json,
    Row,
    by_field,
    conditions_table,
    metrics_row,
    number_cell,
    seed_row,
    settings_table,
    spreads_table,
    table_of,
    unknown_cell,
)


def write_report(folder: RunFolder) -> None:
    """Write `report.html`, the page that shows a run, into its folder."""
    write_atomically(folder.path / "report.html", render(run_page(folder)).encode())


def run_page(folder: RunFolder) -> Page:
    """What is in a run folder, finished or not."""
    try:
        run = folder.read_json("run.json")
        records = folder.read_json("metrics.json")["records"] if run["status"] == "finished" else folder.records()
        return Page(
            title=", ".join([run.get("name") or Path(run["problem"]).name, *_noises(run)]),
            subtitle=f"{', '.join(run['methods'])} · {_seeds(run['seeds'])}",
            summary=tuple(_summary(folder.path, run, records)),
            sections=tuple(_sections(folder, run, records)),
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
        yield Line(f"{so_far} Go on with `epinn resume {shlex.quote(str(path))}`", f"Not finished ({run['status']}):")
    summary = summarise(records)
    for method, row in summary.items():
        own = [record for record in records if record["method"] == method]
        line, told = _verdict(method, own, row)
        yield line
        if len(own) < len(run["seeds"]):
            yield Line(f"{len(own)} of {len(run['seeds'])} seeds so far.", f"{method}:")
        failed = [record["seed"] for record in own if record.get("failed")]
        if failed:
            rest = "left out of the table below" if len(failed) < len(own) else "there is no other"
            yield Line(f"{_seeds(failed)} failed; {rest}.", f"{method}:")
        yield from (Line(text, f"{whose}:") for whose, text in notes(own, told))
    yield from (Line("no results yet.", f"{method}:") for method in run["methods"] if records and method not in summary)


def _verdict(method: str, records: Sequence[Json], summary: Json) -> tuple[Line, tuple[str, ...]]:
    """The line of a method, and what its verdict has told of the warnings.

    Unknowns that were sought come first; metrics only without a verdict, since they are in the table.
    """
    found = [f"{name} = {unknown_cell(summary, name).text}{exact}" for name, exact in _exact(records).items()]
    if any("verdict" not in record for record in records):
        names = [name for name in list(COLUMNS)[:3] if summary[name]]
        found = found or [f"{COLUMNS[name]} {number_cell(name, summary[name]).text}" for name in names]
        return Line(f"{', '.join(found)}.", f"{method}:"), ()
    said = overall([record["verdict"] for record in records], [record["seed"] for record in records])
    sought = f"{', '.join(found)}. " if found else ""
    counts = f"{said.counts.strip()}. " if said.counts else ""
    return Line(f"{counts}{sought}{said.reasons}", method, said.verdict.word, said.verdict.tone), said.verdict.why


def _sections(folder: RunFolder, run: Json, records: Sequence[Json]) -> Iterator[Section]:
    pictures = _pictures(folder.path, run["seeds"][0])
    first, others = (tuple(p for seed, p in pictures if (seed == run["seeds"][0]) is same) for same in (True, False))
    if records:
        several = len(run["seeds"]) > 1
        note = SEVERAL + EXPLANATION if several else EXPLANATION
        table = table_of("By method", _by_method(run, records), note)
        view = _view(folder, f"Seed {run['seeds'][0]}. " if several else "")
        yield Section("Results", tables=(table,), view=view, pictures=first, files=tuple(_files(folder)))
        if several:
            rows = (_by_seed(record, field) for field, some in by_field(records).items() for record in some)
            yield Section("Every seed", tables=(table_of("By method and seed", rows),))
        yield Section("Noise", tables=(conditions_table(records), spreads_table(records)))
    if others:
        yield Section("Pictures of the other seeds", pictures=others, folded=True)
    yield Section("Settings", (), (settings_table(run["settings"]),), folded=True)


def _by_method(run: Json, records: Sequence[Json]) -> Iterator[Row]:
    """Every method, and every field of it if there are several, with what was published for it beneath."""
    fields = by_field(records)
    for method in summarise(records):
        for field, every in fields.items():
            own = [record for record in every if record["method"] == method]
            if len(run["seeds"]) == 1:
                yield seed_row(own[0], field)
            else:
                yield metrics_row(method, summarise(own)[method], _exact(records), field)
        published = run["noise"] is not None and not run.get("noise_on")
        paper = lookup(run["problem"], method, run["noise"], run["settings"]) if published else None
        if paper:
            yield _published(f"{method}, published", paper, _exact(records))


def _published(name: str, paper: Published, unknowns: Iterable[str]) -> Row:
    """A row of the paper, with the decimals that it prints."""
    found = {column: Cell(text, paper.values[key]) for key, column in COLUMNS.items() if (text := paper.printed(key))}
    row = {"method": Cell(name)} | {name: unknown_cell(paper.values, name) for name in unknowns} | found
    return {name: replace(cell, mark="muted") for name, cell in row.items()}


def _by_seed(record: Json, field: str) -> Row:
    state = Cell("failed", mark="bad") if record.get("failed") else Cell("warning" if record["warnings"] else "ok")
    row = seed_row(record, field)
    return {"method": row["method"], "seed": Cell(str(record["seed"]), record["seed"]), "state": state} | row


def _pictures(folder: Path, first: int) -> list[tuple[int, Picture]]:
    """The pictures with their seeds, in the order of the seeds; one without a seed goes with the first."""
    found = []
    for path in sorted(folder.glob("[!.]*.png")):
        name, _, seed = path.stem.partition("-seed")
        picture = Picture(title_of(name), read_picture(path), seed and f"seed {seed}")
        found.append((int(seed) if seed.isdecimal() else first, rank_of(name), picture))
    return [(seed, picture) for seed, _, picture in sorted(found, key=lambda one: one[:2])]


def _view(folder: RunFolder, whose: str) -> View | None:
    """The interactive view; folders of earlier versions have none."""
    return View(data=folder.view(), caption=whose + HOW_TO_LOOK) if folder.has_view else None


def _files(folder: RunFolder) -> Iterator[Beside]:
    if folder.animation.is_file():
        yield Beside("In time", folder.animation.name, "(a moving picture in the folder of this page)")


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
        "Problem": run["problem"],
        **network,
        "Seeds": _seeds(run["seeds"]).removeprefix("seeds ").removeprefix("seed "),
        "Machine": f"{machine['device']}, {machine['system']}, {'double' if machine['float64'] else 'single'} precision",
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Date": f"{' to '.join(times)} UTC",
    }


def _exact(records: Sequence[Json]) -> dict[str, str]:
    """The unknowns, with their exact values in words where these are known."""
    found = {name: row["exact"] for record in records for name, row in record.get("unknowns", {}).items()}
    return {name: "" if exact is None else f" (exact {exact:.4g})" for name, exact in found.items()}


def _seeds(seeds: Sequence[int]) -> str:
    listed = f"{seeds[0]} to {seeds[-1]}" if seeds[-1] - seeds[0] == len(seeds) - 1 > 1 else ", ".join(map(str, seeds))
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {listed}"
