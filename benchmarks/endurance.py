"""Long use: many fits in one process, many runs of several processes in one folder tree, and what checkpoints cost.

`python -m benchmarks.endurance fits`, `tree` or `cost`; what was found is added to docs/results/faults/endurance.json.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.faults.same import differences
from benchmarks.machine import describe, save

OUT = Path("docs/results/faults")
TINY = (
    "base.hidden=4",
    "base.epochs=20",
    "base.newton=3",
    "base.restarts=0",
    "predict.draws=8",
    "laplace.samples=8",
    "points.collocation=8",
)
MEBIBYTE = 2**20


def fits(number: int, seconds: float) -> dict[str, Any]:
    """Fit after fit in this process: a problem built anew each time, of the same shape, with other data and another key."""
    import epinn

    base = epinn.Base(hidden=(4,), epochs=20, newton=3, restarts=0)
    started, rows, done = time.monotonic(), [], 0
    while done < number and time.monotonic() - started < seconds:
        with contextlib.suppress(epinn.Diverged), _quiet():
            epinn.fit(_problem(done), key=done, base=base)
        done += 1
        if done % max(1, number // 40) == 0 or (done < 100 and done % 10 == 0) or done == 1:
            rows.append({"fits": done, "MiB": _resident() / MEBIBYTE, "maps": _maps(), "seconds": time.monotonic() - started})
            print(rows[-1], flush=True)
    late = [row for row in rows if row["fits"] >= done / 4]
    growth = np.polyfit([row["fits"] for row in late], [row["MiB"] for row in late], 1)[0] if len(late) > 2 else np.nan
    return {
        "fits": done,
        "rows": rows,
        "KiB_per_fit": None if np.isnan(growth) else 1024 * float(growth),
        "seconds": time.monotonic() - started,
    }


def _problem(i: int) -> Any:
    """As a user writes it in a loop: every function is a new object."""
    import epinn

    points = np.linspace(0.1, 0.9, 5)
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u, x: u.xx + 9 * u,
        boundary=epinn.Dirichlet(0.0),
        data=epinn.Data(points, np.sin(3 * points + i), sigma=0.1),
        points=epinn.Points(collocation=8),
    )


@contextlib.contextmanager
def _quiet() -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _resident() -> int:
    """Bytes of this process that are in memory now."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _maps() -> int:
    maps = Path("/proc/self/maps")
    return maps.read_bytes().count(b"\n") if maps.exists() else 0


def tree(number: int, processes: int) -> dict[str, Any]:
    """Runs of several processes at once that all take the next free folder of one tree; runs of one seed must be the same."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        share = number // processes
        command = [sys.executable, "-m", "benchmarks.endurance", "runs"]
        children = [
            subprocess.Popen([*command, "--number", str(share), "--folder", folder, "--first", str(i * share)])
            for i in range(processes)
        ]
        codes = [child.wait() for child in children]
        found = sorted((Path(folder) / "runs").iterdir())
        by_seed = defaultdict(list)
        unfinished, leftovers = 0, 0
        for path in found:
            run = json.loads((path / "run.json").read_text())
            unfinished += run["status"] != "finished" or not (path / "report.html").is_file()
            leftovers += sum(1 for one in path.rglob("*") if one.name.startswith(".") or one.is_dir())
            by_seed[run["seeds"][0]].append(path)
        others = sum(bool(differences(paths[0], path)) for paths in by_seed.values() for path in paths[1:])
    return {
        "runs": number,
        "processes": processes,
        "exit_codes": codes,
        "folders": len(found),
        "unfinished": unfinished,
        "leftovers": leftovers,
        "seeds": len(by_seed),
        "different_bits": others,
        "seconds": time.monotonic() - started,
    }


def runs(number: int, folder: Path, first: int) -> None:
    """One of the processes: so many commands, one after the other."""
    from epinn.app.commands import main

    os.chdir(folder)
    for i in range(first, first + number):
        settings = [part for setting in TINY for part in ("--set", setting)]
        line = [
            "epinn",
            "run",
            "poisson1d",
            "--noise",
            "0.1",
            "--method",
            "laplace",
            "--seed",
            str(i % 10),
            "--json",
            *settings,
        ]
        with mock.patch.object(sys, "argv", line), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main()


def cost(epochs: int, samples: int) -> dict[str, Any]:
    """The share of one run that is spent on checkpoints and checksums, measured inside of it."""
    from epinn.app.commands import main
    from epinn.app.store import checkpoint, files, seal, trees

    spent: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)

    def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                spent[name] += time.perf_counter() - began
                counts[name] += 1

        return timed

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        os.chdir(folder)
        stack.enter_context(mock.patch.object(checkpoint.Keeper, "keep", clocked("checkpoints", checkpoint.Keeper.keep)))
        for module, name in ((files, "sealed"), (trees, "sealed"), (files, "is_intact"), (trees, "is_intact")):
            stack.enter_context(mock.patch.object(module, name, clocked("checksums", getattr(seal, name))))
        lengths = (f"base.epochs={epochs}", f"hmc.samples={samples}", "base.restarts=0", "compute.checkpoint=30")
        settings = [part for setting in lengths for part in ("--set", setting)]
        line = ["epinn", "run", "poisson1d", "--noise", "0.1", "--method", "hmc", "--json", "--out", "run", *settings]
        stack.enter_context(mock.patch.object(sys, "argv", line))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        began = time.perf_counter()
        with contextlib.suppress(SystemExit):
            main()
        seconds = time.perf_counter() - began
    ratio = sum(spent.values()) / seconds
    return {"seconds": seconds, "spent": dict(spent), "counts": dict(counts), "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fits", "tree", "cost", "runs"))
    parser.add_argument("--number", type=int)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--epochs", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=5_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    out = options.out.resolve()
    if options.what == "runs":
        runs(options.number, options.folder, options.first)
        return
    if options.what == "fits":
        found = fits(options.number or 2000, options.seconds)
    elif options.what == "tree":
        found = tree(options.number or 200, options.processes)
    else:
        found = cost(options.epochs, options.samples)
    print(json.dumps({name: value for name, value in found.items() if name != "rows"}, indent=1))
    path = out / "endurance.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    save(out, "endurance", before | {options.what: found | {"machine": describe()}})


if __name__ == "__main__":
    main()
