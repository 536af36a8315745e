"""The head in an aquifer of two zones, in metres and days: their conductivities from 25 piezometers."""

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Estimate, Reference
from ..references import ode

LENGTH, BETWEEN = 1000.0, 400.0  # m: of the aquifer, and where the zones meet
THICKNESS, RECHARGE = 20.0, 0.0008  # m, m/day
LEFT, RIGHT = 50.0, 42.0  # m
SIGMA = 0.1  # m
TRUTH = {"K1": 8.6, "K2": 1.2}  # m/day
WELLS = np.linspace(20, 980, 25)


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="aquifer",
        domain=epinn.Box(x=(0, BETWEEN, LENGTH)),
        fields="h",
        equation=lambda h, x, K1, K2: (h.x * jnp.where(x < BETWEEN, K1, K2) * THICKNESS).x + RECHARGE,  # noqa: N803  (as on paper)
        boundary=[epinn.Dirichlet(LEFT, on="x=0"), epinn.Dirichlet(RIGHT, on="x=1000")],
        data=epinn.Data(WELLS, measured(seed), sigma=SIGMA),
        unknowns={"K1": epinn.Unknown(guess=3.0, positive=True), "K2": epinn.Unknown(guess=3.0, positive=True)},
    )


def head(x: np.ndarray, K1: float, K2: float) -> np.ndarray:  # noqa: N803
    """The flux is `inflow + RECHARGE x` throughout, and the head falls by it over the transmissivity of each zone."""

    def fall(to: np.ndarray | float, power: int) -> np.ndarray:
        """The integral of x**power over the transmissivity, from 0."""
        first, n = np.minimum(to, BETWEEN), power + 1
        return (first**n / K1 + (np.maximum(to, BETWEEN) ** n - BETWEEN**n) / K2) / (n * THICKNESS)

    inflow = (LEFT - RIGHT - RECHARGE * fall(LENGTH, 1)) / fall(LENGTH, 0)
    return LEFT - inflow * fall(x, 0) - RECHARGE * fall(x, 1)


def measured(seed: int) -> np.ndarray:
    """The simulated readings of the piezometers."""
    return head(WELLS, **TRUTH) + SIGMA * np.random.default_rng(seed).normal(size=len(WELLS))


def reference() -> Reference:
    x = np.linspace(0, LENGTH, 2001)
    return Reference(x[:, None], head(x, **TRUTH)[:, None])


def least_squares(seed: int) -> Mapping[str, Estimate]:
    return ode.least_squares(lambda **unknowns: head(WELLS, **unknowns), measured(seed), TRUTH, SIGMA)


CASE = Case("aquifer", "Aquifer of two zones, unknown conductivities", problem, reference, least_squares)
