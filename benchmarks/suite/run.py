"""Many cases, each in a process of its own, some side by side or on other machines, and none for longer than its time."""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import jax

import epinn
from epinn.app.cluster.address import workers_at
from epinn.app.cluster.tasks import computed

from ..machine import describe
from .problems import CASES
from .results import DONE, FAILED, LATE, in_one_line, load, save


def run(names: list[str], seeds: int | None, folder: Path, jobs: int, label: str, limit: float, cluster: str | None) -> None:
    if unknown := [name for name in names if name not in CASES]:
        sys.exit(f"there is no case {', '.join(unknown)}; there are {', '.join(CASES)}.")
    machine = {"label": label, "machine": describe(), "jax": jax.__version__, "epinn": epinn.__version__}
    save(folder, "machine", {**machine, "cores": os.cpu_count(), "jobs": jobs, "limit": limit, "seeds": seeds, "names": names})
    tasks = [Task(name, seeds, limit) for name in names or CASES]
    for name, *_ in tasks:
        (folder / f"{name}.json").unlink(missing_ok=True)
    workers: AbstractContextManager[Executor] = ThreadPoolExecutor(jobs) if cluster is None else workers_at(cluster, print)
    with workers as executor:
        for task, found in computed(executor, compute, tasks):
            save(folder, task.name, found)
            print(_line(found), flush=True)


class Task(NamedTuple):
    name: str
    seeds: int | None
    limit: float


def compute(task: Task) -> dict[str, Any]:
    """A case in another process, which may be stopped: what came of it."""
    with tempfile.TemporaryDirectory() as scratch:
        return _compute(*task, Path(scratch))


def _compute(name: str, seeds: int | None, limit: float, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.suite", "one", name, "--out", str(folder)]
    if seeds is not None:
        command += ["--seeds", str(seeds)]
    began = time.perf_counter()
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, check=False)
        said = [line for line in ended.stderr.splitlines() if line.strip()]
        problem = None if ended.returncode == 0 else said[-1] if said else f"ended with code {ended.returncode}"
    except subprocess.TimeoutExpired:
        problem = LATE
    seconds = time.perf_counter() - began
    case = CASES[name]
    found = load(folder, name) or {"name": name, "title": case.title, "published": case.published, "source": case.source}
    if problem == LATE:
        found |= {"state": LATE, "limit": limit}
    elif problem is not None:
        found = {"error": in_one_line(problem), **found, "state": FAILED}  # its own words take precedence
    return {**found, "seconds": seconds}


def _line(found: dict[str, Any]) -> str:
    runs = found.get("runs", [])
    said = [f"error {median(r['error'] for r in runs):.1e}"] if runs and all(r["error"] is not None for r in runs) else []
    if covered := [r["coverage"] for r in runs if r.get("coverage") is not None]:
        said.append(f"coverage {median(covered):.2f}")
    said += dict.fromkeys(r["verdict"]["word"] if "verdict" in r else r["band_error"] for r in runs if r.keys() & _JUDGED)
    if found["state"] != DONE:
        said.append(f"{found['state']}{': ' + found['error'] if 'error' in found else ''}")
    return f"{found['name']:<20} {found['seconds']:6.0f} s  {', '.join(said)}"


_JUDGED = {"verdict", "band_error"}
