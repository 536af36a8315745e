"""The page of the suite, from some folders of results: the first in full, of the others errors, seconds and verdicts."""

import math
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from .case import Case
from .problems import CASES
from .results import DONE, FITTED, load

GOOD = 1e-2  # a relative error below this is what a user would call solved
NOTHING = "–"


def write(folders: list[Path], to: Path) -> None:
    found = [{name: load(folder, name) for name in CASES} for folder in folders]
    machines = [load(folder, "machine") or {} for folder in folders]
    labels = [machine.get("label") or folder.name for machine, folder in zip(machines, folders, strict=True)]
    parts = [_head(machines[0], labels), _fits(found, labels)]
    parts += [_counts(label, own) for label, own in zip(labels, found, strict=True)]
    if (notes := to / "notes.md").exists():
        parts.append(notes.read_text())
    if rows := _unknowns(found[0]):
        parts.append(_beside(rows))
    if rows := _unfinished(found[0]):
        parts.append(f"## What did not end\n\n{_table(['case', 'why'], rows)}")
    parts.append(_commands(folders, machines, to))
    path = to / "README.md"
    path.write_text("\n".join(part.rstrip("\n") + "\n" for part in parts))
    print(f"written: {path}")


def _head(machine: dict[str, Any], labels: list[str]) -> str:
    where = machine.get("machine", "a machine that was not recorded")
    others = f" Beside them: {', '.join(labels[1:])}." if labels[1:] else ""
    return f"""# Suite

{len(CASES)} problems with known solutions, typed as a new user would and solved with default settings, `laplace` for the band.
They are in `benchmarks/suite/problems`, one file each. {labels[0]}: {where}.{others}
"""


def _fits(found: list[dict[str, Any]], labels: list[str]) -> str:
    head = ["problem", "relative L2 error", "band", "coverage", "seconds", "verdict"]
    head += [f"{what}, {label}" for label in labels[1:] for what in ("error", "seconds", "verdict")]
    rows = []
    for name, case in CASES.items():
        row = [case.title, _error(found[0][name]), _std(found[0][name]), _coverage(found[0][name])]
        row += [_seconds(found[0][name]), _verdict(found[0][name])]
        for other in found[1:]:
            row += [_error(other[name]), _seconds(other[name]), _verdict(other[name])]
        rows.append([*row, _published(case)])
    return f"""## Fields

Errors are those of the field that is worst: median over the seeds (range). *Band* is the mean standard deviation of that field,
relative to the root mean square of the truth like the error; *coverage* counts all fields at all points where the truth is
known, and mean ± 1.96 standard deviations should hold 95% of them. Seconds are for all seeds of a problem: fit + bands,
compilation included. *Published* is the best error of a PINN that we know of.

{_table([*head, "published"], rows)}"""


def _counts(label: str, found: dict[str, Any]) -> str:
    errors = {name: _median(found[name], "error") for name in CASES}
    known = {name: error for name, error in errors.items() if error is not None}
    good = [name for name, error in known.items() if error < GOOD]
    without = len(CASES) - len(known)
    trusted = []
    for name in known:
        runs = [
            run for run in _runs(found[name]) if run.get("trustworthy") and run["error"] is not None and run["error"] >= GOOD
        ]
        if name not in good and runs:
            trusted.append(f"{name} (coverage {median(run['coverage'] for run in runs):.2f})")
    lost = f" {without} had no result." if without else ""
    names = f": {', '.join(trusted)}" if trusted else ""
    above = len(known) - len(good)
    solved = f"**{label}: {len(good)} of {len(CASES)} below {GOOD:g}.**{lost}"
    return f"{solved} Of those above ({above}), {len(trusted)} were called trustworthy{names}.\n"


def _unknowns(found: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, case in CASES.items():
        runs = [run for run in _runs(found[name]) if run.get("unknowns")]
        for unknown in runs[0]["unknowns"] if runs else ():
            values = [run["unknowns"][unknown] for run in runs]
            first = values[0]
            row = [case.title, unknown, _plus_minus(first["mean"], first["sd"])]
            if "least_squares" in first:
                distances = [value["distance"] for value in values if value["distance"] is not None]
                ratios = [value["ratio"] for value in values if value["ratio"] is not None]
                row.append(_plus_minus(first["least_squares"], first["least_squares_sd"]))
                row.append(f"{median(ratios):.2f}" if ratios else NOTHING)
                row.append(", ".join(f"{distance:+.2f}" for distance in distances) or NOTHING)
            else:
                row += [NOTHING] * 3
            rows.append(row)
    return rows


def _beside(rows: list[list[str]]) -> str:
    head = ["problem", "unknown", "epinn", "least squares", "ratio of sds", "distances in sds"]
    return f"""## Unknowns

Beside least squares through a classical solver, with the same measurements. Values are those of the first seed, the ratio is
the median over the seeds, and there is one distance for each seed, in standard deviations of least squares.

{_table(head, rows)}"""


def _unfinished(found: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name in CASES:
        case = found[name]
        if case is None:
            rows.append([name, "not run"])
        elif case["state"] != DONE:
            state = "stopped before its bands were made" if case["state"] == FITTED else case["state"]
            limit = f" ({case['limit']:g} s)" if "limit" in case else ""
            rows.append([name, _cell(f"{state}{limit}{': ' + case['error'] if case.get('error') else ''}")])
        rows += [[name, _cell(text)] for text in dict.fromkeys(run["band_error"] for run in _runs(case) if "band_error" in run)]
        rows += [[name, _cell(text)] for text in dict.fromkeys(run["failure"] for run in _runs(case) if run["failure"])]
    return rows


def _commands(folders: list[Path], machines: list[dict[str, Any]], to: Path) -> str:
    runs = []
    for folder, machine in zip(folders, machines, strict=True):
        seeds = f" --seeds {machine['seeds']}" if machine.get("seeds") else ""
        some = " ".join(["run", *machine.get("names", ())])
        given = f"--out {folder} --jobs {machine.get('jobs', 1)} --limit {machine.get('limit', 600):g}{seeds}"
        runs.append(f"python -m benchmarks.suite {some} {given}")
    page = f"python -m benchmarks.suite page {' '.join(map(str, folders))} --to {to}"
    lines = "\n".join([*runs, page])
    return f"## Commands\n\n```\n{lines}\n```\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _runs(case: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [] if case is None else case.get("runs", [])


def _of(case: dict[str, Any] | None, key: str) -> list[float]:
    """A figure of all seeds that have it."""
    return [run[key] for run in _runs(case) if run.get(key) is not None]


def _median(case: dict[str, Any] | None, key: str) -> float | None:
    values = _of(case, key)
    return median(values) if values else None


def _error(case: dict[str, Any] | None) -> str:
    values = _of(case, "error")
    if not values:
        return NOTHING if case is None else case["state"]
    text = f"{median(values):.1e}"
    return text if len(values) == 1 else f"{text} ({min(values):.1e} to {max(values):.1e})"


def _std(case: dict[str, Any] | None) -> str:
    """That of the field with the largest error."""
    runs = [run for run in _runs(case) if run.get("stds")]
    worst = [run["stds"][max(run["errors"], key=lambda name: run["errors"][name] or 0.0)] for run in runs]
    values = [value for value in worst if value is not None]
    return f"{median(values):.1e}" if values else NOTHING


def _coverage(case: dict[str, Any] | None) -> str:
    middle = _median(case, "coverage")
    return NOTHING if middle is None else f"{middle:.2f}"


def _seconds(case: dict[str, Any] | None) -> str:
    if case is None or "fit_seconds" not in case:
        return NOTHING if case is None or "limit" not in case else f"> {case['limit']:g}"
    bands = _of(case, "band_seconds")
    return f"{case['fit_seconds']:.0f} + {sum(bands):.0f}" if bands else f"{case['fit_seconds']:.0f}"


def _verdict(case: dict[str, Any] | None) -> str:
    words = Counter(run["verdict"]["word"] if "verdict" in run else "no band" for run in _runs(case))
    if not words:
        return NOTHING if case is None else case["state"]
    return next(iter(words)) if len(words) == 1 else ", ".join(f"{word} {count}" for word, count in words.most_common())


def _published(case: Case) -> str:
    return NOTHING if case.published is None else f"{case.published:.1e} ({_cell(case.source)})"


def _plus_minus(value: float | None, sd: float | None) -> str:
    """Two digits of the standard deviation, and the value to the same place."""
    if value is None or sd is None or not sd > 0:
        return NOTHING if value is None else f"{value:.4g}"
    if not 1e-4 <= abs(value) < 1e6:
        digits = max(1, math.floor(math.log10(abs(value) or sd)) - math.floor(math.log10(sd)) + 1)
        return f"{value:.{digits}e} ± {sd:.1e}"
    places = max(0, 1 - math.floor(math.log10(sd)))
    return f"{value:.{places}f} ± {sd:.{places}f}"
