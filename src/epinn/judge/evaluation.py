"""A posterior looked at: fields on a dense grid, unknowns, metrics, and what they cost. What pictures and tables show."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..posterior.posterior import DRAWS, Posterior
from ..posterior.statistics import Prediction
from ..problem.problem import Problem
from ..problem.region import Domain
from .chains import Chains, chains_of
from .metrics import score

GRID = {1: 501, 2: 51, 3: 15}  # points along each coordinate; about 4096 in all above three dimensions
FINER = 4.0  # times as many along each, at most, where a shape fills little of the box around it
HISTOGRAM = 2000  # single draws of the unknowns that are kept, for histograms
SINGLE = 12  # single draws of the fields that are kept, to be looked at one by one


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One posterior on a regular grid with `shape` points along the coordinates, or on those of them that are in the domain."""

    problem: Problem
    label: str
    points: np.ndarray  # (n, coordinates), the last coordinate fastest
    shape: tuple[int, ...]
    prediction: Prediction  # mean and std of shape (n, fields), a few samples
    truth: np.ndarray | None  # (n, fields)
    unknowns: Mapping[str, Prediction]  # with samples
    unknowns_truth: Mapping[str, float | None]
    seconds: float
    places: np.ndarray | None = None  # of the points on the grid, where some of it lies outside the domain
    chains: Chains | None = None  # of a method that has some

    def on_grid(self, values: np.ndarray) -> np.ndarray:
        """Values at the points, one row each, for the whole grid: nothing (NaN) outside the domain."""
        if self.places is None:
            return values
        whole = np.full((int(np.prod(self.shape)), *values.shape[1:]), np.nan)
        whole[self.places] = values
        return whole

    def metrics(self, field: str | None = None) -> dict[str, float | None]:
        """Metrics of one field, the first by default."""
        i = self.problem.fields.index(field or self.problem.fields[0])
        truth = None if self.truth is None else self.truth[:, i]
        return score(self.prediction.mean[:, i], self.prediction.std[:, i], truth)

    def spread(self) -> dict[str, float]:
        """The mean standard deviation of every field: what is not known of it, apart from any noise."""
        return dict(zip(self.problem.fields, np.mean(self.prediction.std, axis=0).tolist(), strict=True))

    def record(self) -> dict[str, Any]:
        """All figures as plain numbers: metrics of the first field, of every field if there are several, unknowns."""
        record: dict[str, Any] = self.metrics()
        if len(self.problem.fields) > 1:
            record["fields"] = {name: self.metrics(name) for name in self.problem.fields}
        if self.unknowns:
            record["unknowns"] = {
                name: {"mean": float(found.mean), "std": float(found.std), "exact": self.unknowns_truth[name]}
                for name, found in self.unknowns.items()
            }
        return record


def evaluate(posterior: Posterior, *, label: str | None = None, draws: int = DRAWS, key: PRNGKeyArray | int = 0) -> Evaluation:
    """Look at a posterior on a dense grid."""
    started, problem = time.perf_counter(), posterior.problem
    points, shape, places = grid_in(problem.domain)
    prediction = posterior.predict(points, draws=draws, key=key, samples=SINGLE)
    if prediction.mean.ndim == 1:
        samples = None if prediction.samples is None else prediction.samples[..., None]
        prediction = Prediction(prediction.mean[:, None], prediction.std[:, None], samples=samples, draws=prediction.draws)
    truth = None if problem.exact is None else np.asarray(problem.exact_at(points))
    return Evaluation(
        problem=problem,
        label=label or posterior.method,
        points=np.asarray(points),
        shape=shape,
        prediction=prediction,
        truth=truth,
        unknowns=posterior.unknowns(draws=draws, key=key, samples=HISTOGRAM),
        unknowns_truth=unknowns_truth(problem, truth),
        seconds=time.perf_counter() - started,
        places=places,
        chains=chains_of(posterior, points),
    )


def grid(problem: Problem) -> tuple[Float[Array, "n d"], tuple[int, ...]]:
    """The regular grid that a problem is looked at on, what of it is in the domain, and its points along each coordinate."""
    points, shape, _ = grid_in(problem.domain)
    return points, shape


def grid_in(domain: Domain) -> tuple[Float[Array, "n d"], tuple[int, ...], np.ndarray | None]:
    """The same for a domain, with the places of the points on the grid where some of it lies outside."""
    dimension = domain.dimension
    finer = min(FINER, domain.fill ** (-1 / max(1, len(domain.space))))
    shape = (round(finer * GRID.get(dimension, max(2, int(4096 ** (1 / dimension))))),) * dimension
    points = domain.mesh(*shape)
    places = np.flatnonzero(domain.contains(np.asarray(points)))
    return (points, shape, None) if len(places) == len(points) else (points[places], shape, places)


def unknowns_truth(problem: Problem, truth: np.ndarray | None) -> dict[str, float | None]:
    """The exact values of what is sought, where they are known."""
    known: dict[str, float | None] = {name: unknown.exact for name, unknown in problem.parameters.items()}
    for name in problem.sought:
        if name not in known:
            known[name] = None if truth is None else float(truth[:, problem.fields.index(name)].mean())
    return known
