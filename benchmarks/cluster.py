"""The same study by one process and by more and more workers, and with one that is killed on the way; is it the same?

`python benchmarks/cluster.py --redraws 32 --workers 1 2 4` writes docs/results/cluster. Every process computes with one thread,
so that workers are compared and not how they share cores. A first run that is not counted fills the cache of compiled programs.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import describe, save

OUT = Path("docs/results/cluster")
STUDY = ("calibrate", "poisson1d", "--noise", "0.1", "--method", "laplace", "--sigma", "equation=0.1", "--at-once", "1")
ONE_THREAD = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", "OMP_NUM_THREADS": "1"}
KILLED_AFTER = 0.25  # of the redraws


def study(place: Path, options: argparse.Namespace, workers: int | None, kill: bool = False) -> dict[str, Any]:
    """One study in a folder of its own: what it took, all in all and from when its workers were there."""
    command = [sys.executable, "-m", "epinn", *STUDY, "--redraws", str(options.redraws), "--out", str(place)]
    command += [part for setting in options.set for part in ("--set", setting)]
    command += [] if workers is None else ["--cluster", f"local:{workers}"]
    began, at_work = time.monotonic(), None
    with subprocess.Popen(command, env=os.environ | ONE_THREAD, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            time.sleep(0.05)
            if at_work is None and (place / "run.json").exists():
                at_work = time.monotonic()
            if kill and len(list(place.glob("redraws-*"))) >= KILLED_AFTER * options.redraws:
                os.kill(_workers(process.pid)[0], signal.SIGKILL)
                kill = False
        ended, said = time.monotonic(), process.stderr.read().decode()
    if process.returncode != 0 or kill:
        sys.exit(said or "it was over before a worker could be killed: take more redraws.")
    return {"workers": workers, "seconds": ended - began, "at_work": ended - at_work, "load": os.getloadavg()[0]}


def _workers(process: int) -> list[int]:
    children = [int(n) for file in Path(f"/proc/{process}/task").glob("*/children") for n in file.read_text().split()]
    return [number for number in children if b"spawn_main" in Path(f"/proc/{number}/cmdline").read_bytes()]


def results(place: Path) -> list[dict[str, Any]]:
    """All that was found, without times, of which warnings speak too."""
    found = [row for path in place.glob("redraws-*") for row in json.loads(path.read_text())["redraws"]]
    kept = [{name: value for name, value in row.items() if name not in ("time_s", "warnings")} for row in found]
    return sorted(kept, key=lambda row: row["seed"])


def measure(options: argparse.Namespace) -> dict[str, Any]:
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_CACHE_HOME"] = scratch
        study(Path(scratch) / "first", argparse.Namespace(redraws=2, set=options.set), None)
        for number, (workers, kill) in enumerate([(None, False), *((n, False) for n in options.workers), (2, True)]):
            place = Path(scratch) / str(number)
            rows.append({**study(place, options, workers, kill), "killed": kill})
            rows[-1]["same"] = results(place) == results(Path(scratch) / "0")
            print(rows[-1], flush=True)
    return {"machine": describe(), "redraws": options.redraws, "set": options.set, "rows": rows}


def write(found: dict[str, Any], note: str) -> None:
    one = next(row for row in found["rows"] if row["workers"] == 1)
    settings = "".join(f" --set {setting}" for setting in found["set"])
    lines = [
        "# A study by several workers",
        "",
        f"`epinn {' '.join(STUDY)} --redraws {found['redraws']}{settings}` by one process and, with `--cluster local:N`, by N",
        "workers of one thread each; once a worker is killed (SIGKILL) after a quarter of the redraws. The time is from when",
        "workers are there to the end of the command, picture included; the efficiency is what one worker took, over N times",
        "what N took. The load is the mean number of processes that wanted a core in the last minute, at the end.",
        "",
        f"    python benchmarks/cluster.py --redraws {found['redraws']} --workers"
        + "".join(f" {row['workers']}" for row in found["rows"] if row["workers"] and not row["killed"])
        + (f" --set{settings.replace(' --set', '')}" if settings else ""),
        "",
        f"{found['machine']}. {note}".strip(),
        "",
        "| workers | seconds | with the start | efficiency | load | the same bits as one process |",
        "|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        name = "none (one process)" if row["workers"] is None else f"{row['workers']}{', one killed' if row['killed'] else ''}"
        efficiency = f"{one['at_work'] / row['at_work'] / row['workers']:.0%}" if row["workers"] and not row["killed"] else "–"
        same = "–" if row["workers"] is None else "yes" if row["same"] else "**no**"
        lines.append(f"| {name} | {row['at_work']:.0f} | {row['seconds']:.0f} | {efficiency} | {row['load']:.1f} | {same} |")
    (OUT / "README.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redraws", type=int, default=32)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of the study")
    parser.add_argument("--note", default="", help="what else the page should say of the machine")
    options = parser.parse_args()
    found = measure(options)
    save(OUT, "cluster", found)
    write(found, options.note)


if __name__ == "__main__":
    main()
