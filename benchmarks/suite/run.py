"""Many cases, each in a process of its own, some side by side, and none for longer than its time."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from statistics import median
from typing import Any

import jax

import epinn

from ..machine import describe
from .problems import CASES
from .results import DONE, FAILED, LATE, in_one_line, load, save


def run(names: list[str], seeds: int | None, folder: Path, jobs: int, label: str, limit: float) -> None:
    if unknown := [name for name in names if name not in CASES]:
        sys.exit(f"there is no case {', '.join(unknown)}; there are {', '.join(CASES)}.")
    machine = {"label": label, "machine": describe(), "jax": jax.__version__, "epinn": epinn.__version__}
    save(folder, "machine", {**machine, "cores": os.cpu_count(), "jobs": jobs, "limit": limit, "seeds": seeds, "names": names})
    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(_one, name, seeds, folder, limit) for name in names or CASES]):
            print(future.result(), flush=True)


def _one(name: str, seeds: int | None, folder: Path, limit: float) -> str:
    """A case in another process; what came of it in a line."""
    (folder / f"{name}.json").unlink(missing_ok=True)
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
    save(folder, name, {**found, "seconds": seconds})
    return _line(found, seconds)


def _line(found: dict[str, Any], seconds: float) -> str:
    runs = found.get("runs", [])
    said = [f"error {median(r['error'] for r in runs):.1e}"] if runs and all(r["error"] is not None for r in runs) else []
    if covered := [r["coverage"] for r in runs if r.get("coverage") is not None]:
        said.append(f"coverage {median(covered):.2f}")
    said += dict.fromkeys(r["verdict"]["word"] if "verdict" in r else r["band_error"] for r in runs if r.keys() & _JUDGED)
    if found["state"] != DONE:
        said.append(f"{found['state']}{': ' + found['error'] if 'error' in found else ''}")
    return f"{found['name']:<20} {seconds:6.0f} s  {', '.join(said)}"


_JUDGED = {"verdict", "band_error"}
