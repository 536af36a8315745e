"""What the default training reaches, and when: RMSE and time over seeds, and the paper's recipe on 1D Poisson beside it.

python benchmarks/accuracy.py poisson1d --recipe          one thread: time of single fits, and steps of the recipe
python benchmarks/accuracy.py all --together              all seeds at once: for a GPU
"""

import sys

import machine

if "--together" not in sys.argv:
    machine.use_one_core()

import argparse
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from epinn.app.plan.presets import PAPER
from epinn.derivatives.network import Solution, trainable
from epinn.judge.evaluation import grid
from epinn.problem.problem import Problem
from epinn.problems import SHIPPED, poisson1d
from epinn.progress import Progress
from epinn.solve.config import Base, create_solutions
from epinn.solve.fit import fit_seeds
from epinn.solve.pinn import Pinn
from epinn.solve.seeds import unraveller

PUBLISHED = 0.0074  # RMSE of 1D Poisson without data
NOISE = {"heat1d-inverse": 0.1}  # an inverse problem needs measurements


class Steps(Progress):
    """Notes the most Gauss-Newton steps of an attempt."""

    def __init__(self) -> None:
        self.newton = 0

    def __call__(self, stage: str, step: int, total: int, values: Any) -> None:
        del total
        if stage.startswith("newton") and values:
            self.newton = max(self.newton, step)


def rmse(problem: Problem, solution: Pinn | Solution) -> float:
    points, _ = grid(problem)
    return float(np.sqrt(np.mean(np.asarray(solution(points) - problem.exact_at(points))[:, 0] ** 2)))


def fits(name: str, seeds: int, together: bool) -> dict:
    """All seeds, after a first call that compiles."""
    problems = [SHIPPED[name](NOISE.get(name, 0.0), key=seed) for seed in range(seeds)]
    groups = [list(range(seeds))] if together else [[seed] for seed in range(seeds)]
    fit_seeds([problems[i] for i in groups[0]], keys=[1000 + i for i in groups[0]])
    found: dict[str, list] = {"rmse": [], "seconds": [], "newton_steps": [], "warnings": []}
    for group in groups:
        steps, started = Steps(), time.perf_counter()
        pinns = fit_seeds([problems[i] for i in group], keys=group, progress=steps)
        seconds = (time.perf_counter() - started) / len(group)
        for problem, pinn in zip((problems[i] for i in group), pinns, strict=True):
            found["rmse"].append(rmse(problem, pinn))
            found["seconds"].append(seconds)
            found["newton_steps"].append(steps.newton)
            found["warnings"].append(len(pinn.warnings))
            for text in pinn.warnings:
                print(name, text, file=sys.stderr)
    print(f"{name}: RMSE median {np.median(found['rmse']):.1e}, worst {max(found['rmse']):.1e}, "
          f"{np.median(found['seconds']):.2f} s per fit, {np.median(found['newton_steps']):.0f} steps",
          file=sys.stderr)  # fmt: skip
    return {"noise": NOISE.get(name, 0.0), **found}


class FirstTime(Progress):
    """Notes for every seed the first step at which the RMSE is as published."""

    def __init__(self, problem: Problem, like: Solution, rest: Solution, seeds: int):
        self.problem, self.reached = problem, np.full(seeds, -1)
        points, _ = grid(problem)
        exact, unravel = problem.exact_at(points), unraveller(like)

        @jax.jit
        def errors(vectors):
            import equinox as eqx
            import jax.numpy as jnp

            def one(vector, others):
                return jnp.sqrt(jnp.mean((eqx.combine(unravel(vector), others)(points) - exact) ** 2))

            return jax.vmap(one)(vectors, rest)

        self.errors = errors

    def keep(self, stage: str, state: Any) -> None:
        del stage
        now, _, steps, *_ = state()
        fresh = (self.reached < 0) & (np.asarray(self.errors(now.parameters)) <= PUBLISHED)
        self.reached[fresh] = steps[-1]


def recipe(seeds: int) -> dict:
    """The paper's Adam on 1D Poisson without data: the step at which each seed first has the published RMSE; -1 for never."""
    base = Base(**{key.removeprefix("base."): value for key, value in PAPER.items() if key.startswith("base.")})
    problem = poisson1d()
    keys = jax.random.split(jax.random.key(0), seeds)
    parameters, rest = trainable(create_solutions(base, [problem] * seeds, keys))
    like = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), parameters)
    listener = FirstTime(problem, like, rest, seeds)
    fit_seeds([problem] * seeds, keys=list(range(seeds)), base=base, progress=listener)
    print(f"recipe: first steps with RMSE {PUBLISHED}: {sorted(listener.reached.tolist())}", file=sys.stderr)
    return {"published": PUBLISHED, "epochs": base.epochs, "first_steps": listener.reached.tolist()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="+", help="names of shipped problems, or all")
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--together", action="store_true", help="all seeds at once")
    parser.add_argument("--recipe", action="store_true", help="the paper's recipe too, seeds at once")
    parser.add_argument("--name", default="accuracy", help="of the file")
    parser.add_argument("--out", type=Path, default=machine.RESULTS)
    options = parser.parse_args()
    names = list(SHIPPED) if options.problems == ["all"] else options.problems
    found = {
        "machine": machine.describe(),
        "together": options.together,
        "problems": {name: fits(name, options.seeds, options.together) for name in names},
    }
    if options.recipe:
        found["recipe"] = recipe(options.seeds)
    machine.save(options.out, options.name, found)


if __name__ == "__main__":
    main()
