"""Do Laplace and the calibrated epinet agree with chains that have mixed? Their standard deviations on a grid, as ratios.

Noise is on every condition and known, so all methods have the same posterior to find, around the same base PINN. Times are
those of the method after the base is trained: the first time, compilation included, and once more.
"""

import argparse
import json
import sys
from pathlib import Path

import jax
import numpy as np

import epinn
from epinn.app.plan.source import find

PROBLEMS = ("poisson1d-nonlinear",)
METHODS = ("laplace", "epinet", "vi")
NOISE = 0.1
SIGMAS = {"equation": 0.1, "boundary": 0.01, "initial": 0.01}
DRAWS = 4000
THIN = 10  # of the samples that are stored; diagnostics use every one


def noisy(name: str, seed: int, collocation: int | None) -> epinn.Problem:
    """A shipped problem, or FILE.py:NAME, with known noise on every condition it has; data of its own keep theirs."""
    source = find(name)
    problem = source.make(NOISE if name in epinn.problems.SHIPPED else None, seed, {"collocation": collocation})
    kinds = {condition.kind for condition in problem.conditions}
    return problem.disturbed({kind: sigma for kind, sigma in SIGMAS.items() if kind in kinds}, jax.random.key(1000 + seed))


def compare(problem: epinn.Problem, seed: int, chain: str, settings: dict, methods: tuple[str, ...]) -> dict:
    """One problem: the chain, and what each method makes of the same base PINN."""
    pinn = epinn.fit(problem, key=seed)
    reference = epinn.attach(pinn, method=chain, key=1, settings=settings)
    print(f"{problem.name}: {reference.diagnostics}, {reference.seconds:.0f} s", file=sys.stderr)
    rows = {}
    for method in methods:
        band, again = (epinn.attach(pinn, method=method, key=key) for key in (2, 3))
        seconds = [band.seconds, again.seconds]
        times = {"seconds": seconds, "times_cheaper": [reference.seconds / some for some in seconds]}
        rows[method] = beside(band, reference) | times
        print(f"{problem.name}, {method}: {rows[method]}", file=sys.stderr)
    truth = first_field(reference)
    chains = {"method": chain, "settings": settings, "seconds": reference.seconds} | dict(reference.diagnostics)
    chains |= {"sd_mean": float(truth.std.mean()), "rmse": rmse(problem, truth.mean)}
    setting = {"problem": problem.name, "seed": seed, "collocation": problem.points.collocation}
    return {**setting, "chains": chains, "methods": rows}


def beside(band: epinn.Posterior, reference: epinn.Posterior) -> dict:
    """The band of a method in terms of that of the chains: of the field on a grid, and of unknowns if there are any."""
    found, truth = first_field(band), first_field(reference)
    ratio, shift = found.std / truth.std, np.abs(found.mean - truth.mean) / truth.std
    unknowns = {}
    for name, theirs in reference.unknowns(draws=DRAWS).items():
        own = band.unknowns(draws=DRAWS)[name]
        unknowns[name] = {"ratio": float(own.std / theirs.std), "shift": float(abs(own.mean - theirs.mean) / theirs.std)}
    return {
        "ratio_mean": float(ratio.mean()),
        "ratio_scatter": float(ratio.std()),
        "ratio_range": [float(ratio.min()), float(ratio.max())],
        "shift": float(shift.mean()),
        "rmse": rmse(band.problem, found.mean),
        "unknowns": unknowns,
    }


def first_field(posterior: epinn.Posterior) -> epinn.Prediction:
    return posterior.predict(grid_of(posterior.problem), field=posterior.problem.fields[0], draws=DRAWS)


def grid_of(problem: epinn.Problem) -> np.ndarray:
    return np.asarray(problem.domain.grid(201 if problem.domain.dimension == 1 else 33))


def rmse(problem: epinn.Problem, mean: np.ndarray) -> float | None:
    if problem.exact is None:
        return None
    return float(np.sqrt(np.mean((mean - np.asarray(problem.exact_at(grid_of(problem)))[:, 0]) ** 2)))


def table(found: list[dict]) -> str:
    """As Markdown."""
    head = "| problem | chains: R-hat, ESS | method | sd / sd of chains | scatter | mean off, in sd | times cheaper (again) |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for one in found:
        chains = f"{one['chains']['rhat']:.3f}, {one['chains']['ess']:.0f}"
        for method, row in one["methods"].items():
            first, again = row["times_cheaper"]
            lines.append(
                f"| {one['problem']} | {chains} | {method} | {row['ratio_mean']:.3f} | {row['ratio_scatter']:.3f} "
                f"| {row['shift']:.2f} | {first:.0f}, {again:.0f} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--collocation", type=int, help="other than the problem's own number")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--chain", default="hmc", choices=("hmc", "nuts"))
    parser.add_argument("--chains", type=int, default=16)
    parser.add_argument("--burn-in", type=int, default=400)
    parser.add_argument("--leapfrog", type=int, help="steps of a trajectory, hmc only")
    parser.add_argument("--plain", type=float, metavar="STEP", help="hmc without preconditioning, from this step size on")
    parser.add_argument("--samples", type=int, default=8000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--out", type=Path, help="a JSON file for all figures")
    options = parser.parse_args()
    settings = {"chains": options.chains, "burn_in": options.burn_in, "samples": options.samples, "thin": THIN}
    if options.leapfrog:
        settings["leapfrog"] = options.leapfrog
    if options.plain:
        settings |= {"precondition": False, "step_size": options.plain}
    found = []
    for name in options.problems:
        for seed in options.seeds:
            problem = noisy(name, seed, options.collocation)
            found.append(compare(problem, seed, options.chain, settings, tuple(options.methods)))
            if options.out:
                options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
