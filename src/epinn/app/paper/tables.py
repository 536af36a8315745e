"""Our rows beside the published ones: median and range over seeds, and whether the printed value lies inside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..plan.plan import summarise
from ..plan.published import DECIMALS, Published
from .reproduce import Reproduction

DIAGNOSTICS = ("acceptance", "rhat", "ess")
NAMES = {"epinet": "E-PINN", "dropout": "Dropout-PINN", "hmc": "B-PINN"}


@dataclass(frozen=True)
class Comparison:
    """One row: the printed values, and ours as median, min and max over the seeds, by metric."""

    row: Published
    ours: Mapping[str, Mapping[str, float] | None]
    diagnostics: Mapping[str, Mapping[str, float]]
    seeds: int
    failed: int

    @property
    def label(self) -> str:
        """The method as the paper names it."""
        rate = self.row.setting.get("dropout.rate")
        return NAMES[self.row.method] + (f" {rate:.0%}" if rate else "")

    @property
    def metrics(self) -> list[str]:
        """What can be compared."""
        return [name for name in DECIMALS if name in self.row.values]

    def inside(self, metric: str) -> bool:
        """Whether the printed value lies in our range, at the precision it was printed with."""
        found = self.ours.get(metric)
        if not found:
            return False
        low, high = (round(found[end], DECIMALS[metric]) for end in ("min", "max"))
        return low <= self.row.values[metric] <= high

    def record(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "table": self.row.table,
            "setting": dict(self.row.setting),
            "problem": self.row.problem,
            "method": self.row.method,
            "noise": self.row.noise,
            "published": dict(self.row.values),
            "ours": dict(self.ours),
            "inside": {metric: self.inside(metric) for metric in self.metrics},
            "diagnostics": dict(self.diagnostics),
            "seeds": self.seeds,
            "failed": self.failed,
        }


def comparisons(reproduction: Reproduction, rows: Sequence[Published]) -> list[Comparison]:
    """The rows that have been computed."""
    return [_compare(row, records) for row in rows if (records := reproduction.records(row))]


def _compare(row: Published, records: Sequence[Mapping[str, Any]]) -> Comparison:
    (summary,) = summarise(records).values()
    ours = {name: spread for name, spread in summary.items() if isinstance(spread, Mapping)}
    diagnostics = {
        name: {"median": float(np.median(values)), "min": min(values), "max": max(values)}
        for name in DIAGNOSTICS
        if (values := [record["diagnostics"][name] for record in records if record["diagnostics"].get(name) is not None])
    }
    return Comparison(row, ours, diagnostics, summary["seeds"], summary["failed"])


def counts(found: Sequence[Comparison]) -> dict[str, dict[str, tuple[int, int]]]:
    """How many printed values lie inside our range, and of how many: by method and metric."""
    total: dict[str, dict[str, tuple[int, int]]] = {}
    for one in found:
        for metric in one.metrics:
            inside, of = total.setdefault(one.row.method, {}).get(metric, (0, 0))
            total[one.row.method][metric] = (inside + one.inside(metric), of + 1)
    return total
