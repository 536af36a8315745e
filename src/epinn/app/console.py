"""What a terminal shows: a progress bar while it runs, a table at the end."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

from ..judge.verdict import overall
from ..judge.wording import COLUMNS, DECIMALS, PAPER_COLUMNS, in_range, notes
from ..progress import Progress
from .paper.figures import TITLES, panel_title
from .paper.tables import DECIMALS as DIGITS
from .paper.tables import NAMES, Comparison, counts
from .plan import Plan, summarise
from .published import lookup


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

    def __enter__(self) -> Self:
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
        rows = [one for one in found if one.row.table == name]
        table = Table(title=f"{TITLES[name]}: median (min to max) over {rows[0].seeds} seeds", title_justify="left")
        metrics = list(dict.fromkeys(metric for one in rows for metric in one.metrics))
        for title in ("noise", "", *(PAPER_COLUMNS[metric] for metric in metrics)):
            table.add_column(title, justify="left" if title == "" else "right")
        for one in rows:
            ours = [in_range(one.ours.get(metric), DIGITS[metric]) for metric in metrics]
            marks = ["" if one.inside(metric) else "* " for metric in metrics]
            printed = [f"{mark}{one.row.values[m]:.{DIGITS[m]}f}" for mark, m in zip(marks, metrics, strict=True)]
            table.add_row(f"{one.row.noise:g}", panel_title(one), *ours)
            table.add_row("", "  published", *printed, style="dim")
        console.print(table)
    for method, per_metric in counts(found).items():
        inside, of = (sum(pair[i] for pair in per_metric.values()) for i in (0, 1))
        parts = ", ".join(f"{PAPER_COLUMNS[metric]} {a} of {b}" for metric, (a, b) in per_metric.items())
        console.print(f"{NAMES[method]}: {inside} of {of} printed values lie in our range ({parts})", highlight=False)
    console.print("* outside our range; the report says why", highlight=False)
    console.print(f"report: {folder / 'report.html'}", markup=False, highlight=False, soft_wrap=True)


def _console() -> Console:
    """The terminal, or a file, which has room for wide tables."""
    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=120)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def print_summary(records: Sequence[Mapping[str, Any]], plan: Plan, folder: Path) -> None:
    """The table of all methods, published values beside ours where there are any, and where the files are."""
    console = _console()
    noise = "" if plan.noises[0] is None else f", noise {plan.noises[0]:g}"
    noise += "".join(f", {kind} ± {sigma:g}" for kind, sigma in plan.disturb.items())
    seeds = f"seed {plan.seeds[0]}" if len(plan.seeds) == 1 else f"{len(plan.seeds)} seeds: median (min to max)"
    table = Table(title=f"{plan.source.name}{noise}, {seeds}", title_justify="left")
    summary = summarise(records)
    columns = {name: title for name, title in COLUMNS.items() if any(row.get(name) for row in summary.values())}
    sought = [name.removesuffix("_mean") for name in next(iter(summary.values())) if name.endswith("_mean")]
    table.add_column("method")
    for name in (*sought, *columns.values()):
        table.add_column(name, justify="right")
    for method, row in summary.items():
        ours = [_with_spread(row[f"{name}_mean"], row[f"{name}_std"]) for name in sought]
        table.add_row(method, *ours, *(in_range(row[name], DECIMALS[name]) for name in columns))
        _add_published(table, plan, method, sought, columns)
    console.print(table)
    for method in summary:
        own = [record for record in records if record["method"] == method and "verdict" in record]
        if not own:
            continue
        text = overall([record["verdict"] for record in own], [record["seed"] for record in own])
        console.print(f"{method}: {text}", markup=False, highlight=False, soft_wrap=True)
    for note in notes(records):
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    pictures = sorted(path.name for path in folder.glob("*.png"))
    more = f" and {len(pictures) - 4} more" if len(pictures) > 4 else ""
    console.print(f"figures: {', '.join(pictures[:4])}{more}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"results: {folder}", markup=False, highlight=False, soft_wrap=True)


def _add_published(table: Table, plan: Plan, method: str, sought: Sequence[str], columns: Mapping[str, str]) -> None:
    noise = plan.noises[0]
    found = None if noise is None or plan.disturb else lookup(plan.source.spec, method, noise, plan.settings.flat())
    if found is None:
        return
    values = found.values
    unknowns = [
        f"{values[f'{name}_mean']:g} ± {values[f'{name}_std']:g}" if f"{name}_mean" in values else "" for name in sought
    ]
    metrics = [f"{values[name]:.{DECIMALS[name]}f}" if name in values else "" for name in columns]
    table.add_row("  published", *unknowns, *metrics, style="dim")


def _with_spread(mean: Mapping[str, float] | None, std: Mapping[str, float] | None) -> str:
    if mean is None or std is None:
        return "-"
    return f"{mean['median']:.4g} ± {std['median']:.2g}"


def reliability_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """What repetition says of each method."""
    table = Table(title=f"coverage of the bands over {rows[0]['redraws']} redraws", title_justify="left")
    for name in ("method", "50%", "80%", "95%", "±", "sharpness", "RMSE", "interval score"):
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for row in rows:
        covered = [f"{row['coverage'][level]:.3f}" for level in ("0.5", "0.8", "0.95")]
        scores = ["-" if row[name] is None else f"{row[name]:.3g}" for name in ("sharpness", "rmse", "interval_score")]
        table.add_row(row["method"], *covered, f"{row['standard_error']:.3f}", *scores)
    console = _console()
    console.print(table)
    for row in rows:
        for name, found in row["unknowns"].items():
            console.print(
                f"{row['method']}: {name} in its 95% interval {found['coverage']:.2f} of the time, sd {found['std']:.2g}"
            )
        if row["with_warnings"]:
            console.print(f"{row['method']}: {row['with_warnings']} of {row['redraws']} redraws have warnings (redraws.json)")
