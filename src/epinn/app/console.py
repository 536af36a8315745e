"""What a terminal shows: a progress bar while it runs, a table at the end."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from ..judge.verdict import overall
from ..judge.wording import COLUMNS, PAPER_COLUMNS, fixed, fixed_range, median_and_range, metric, notes, plus_minus, significant
from ..progress import Progress
from .paper.figures import TITLES, panel_title
from .paper.tables import NAMES, Comparison, counts
from .plan.plan import Plan, summarise
from .plan.published import DECIMALS, lookup
from .report.tables import by_field

COLOURS = {"good": "bold green", "fair": "bold yellow", "bad": "bold red"}  # of verdicts, by tone


B = TypeVar("B", bound="Bar")


class Bar(Progress):
    """A bar per stage on standard error: losses by channel and the time left. Without a terminal, a line per stage."""

    def __init__(self, quiet: bool = False):
        self._console = Console(stderr=True)
        self._lines = not quiet and not self._console.is_terminal
        self._tasks: dict[str, TaskID] = {}
        self._started: dict[str, float] = {}
        self._bar = RichProgress(
            TextColumn("{task.description:<20}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[values]}"),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
        )

    def __enter__(self: B) -> B:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        started = self._started.setdefault(stage, time.perf_counter())
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=total, completed=step, values="")
        text = "  ".join(f"{name} {value:.2e}" for name, value in values.items())
        self._bar.update(self._tasks[stage], completed=step, values=text)
        if self._lines and step >= total:
            sys.stderr.write(f"{stage}: {total} steps, {time.perf_counter() - started:.1f} s  {text}\n")

    def note(self, text: str) -> None:
        """A line of its own, also where no progress is shown: on standard error, it is in nobody's way."""
        self._console.print(f"epinn: {text}", markup=False, highlight=False, soft_wrap=True)


class Rows(Bar):
    """The bars of the row that is being computed, under a line that counts the rows and says how long the rest will take."""

    def __init__(self, quiet: bool = False):
        super().__init__(quiet)
        self._speaks, self._lines = self._lines, False

    def tell(self, done: int, total: int, title: str, seconds: float | None) -> None:
        """The next row, or that all are done."""
        left = "" if seconds is None or not title else f"; {_duration(seconds)} left"
        line = f"rows {done} of {total} done{left}{': now ' + title if title else ''}"
        for task in self._tasks.values():
            self._bar.remove_task(task)
        self._tasks.clear()
        self._started.clear()
        if self._speaks:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        else:
            self._bar.print(line, highlight=False, markup=False)


def print_reproduction(found: Sequence[Comparison], folder: Path) -> None:
    """Every row above the published one, and how many printed values lie in our ranges."""
    console = _console()
    for name in dict.fromkeys(one.row.table for one in found):
        console.print(_paper_table(TITLES[name], [one for one in found if one.row.table == name]))
    for method, per_metric in counts(found).items():
        inside, of = (sum(pair[i] for pair in per_metric.values()) for i in (0, 1))
        parts = ", ".join(f"{PAPER_COLUMNS[name]} {a} of {b}" for name, (a, b) in per_metric.items())
        console.print(f"{NAMES[method]}: {inside} of {of} printed values lie in our range ({parts})", highlight=False)
    console.print("* outside our range; the report says why", highlight=False)
    console.print(f"report: {folder / 'report.html'}", markup=False, highlight=False, soft_wrap=True)


def _paper_table(title: str, rows: Sequence[Comparison]) -> Table:
    """Our medians and ranges with the paper's decimals, the published values beneath."""
    table = Table(title=f"{title}: median (min to max) over {rows[0].seeds} seeds", title_justify="left")
    names = list(dict.fromkeys(name for one in rows for name in one.metrics))
    for column in ("noise", "", *(PAPER_COLUMNS[name] for name in names)):
        table.add_column(column, justify="left" if column == "" else "right")
    for one in rows:
        ours = [fixed_range(one.ours.get(name), DECIMALS[name]) for name in names]
        printed = [f"{'' if one.inside(name) else '* '}{one.row.printed(name)}" for name in names]
        table.add_row(f"{one.row.noise:g}", panel_title(one), *ours)
        table.add_row("", "  published", *printed, style="dim")
    return table


def _console() -> Console:
    """The terminal, or a file, which has room for wide tables."""
    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=120)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def print_summary(records: Sequence[Mapping[str, Any]], plan: Plan, folder: Path) -> None:
    """The table of all methods, published values beside ours where there are any; the verdicts; where the files are."""
    console = _console()
    console.print(_summary_table(records, plan))
    for method in dict.fromkeys(record["method"] for record in records):
        own = [record for record in records if record["method"] == method]
        told: tuple[str, ...] = ()
        if all("verdict" in record for record in own):
            said = overall([record["verdict"] for record in own], [record["seed"] for record in own])
            _print_line(
                console, method, (said.verdict.word, COLOURS.get(said.verdict.tone, "bold")), f"{said.counts}. {said.reasons}"
            )
            told = said.verdict.why
        for whose, text in notes(own, told):
            _print_line(console, whose, ("note", "bold"), f": {text}")
    pictures = sorted(path.name for path in folder.glob("*.png"))
    more = f" and {len(pictures) - 4} more" if len(pictures) > 4 else ""
    console.print(f"figures: {', '.join(pictures[:4])}{more}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"report: {folder / 'report.html'}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"results: {folder}", markup=False, highlight=False, soft_wrap=True)


def _print_line(console: Console, whose: str, word: tuple[str, str], rest: str) -> None:
    """`epinet: trustworthy. ...`, the word in its colour if the terminal has colours."""
    console.print(Text.assemble(f"{whose}: ", word, rest), soft_wrap=True)


def _summary_table(records: Sequence[Mapping[str, Any]], plan: Plan) -> Table:
    """One row for every method, and for every field if there are several."""
    noise = "" if plan.noises[0] is None else f", noise {plan.noises[0]:g}"
    noise += "".join(f", {kind} ± {sigma:g}" for kind, sigma in plan.disturb.items())
    seeds = f"seed {plan.seeds[0]}" if len(plan.seeds) == 1 else f"{len(plan.seeds)} seeds: median (min to max)"
    table = Table(title=Text(f"{plan.title}{noise}, {seeds}"), title_justify="left")
    fields = {field: summarise(some) for field, some in by_field(records).items()}
    rows = {(method, field): row for method in summarise(records) for field in fields if (row := fields[field][method])}
    columns = {name: title for name, title in COLUMNS.items() if any(row.get(name) for row in rows.values())}
    sought = [name.removesuffix("_mean") for name in next(iter(rows.values())) if name.endswith("_mean")]
    several = ("field",) if len(fields) > 1 else ()
    for name in ("method", *several, *sought, *columns.values()):
        table.add_column(name, justify="left" if name in ("method", "field") else "right")
    for (method, field), row in rows.items():
        ours = [_with_spread(row.get(f"{name}_mean"), row.get(f"{name}_std")) for name in sought]
        named = (method, field) if several else (method,)
        table.add_row(*named, *ours, *(median_and_range(name, row[name]) for name in columns))
        if not several:
            _add_published(table, plan, method, sought, columns)
    return table


def _add_published(table: Table, plan: Plan, method: str, sought: Sequence[str], columns: Mapping[str, str]) -> None:
    noise = plan.noises[0]
    found = None if noise is None or plan.disturb else lookup(plan.source.spec, method, noise, plan.settings.flat())
    if found is None:
        return
    values = found.values
    unknowns = [
        plus_minus(values[f"{name}_mean"], values[f"{name}_std"]) if f"{name}_mean" in values else "" for name in sought
    ]
    table.add_row("  published", *unknowns, *(found.printed(name) for name in columns), style="dim")


def _with_spread(mean: Mapping[str, float] | None, std: Mapping[str, float] | None) -> str:
    return "-" if mean is None or std is None else plus_minus(mean["median"], std["median"])


def reliability_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """What repetition says of each method."""
    table = Table(title=f"coverage of the bands over {rows[0]['redraws']} redraws", title_justify="left")
    for name in ("method", "50%", "80%", "95%", "±", "sharpness", "RMSE", "interval score"):
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for row in rows:
        covered = [fixed(row["coverage"][level], 3) for level in ("0.5", "0.8", "0.95")]
        scores = ["-" if row[name] is None else metric(name, row[name]) for name in ("sharpness", "rmse", "interval_score")]
        table.add_row(row["method"], *covered, fixed(row["standard_error"], 3), *scores)
    console = _console()
    console.print(table)
    for row in rows:
        lines = [
            f"the 95% interval of {name} holds the true value in {found['coverage']:.0%} of the redraws, "
            f"mean standard deviation {significant(found['std'])}"
            for name, found in row["unknowns"].items()
        ]
        if row["with_warnings"]:
            lines.append(f"{row['with_warnings']} of {row['redraws']} redraws have warnings; they are in redraws.json")
        for line in lines:
            console.print(f"{row['method']}: {line}", markup=False, highlight=False, soft_wrap=True)
