"""How long a user waits: for `epinn --help`, and for the first training steps of `epinn run poisson1d`, with and without the
compiled programs of an earlier run."""

import machine

machine.use_one_core()

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIRST_STEPS = """
import os, sys
from epinn.derivatives.program_cache import keep_compiled_programs
from epinn.progress import Progress

class Leave(Progress):
    def __call__(self, stage, step, total, values):
        if stage == "training" and step:
            os._exit(0)

from epinn.app.plan import plan as plans, presets, source
keep_compiled_programs()
plan = plans.Plan(
    source.find("poisson1d"), ("epinet",), (0.1,), (0,), presets.preset("fast", "poisson1d")
)
plans.fit_base(plan, Leave())
"""


def seconds(command: list[str], cache: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"XDG_CACHE_HOME": cache})
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=machine.RESULTS)
    options = parser.parse_args()
    run = [sys.executable, "-c", FIRST_STEPS]
    help_ = [str(Path(sys.executable).with_name("epinn")), "--help"]
    found: dict[str, list[float]] = {"help": [], "first steps, nothing compiled": [], "first steps, compiled before": []}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as cache:
            found["help"].append(seconds(help_, cache))
            found["first steps, nothing compiled"].append(seconds(run, cache))
            found["first steps, compiled before"].append(seconds(run, cache))
    for name, times in found.items():
        print(f"{name}: {statistics.median(times):.2f} s", file=sys.stderr)
    machine.save(options.out, "startup", {"machine": machine.describe(), "seconds": found})


if __name__ == "__main__":
    main()
