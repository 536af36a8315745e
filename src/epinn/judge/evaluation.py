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
from .metrics import score

GRID = {1: 501, 2: 51, 3: 15}  # points along each coordinate; about 4096 in all above three dimensions
HISTOGRAM = 2000  # single draws of the unknowns that are kept, for histograms


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One posterior on a regular grid with `shape` points along the coordinates."""

    problem: Problem
    label: str
    points: np.ndarray  # (n, coordinates), the last coordinate fastest
    shape: tuple[int, ...]
    prediction: Prediction  # mean and std of shape (n, fields)
    truth: np.ndarray | None  # (n, fields)
    unknowns: Mapping[str, Prediction]  # with samples
    unknowns_truth: Mapping[str, float | None]
    seconds: float

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
    points, shape = grid(problem)
    prediction = posterior.predict(points, draws=draws, key=key)
    if prediction.mean.ndim == 1:
        prediction = Prediction(prediction.mean[:, None], prediction.std[:, None], draws=prediction.draws)
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
    )


def grid(problem: Problem) -> tuple[Float[Array, "n d"], tuple[int, ...]]:
    """The regular grid that a problem is looked at on, and its points along each coordinate."""
    dimension = problem.domain.dimension
    shape = (GRID.get(dimension, max(2, int(4096 ** (1 / dimension)))),) * dimension
    return problem.domain.grid(*shape), shape


def unknowns_truth(problem: Problem, truth: np.ndarray | None) -> dict[str, float | None]:
    """The exact values of what is sought, where they are known."""
    known: dict[str, float | None] = {name: unknown.exact for name, unknown in problem.parameters.items()}
    for name in problem.sought:
        if name not in known:
            known[name] = None if truth is None else float(truth[:, problem.fields.index(name)].mean())
    return known
