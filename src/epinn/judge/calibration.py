"""Bands judged by repetition: the same experiment with new noise and new initialisations, many times over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..posterior.gaussian import LEVEL, quantile
from .evaluation import Evaluation
from .metrics import at_least_rounding

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
FAR_AWAY = 1e6  # the distance of what is not a number


@dataclass(frozen=True, eq=False)
class Redraw:
    """One method in one repetition: how far the truth is from the mean, in standard deviations, at every point of the grid."""

    method: str
    seed: int
    distances: np.ndarray
    unknowns: dict[str, dict[str, Any]]
    metrics: dict[str, Any]
    warnings: list[str]

    def plain(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "seed": self.seed,
            **self.metrics,
            "unknowns": self.unknowns,
            "warnings": self.warnings,
            "distances": [round(float(d), 4) for d in self.distances],
        }

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Redraw":
        named = ("method", "seed", "distances", "unknowns", "warnings")
        metrics = {name: value for name, value in record.items() if name not in named}
        return cls(
            record["method"], record["seed"], np.asarray(record["distances"]), record["unknowns"], metrics, record["warnings"]
        )


def redraw_of(method: str, seed: int, evaluation: Evaluation, record: Mapping[str, Any]) -> Redraw:
    """What one method did in one repetition."""
    assert evaluation.truth is not None
    mean, truth = evaluation.prediction.mean[:, 0], np.asarray(evaluation.truth)[:, 0]
    error, std = np.abs(truth - mean), at_least_rounding(mean, evaluation.prediction.std[:, 0], truth)
    kept = {name: record[name] for name in ("sharpness", "coverage", "rmse", "crps", "interval_score", "time_s", "failed")}
    distances = np.where(error > 0, error / np.maximum(std, 1e-30), 0.0)
    distances = np.where(np.isfinite(error) & np.isfinite(std), np.minimum(distances, FAR_AWAY), FAR_AWAY)
    return Redraw(method, seed, distances, record.get("unknowns", {}), kept, record["warnings"])


@dataclass(frozen=True, eq=False)
class Reliability:
    """What the redraws of one method say together."""

    method: str
    redraws: Sequence[Redraw]

    @property
    def distances(self) -> np.ndarray:
        return np.stack([redraw.distances for redraw in self.redraws])

    def coverage(self, level: float = LEVEL) -> float:
        """Mean over redraws and points."""
        return float(np.mean(self.distances <= quantile(level)))

    def conditional(self, level: float = LEVEL) -> np.ndarray:
        """At every point of the grid, over the redraws."""
        found: np.ndarray = np.mean(self.distances <= quantile(level), axis=0)
        return found

    def standard_error(self, level: float = LEVEL) -> float:
        """Of the coverage: errors are correlated in space, so a redraw counts once."""
        per_redraw = np.mean(self.distances <= quantile(level), axis=1)
        return float(per_redraw.std(ddof=1) / len(per_redraw) ** 0.5) if len(per_redraw) > 1 else float("nan")

    def unknowns(self, level: float = LEVEL) -> dict[str, dict[str, float]]:
        """How often the interval of each unknown with a known exact value holds it, and the mean of its sd."""
        found = {}
        for name, first in self.redraws[0].unknowns.items():
            if first["exact"] is None:
                continue
            all_of_it = [redraw.unknowns[name] for redraw in self.redraws]
            covered = [holds(u, level) for u in all_of_it]
            widths = [u["std"] for u in all_of_it if u["std"] is not None and np.isfinite(u["std"])]
            found[name] = {"coverage": float(np.mean(covered)), "std": float(np.mean(widths)) if widths else float("nan")}
        return found

    def plain(self) -> dict[str, Any]:
        def median(name: str) -> float | None:
            known = [redraw.metrics[name] for redraw in self.redraws if redraw.metrics[name] is not None]
            return float(np.median(known)) if known else None

        return {
            "method": self.method,
            "redraws": len(self.redraws),
            "coverage": {f"{level:g}": self.coverage(level) for level in LEVELS},
            "standard_error": self.standard_error(),
            "conditional": {"least": float(self.conditional().min()), "most": float(self.conditional().max())},
            **{name: median(name) for name in ("sharpness", "rmse", "crps", "interval_score", "time_s")},
            "unknowns": self.unknowns(),
            "with_warnings": sum(bool(redraw.warnings) for redraw in self.redraws),
            "failed": sum(bool(redraw.metrics.get("failed")) for redraw in self.redraws),
        }


def holds(unknown: dict[str, Any], level: float = LEVEL) -> bool:
    """Whether the interval of an unknown holds its exact value; what is not a number holds nothing."""
    if unknown["mean"] is None or unknown["std"] is None:
        return False
    return bool(abs(unknown["mean"] - unknown["exact"]) <= quantile(level) * unknown["std"])


def summarise(redraws: Sequence[Redraw]) -> list[Reliability]:
    methods = dict.fromkeys(redraw.method for redraw in redraws)
    return [Reliability(method, [redraw for redraw in redraws if redraw.method == method]) for method in methods]
