"""One case by default settings: fit all seeds, give each a band, and compare with what is known."""

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import epinn
from epinn.judge.metrics import at_least_rounding

from .case import Case, Estimate, Reference
from .problems import CASES
from .results import DONE, FAILED, FITTED, in_one_line, save

LEVEL = 1.96  # standard deviations either side of the mean that 95% of a Gaussian are in
BAND_KEY = 1000  # a band draws from another key than the fit of the same seed


def compute(name: str, seeds: int | None, folder: Path) -> None:
    """The case, saved after the fit and again after every band, so that whoever stops it loses little."""
    case = CASES[name]
    found: dict[str, Any] = {
        "name": name,
        "title": case.title,
        "published": case.published,
        "source": case.source,
        "seeds": list(range(case.seeds if seeds is None else seeds)),
    }
    try:
        _compute(case, found, folder)
    except Exception as error:
        save(folder, name, {**found, "state": FAILED, "error": in_one_line(error)})
        raise


def _compute(case: Case, found: dict[str, Any], folder: Path) -> None:
    seeds = found["seeds"]
    problems = [case.problem(seed) for seed in seeds]
    began = time.perf_counter()
    reference = case.reference()
    found["reference_seconds"] = time.perf_counter() - began
    found["fields"] = fields = list(problems[0].fields)

    began = time.perf_counter()
    pinns = epinn.fit_seeds(problems, keys=seeds)
    found["fit_seconds"] = time.perf_counter() - began
    found["runs"] = [
        {
            "seed": seed,
            "parameters": pinn.size[1],
            "rows": pinn.size[0],
            "failure": pinn.failure,
            "warnings": list(pinn.warnings),
            **_errors(np.asarray(pinn(reference.points)), reference, fields),
        }
        for seed, pinn in zip(seeds, pinns, strict=True)
    ]
    save(folder, case.name, {**found, "state": FITTED})

    for seed, problem, pinn, run in zip(seeds, problems, pinns, found["runs"], strict=True):
        try:
            run.update(_with_band(pinn, problem, seed, reference))
            run["unknowns"] = _beside(run["unknowns"], case.least_squares(seed))
        except epinn.EpinnError as error:  # too large for the method, say: the fit counts all the same
            run["band_error"] = in_one_line(error)
        save(folder, case.name, {**found, "state": FITTED})
    save(folder, case.name, {**found, "state": DONE})


def _with_band(pinn: epinn.Pinn, problem: epinn.Problem, seed: int, reference: Reference) -> dict[str, Any]:
    """Errors and coverage of a band, its verdict, and what it says of unknowns."""
    fields = list(problem.fields)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", epinn.EpinnWarning)  # they are kept below
        began = time.perf_counter()
        band = epinn.attach(pinn, problem, method="laplace", key=BAND_KEY + seed)
        seconds = time.perf_counter() - began
    began = time.perf_counter()
    seen = band.predict(reference.points)
    mean, std = (np.asarray(part, float).reshape(len(reference.points), len(fields)) for part in (seen.mean, seen.std))
    predict_seconds = time.perf_counter() - began
    known = np.isfinite(reference.values)
    inside = np.abs(mean - reference.values) <= LEVEL * at_least_rounding(mean, std, reference.values)
    size = np.sqrt(np.nanmean(reference.values**2, axis=0, where=known))
    return {
        **_errors(mean, reference, fields),
        "coverage": np.mean(inside[known]),
        "coverages": {name: np.mean(inside[known[:, i], i]) for i, name in enumerate(fields) if known[:, i].any()},
        "stds": {name: np.mean(std[known[:, i], i]) / size[i] for i, name in enumerate(fields) if known[:, i].any()},
        "band_seconds": seconds,
        "predict_seconds": predict_seconds,
        "verdict": band.verdict.plain(),
        "trustworthy": band.verdict.word == "trustworthy",
        "warnings": list(dict.fromkeys([*pinn.warnings, *band.warnings])),
        "unknowns": {name: Estimate(float(value.mean), float(value.std)) for name, value in band.unknowns().items()},
    }


def _errors(values: np.ndarray, reference: Reference, fields: list[str]) -> dict[str, Any]:
    """Relative L2 errors by field, over the points at which the truth is known, and the largest."""
    errors = {}
    for i, name in enumerate(fields):
        truth = reference.values[:, i]
        known = np.isfinite(truth)
        if known.any():
            errors[name] = np.linalg.norm(values[known, i] - truth[known]) / np.linalg.norm(truth[known])
    return {"errors": errors, "error": np.max(list(errors.values()))}  # not finite if any is not


def _beside(unknowns: Mapping[str, Estimate], classical: Mapping[str, Estimate]) -> dict[str, dict[str, float]]:
    """What a band says of unknowns beside least squares, whose standard deviations distances are measured in."""
    found = {}
    for name, own in unknowns.items():
        found[name] = {"mean": own.value, "sd": own.sd}
        if (other := classical.get(name)) is not None:
            found[name] |= {
                "least_squares": other.value,
                "least_squares_sd": other.sd,
                "ratio": own.sd / other.sd,
                "distance": (own.value - other.value) / other.sd,
            }
    return found
