"""A nerve cell after FitzHugh and Nagumo: three unknowns from its voltage; the recovery variable is never measured."""

from collections.abc import Mapping

import numpy as np

import epinn

from ..case import Case, Estimate, Reference
from ..references import ode

CURRENT = 0.5
TRUTH = {"a": 0.7, "b": 0.8, "tau": 12.5}  # tau in ms
START = {"v": -1.0, "w": 1.0}
SIGMA = 0.05
TIMES = np.linspace(100 / 60, 100, 60)  # ms


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="FitzHugh-Nagumo",
        domain=epinn.Box(t=(0, 100)),
        fields=("v", "w"),
        equation={
            "voltage": lambda v, w: v.t - (v - v**3 / 3 - w + CURRENT),
            "recovery": lambda v, w, a, b, tau: w.t - (v + a - b * w) / tau,
        },
        initial=[epinn.Initial(START["v"], field="v"), epinn.Initial(START["w"], field="w")],
        data=epinn.Data(TIMES, voltages(seed), sigma=SIGMA, field="v"),
        unknowns={
            "a": epinn.Unknown(guess=1.0),
            "b": epinn.Unknown(guess=0.5),
            "tau": epinn.Unknown(guess=20.0, positive=True),
        },
    )


def path(times: np.ndarray, a: float, b: float, tau: float) -> np.ndarray:
    """Voltage and recovery."""

    def rhs(t: float, y: np.ndarray) -> tuple[float, float]:
        v, w = y
        return v - v**3 / 3 - w + CURRENT, (v + a - b * w) / tau

    return ode.solve(rhs, (START["v"], START["w"]), times)


def voltages(seed: int) -> np.ndarray:
    """The simulated measurements."""
    return path(TIMES, **TRUTH)[:, 0] + SIGMA * np.random.default_rng(seed).normal(size=len(TIMES))


def reference() -> Reference:
    times = np.linspace(0, 100, 2001)
    return Reference(times[:, None], path(times, **TRUTH))


def least_squares(seed: int) -> Mapping[str, Estimate]:
    return ode.least_squares(lambda **unknowns: path(TIMES, **unknowns)[:, 0], voltages(seed), TRUTH, SIGMA)


CASE = Case("fitzhugh_nagumo", "FitzHugh-Nagumo, three unknowns, one field unmeasured", problem, reference, least_squares)
