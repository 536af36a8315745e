"""The paper's rows, grouped into what runs together."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax

from ..plan.plain import digest
from ..plan.plan import Plan
from ..plan.presets import preset
from ..plan.published import Published
from ..plan.settings import Settings
from ..plan.source import find

IDLE_ON_CPU, IDLE_ELSEWHERE = 50, 1000  # how many points' worth of time a step costs before it has done anything


@dataclass(frozen=True)
class Study:
    """Rows of one problem and method with the same settings, at noise levels that run together."""

    rows: tuple[Published, ...]
    settings: Settings

    @property
    def problem(self) -> str:
        return self.rows[0].problem

    @property
    def method(self) -> str:
        return self.rows[0].method

    @property
    def title(self) -> str:
        """The study in a few words."""
        noises = " and ".join(f"{noise:g}" for noise in self.plan(()).noises)
        changed = ", ".join(f"{name}={_short(value)}" for name, value in self.rows[0].setting.items())
        return f"{self.problem}, {self.method}, noise {noises}" + (f", {changed}" if changed else "")

    def plan(self, seeds: Sequence[int]) -> Plan:
        noises = tuple(dict.fromkeys(row.noise for row in self.rows))
        return Plan(find(self.problem), (self.method,), noises, tuple(seeds), self.settings)

    def base_plan(self, seeds: Sequence[int]) -> Plan:
        """What the base PINNs are trained on: the noise levels of the rows, or none if measurements are kept from the base."""
        plan = self.plan(seeds)
        return plan if self.settings.methods[self.method].traits.base_sees_data else dataclasses.replace(plan, noises=(0.0,))

    def work(self) -> tuple[float, float]:
        """Steps times points of one seed, in the base and in the method: what it costs, in some unit."""
        flat, method = self.settings.flat(), self.settings.methods[self.method]
        problem = self.plan((0,)).problems()[0]
        idle = IDLE_ON_CPU if jax.default_backend() == "cpu" else IDLE_ELSEWHERE
        points = len(problem.channels(0)[0].points) + idle
        steps = {
            "epinet": lambda: flat["epinet.epochs"],
            "hmc": lambda: (flat["hmc.burn_in"] + flat["hmc.samples"]) * flat["hmc.leapfrog"] * flat["hmc.chains"],
        }.get(self.method, lambda: 0)()
        networks = len(self.plan(()).noises)
        base = flat["base.epochs"] * len(self.base_plan(()).noises) if method.traits.uses_base else 0
        return float(base * points), float((steps * networks + 500) * points)


def studies(rows: Sequence[Published]) -> list[Study]:
    """The rows grouped into what runs together: noise levels with data, and rows that several tables repeat."""
    groups: dict[str, list[Published]] = {}
    settings: dict[str, Settings] = {}
    for row in rows:
        chosen = preset("paper", row.problem).changed(row.changes)
        key = digest([row.problem, row.method, row.noise > 0, chosen.flat()])
        groups.setdefault(key, []).append(row)
        settings[key] = chosen
    return [Study(tuple(group), settings[key]) for key, group in groups.items()]


def _short(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, list | tuple) else f"{value:g}"
