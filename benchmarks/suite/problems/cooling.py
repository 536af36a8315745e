"""A cup of coffee that cools for half an hour, in degrees Celsius and seconds: how fast, and to which temperature."""

from collections.abc import Mapping

import numpy as np

import epinn

from ..case import Case, Estimate, Reference
from ..references import ode

START, END = 90.0, 1800.0  # °C, s
TRUTH = {"k": 0.002, "T_env": 20.0}  # 1/s, °C
SIGMA = 0.5  # °C
TIMES = np.linspace(60, END, 30)


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="cooling",
        domain=epinn.Box(t=(0, END)),
        fields="T",
        equation=lambda T, k, T_env: T.t + k * (T - T_env),  # noqa: N803  (as on paper)
        initial=epinn.Initial(START),
        data=epinn.Data(TIMES, measured(seed), sigma=SIGMA),
        unknowns={"k": epinn.Unknown(guess=0.02, positive=True), "T_env": epinn.Unknown(guess=26.0)},
    )


def temperature(times: np.ndarray, k: float, T_env: float) -> np.ndarray:  # noqa: N803
    return T_env + (START - T_env) * np.exp(-k * times)


def measured(seed: int) -> np.ndarray:
    """The simulated readings of a thermometer."""
    return temperature(TIMES, **TRUTH) + SIGMA * np.random.default_rng(seed).normal(size=len(TIMES))


def reference() -> Reference:
    times = np.linspace(0, END, 1801)[:, None]
    return Reference(times, temperature(times, **TRUTH))


def least_squares(seed: int) -> Mapping[str, Estimate]:
    return ode.least_squares(lambda **unknowns: temperature(TIMES, **unknowns), measured(seed), TRUTH, SIGMA)


CASE = Case("cooling", "Newton's law of cooling, unknown rate and surroundings", problem, reference, least_squares)
