"""Many networks at once, for a GPU: microseconds per step and network, and the E-PINN cells of the three 1D problems.

A cell is one problem at one noise level with the paper's settings: the base PINN (100,000 epochs), the epinet (10,000), mean
and band from 10,000 draws, for all seeds. Compilation is part of the time of the cells.
"""

import machine  # isort: skip

import argparse
import sys
import time
from pathlib import Path

import jax
import numpy as np

from epinn.app.plan.plan import Plan, attach_method, fit_base
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.derivatives.network import trainable
from epinn.problems import poisson1d
from epinn.progress import Progress
from epinn.solve.config import Base, create_solutions
from epinn.solve.optimise.adam import Descent, Weights, minimise
from epinn.solve.optimise.objective import PinnObjective
from epinn.solve.seeds import stack

PROBLEMS = ("poisson1d", "poisson1d-nonlinear", "porous1d")
NOISES = ((0.0,), (0.1, 0.3))  # levels with data run together


def microseconds(networks: int, steps: int) -> float:
    """Per step and network."""
    problem, keys = poisson1d(), jax.random.split(jax.random.key(0), networks)
    parameters, rest = trainable(create_solutions(Base(), [problem] * networks, keys))
    channels, descent = stack([problem.channels(0)] * networks), Descent(steps)
    for _ in range(2):  # the first time compiles
        started = time.perf_counter()
        minimise(PinnObjective(rest), parameters, channels, keys=keys, descent=descent, weights=Weights())
        seconds = time.perf_counter() - started
    return 1e6 * seconds / steps / networks


def cells(seeds: int) -> dict:
    """All nine cells; seconds in all, and the medians over the seeds."""
    started, found = time.perf_counter(), {}
    for name in PROBLEMS:
        bases = None
        for noises in NOISES:
            plan = Plan(find(name), ("epinet",), noises, tuple(range(seeds)), preset("paper", name))
            if bases is None:
                bases = fit_base(plan, Progress(), sees_data=False)
            problems = plan.problems()
            pinns = [pinn.facing(problem) for pinn, problem in zip(bases * len(noises), problems, strict=True)]
            results = list(attach_method(plan, "epinet", pinns, Progress()))
            for noise in noises:
                records = [result.record for result in results if result.case.noise == noise]
                found[f"{name} {noise:g}"] = {
                    metric: float(np.median([record[metric] for record in records]))
                    for metric in ("sharpness", "coverage", "rmse")
                }
            print(f"{name} {noises}: {time.perf_counter() - started:.1f} s", file=sys.stderr)
    return {"seeds": seeds, "seconds": time.perf_counter() - started, "cells": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, nargs="+", default=[1, 16, 128, 1024])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=32)
    parser.add_argument("--out", type=Path, default=machine.RESULTS)
    options = parser.parse_args()
    found = {
        "machine": machine.describe(),
        "microseconds": {str(n): microseconds(n, options.steps) for n in options.networks},
        "nine_cells": cells(options.seeds),
    }
    print(found["microseconds"], f"nine cells: {found['nine_cells']['seconds']:.0f} s", file=sys.stderr)
    machine.save(options.out, "gpu", found)


if __name__ == "__main__":
    main()
