"""An epidemic of influenza in a boarding school of 763: how fast it passes on, and how fast one recovers."""

from collections.abc import Mapping

import numpy as np

import epinn

from ..case import Case, Estimate, Reference
from ..references import ode

PUPILS, FIRST = 763, 1
TRUTH = {"beta": 1.7, "gamma": 0.45}  # per day
SIGMA = 10.0  # persons
DAYS = np.arange(1.0, 15.0)


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="SIR",
        domain=epinn.Box(t=(0, 14)),
        fields=("S", "I"),
        equation={
            "infection": lambda S, I, beta: S.t + beta * S * I / PUPILS,  # noqa: E741, N803  (as on paper)
            "recovery": lambda S, I, beta, gamma: I.t - beta * S * I / PUPILS + gamma * I,  # noqa: E741, N803
        },
        initial=[epinn.Initial(PUPILS - FIRST, field="S"), epinn.Initial(FIRST, field="I")],
        data=epinn.Data(DAYS, infected(seed), field="I"),
        unknowns={"beta": epinn.Unknown(guess=0.85, positive=True), "gamma": epinn.Unknown(guess=0.225, positive=True)},
    )


def epidemic(times: np.ndarray, beta: float, gamma: float) -> np.ndarray:
    """The susceptible and the infected."""

    def rhs(t: float, y: np.ndarray) -> tuple[float, float]:
        new = beta * y[0] * y[1] / PUPILS
        return -new, new - gamma * y[1]

    return ode.solve(rhs, (PUPILS - FIRST, FIRST), times)


def infected(seed: int) -> np.ndarray:
    """The simulated counts."""
    return epidemic(DAYS, **TRUTH)[:, 1] + SIGMA * np.random.default_rng(seed).normal(size=len(DAYS))


def reference() -> Reference:
    times = np.linspace(0, 14, 1401)
    return Reference(times[:, None], epidemic(times, **TRUTH))


def least_squares(seed: int) -> Mapping[str, Estimate]:
    return ode.least_squares(lambda **rates: epidemic(DAYS, **rates)[:, 1], infected(seed), TRUTH)


CASE = Case("sir", "SIR epidemic, unknown rates and noise", problem, reference, least_squares)
