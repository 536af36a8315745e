"""The results of a reproduction for its readers: `tables.json`, the figures, and the report page."""

import math
from collections.abc import Mapping, Sequence

from ...judge.wording import PAPER_COLUMNS, fixed_range, setting
from ...methods.mcmc.diagnostics import MIXED
from ..plan.published import DECIMALS, rows, tables
from ..report.page import Cell, Line, Page, Picture, Section, Table, render
from ..report.pictures.panels import as_png
from ..store.files import write_atomically, write_json
from .diagram import diagram
from .figures import TITLES, Drawn, panel_title, paper_figures
from .reasons import Reason, reason
from .reproduce import Reproduction
from .tables import NAMES, Comparison, comparisons, counts

TIMES = {"time_s": "Time (s)", "time_uq_s": "of it the band (s)"}
HOURS = 3600
DPI = 110
ARCHITECTURE = "E-PINN: a frozen base PINN, and an epinet that is fed a random index z"


def publish(reproduction: Reproduction) -> list[Comparison]:
    """Write everything anew from the rows that are there."""
    found = comparisons(reproduction, rows())
    path = reproduction.path
    write_json(path / "tables.json", [one.record() for one in found])
    drawn = [Drawn("architecture", "", ARCHITECTURE, diagram()), *paper_figures(reproduction, found)]
    (path / "figures").mkdir(exist_ok=True)
    pictures: dict[str, list[Picture]] = {}
    for one in drawn:
        png = as_png(one.figure, DPI)
        write_atomically(path / "figures" / f"{one.name}.png", png)
        pictures.setdefault(one.table, []).append(Picture(one.title, png))
    write_atomically(path / "report.html", render(page(reproduction, found, pictures)).encode())
    return found


def page(reproduction: Reproduction, found: Sequence[Comparison], pictures: Mapping[str, Sequence[Picture]]) -> Page:
    """The report: what lies inside our ranges and what does not, then all tables and figures, then how it was made."""
    about, seconds = reproduction.description, reproduction.seconds([one.row for one in found])
    seeds = sorted({one.seeds for one in found})
    machine, versions = about["machine"], about["versions"]
    return Page(
        title="The E-PINN paper, reproduced",
        subtitle=f"{len(found)} of {len(rows())} rows, {_from_to(seeds)} seeds each",
        summary=tuple(_summary(found, seconds)),
        sections=(
            Section("Published values inside our range", tables=(_count_table(found),) if found else ()),
            *([_outside_section(found)] if found else []),
            Section("How an E-PINN is built", pictures=tuple(pictures[""])),
            *(
                Section(TITLES[table], tables=_tables(shown), pictures=tuple(pictures.get(table, ())))
                for table in tables()
                if (shown := [one for one in found if one.row.table == table])
            ),
            Section("Settings", text=(SETTINGS_NOTE,), tables=(_settings_table(reproduction, found),), folded=True),
        ),
        facts={
            "Command": f"`{_command(found, max(seeds, default=0))}`",
            "Computing time": f"{seconds:,.0f} s, summed over all that was computed",
            "Seeds": f"0 to {max(seeds) - 1}" if seeds else "none",
            "Machine": f"{machine['device']} ({machine['platform']}), {machine['system']}",
            "Versions": ", ".join(f"{name} {value}" for name, value in {"epinn": about["epinn"], **versions}.items()),
            "Started": about["started"],
        },
    )


SETTINGS_NOTE = (
    "The paper's settings; rows with other settings say so. docs/paper.md explains our choices where the paper is silent."
)


def _from_to(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no"
    return str(min(numbers)) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def _command(found: Sequence[Comparison], seeds: int) -> str:
    """What computes these rows again."""
    named = list(dict.fromkeys(one.row.table for one in found))
    return " ".join(["epinn reproduce", *([] if len(named) == len(tables()) else named), f"--seeds {seeds}"])


def _summary(found: Sequence[Comparison], seconds: float) -> list[Line]:
    if not found:
        return [Line("Nothing has been computed yet.")]
    lines = []
    for method, per_metric in counts(found).items():
        inside, of = (sum(pair[i] for pair in per_metric.values()) for i in (0, 1))
        parts = "; ".join(f"{PAPER_COLUMNS[metric]} {a} of {b}" for metric, (a, b) in per_metric.items())
        text = f"{inside} of {of} published values ({inside / of:.0%}) lie in our range. {parts}."
        lines.append(Line(text, NAMES[method]))
    if outside := _outside(found):
        total = sum(map(len, outside.values()))
        text = f"{total} values. " + "; ".join(f"{why.short} {len(v)}" for why, v in outside.items()) + "."
        lines.append(Line(text, "Outside"))
    chains = [one for one in found if one.row.method == "hmc"]
    if chains:
        mixed = sum(one.diagnostics.get("rhat", {}).get("max", math.inf) < MIXED for one in chains)
        text = f"mixed for all seeds in {mixed} of {len(chains)} rows (R-hat of the field below {MIXED})."
        lines.append(Line(text, "B-PINN chains"))
    failed = sum(one.failed for one in found)
    if failed:
        lines.append(Line(f"{failed} fits diverged; they are left out of the ranges.", "Failed"))
    printed = sum(one.row.values["time_s"] for one in found)
    runs = sum(one.seeds for one in found)
    text = (
        f"{seconds:,.0f} s of computing for {runs} runs. The paper's own total for these rows, one run each, is "
        f"{printed:,.0f} s ({printed / HOURS:.1f} h)."
    )
    lines.append(Line(text, "Time"))
    return lines


def _count_table(found: Sequence[Comparison]) -> Table:
    metrics = [metric for metric in DECIMALS if any(metric in one.metrics for one in found)]
    body = []
    for method, per_metric in counts(found).items():
        inside, of = (sum(pair[i] for pair in per_metric.values()) for i in (0, 1))
        cells = [Cell(NAMES[method]), Cell(f"{inside} of {of} ({inside / of:.0%})", inside / of)]
        for metric in metrics:
            a, b = per_metric.get(metric, (0, 0))
            cells.append(Cell(f"{a} of {b}" if b else "–", a / b if b else None))
        body.append(tuple(cells))
    columns = ("Method", "All", *(PAPER_COLUMNS[metric] for metric in metrics))
    note = "Inside means between our smallest and largest seed, at the precision that the value is printed with."
    return Table("", columns, tuple(body), note)


def _outside(found: Sequence[Comparison]) -> dict[Reason, list[tuple[Comparison, str]]]:
    """The values outside our range, by reason, the most frequent first."""
    groups: dict[Reason, list[tuple[Comparison, str]]] = {}
    for one in found:
        for metric in one.metrics:
            if not one.inside(metric):
                groups.setdefault(reason(one, metric), []).append((one, metric))
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def _outside_section(found: Sequence[Comparison]) -> Section:
    groups = _outside(found)
    body = [
        (
            Cell(TITLES[one.row.table]),
            Cell(panel_title(one)),
            Cell(f"{one.row.noise:g}", one.row.noise),
            Cell(PAPER_COLUMNS[metric]),
            Cell(one.row.printed(metric), one.row.values[metric]),
            _spread(one.ours.get(metric), DECIMALS[metric]),
            Cell(why.short),
        )
        for why, values in groups.items()
        for one, metric in values
    ]
    text = tuple(f"{why.short} ({len(values)}): {why.text}" for why, values in groups.items())
    table = Table("Every value outside", ("Table", "Row", "Noise", "Metric", "Published", "Ours", "Why"), tuple(body))
    return Section("Values outside our range, and why", text or ("Every value lies inside.",), (table,) if body else ())


def _tables(shown: Sequence[Comparison]) -> tuple[Table, ...]:
    """The values beside the published ones; then what they cost, and how the chains went."""
    metrics = list(dict.fromkeys(metric for one in shown for metric in one.metrics))
    chains = {"acceptance": ("Acceptance", 2), "rhat": ("R-hat", 3), "ess": ("ESS", 0)}
    chains = chains if any(one.diagnostics for one in shown) else {}
    name = "Setting" if shown[0].row.table.startswith("burgers") else "Method"
    beside = tuple(column for metric in metrics for column in (PAPER_COLUMNS[metric], "published"))
    costs = tuple(column for title in TIMES.values() for column in (title, "published"))
    return (
        Table(
            f"Median (min to max) over {_from_to([one.seeds for one in shown])} seeds",
            (name, "Noise", *beside),
            tuple((*_name(one), *(cell for metric in metrics for cell in _beside(one, metric))) for one in shown),
            "✓: the published value lies inside our range; ✗: outside.",
        ),
        Table(
            "Cost" + (", and diagnostics of the chains" if chains else ""),
            (name, "Noise", *costs, *(title for title, _ in chains.values())),
            tuple(
                (
                    *_name(one),
                    *(cell for time in TIMES for cell in _cost(one, time)),
                    *(_spread(one.diagnostics.get(key), digits) for key, (_, digits) in chains.items()),
                )
                for one in shown
            ),
            "Times of seeds that ran together are shared out evenly.",
        ),
    )


def _name(one: Comparison) -> tuple[Cell, Cell]:
    return Cell(panel_title(one)), Cell(f"{one.row.noise:g}", one.row.noise)


def _beside(one: Comparison, metric: str) -> tuple[Cell, Cell]:
    mark = "good" if one.inside(metric) else "bad"
    return _spread(one.ours.get(metric), DECIMALS[metric]), Cell(one.row.printed(metric), one.row.values[metric], mark)


def _cost(one: Comparison, time: str) -> tuple[Cell, Cell]:
    printed = one.row.values.get(time)
    if printed is None:
        return Cell("–", None, "muted"), Cell("–", None, "muted")
    return _spread(one.ours.get(time), 1), Cell(f"{printed:,.0f}", printed, "muted")


def _spread(found: Mapping[str, float] | None, digits: int) -> Cell:
    return Cell(fixed_range(found, digits), found["median"]) if found else Cell("–", None, "muted")


def _settings_table(reproduction: Reproduction, found: Sequence[Comparison]) -> Table:
    """Every setting with the values it takes over the rows."""
    values: dict[str, dict[str, list[str]]] = {}
    for one in found:
        for name, value in reproduction.settings(one.row).items():
            values.setdefault(name, {}).setdefault(setting(value), []).append(one.row.table)
    body = []
    for name, by_value in values.items():
        if len(by_value) == 1:
            text = next(iter(by_value))
        else:
            text = "; ".join(f"{value} ({', '.join(dict.fromkeys(where))})" for value, where in by_value.items())
        body.append((Cell(name), Cell(text)))
    return Table("", ("Setting", "Value"), tuple(body))
