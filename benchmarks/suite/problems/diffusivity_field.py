"""A wall that is heated throughout: its conductivity, which varies from place to place, from 50 thermometers.

The temperature has a maximum inside. That fixes the conductivity: in a wall with heat flowing one way only, any constant could
be added to the flux.
"""

import numpy as np
from scipy.integrate import cumulative_simpson

import epinn

from ..case import Case, Reference

HEAT = 5000.0  # W/m³
SIDES = 300.0  # K
SIGMA = 0.2  # K, of some 40 that the middle is warmer
NODES = np.linspace(0, 1, 2001)  # m
SENSORS = NODES[20:2000:40]  # 50, none on the sides


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="diffusivity_field",
        domain=epinn.Box(x=(0, 1)),
        fields=("u", "a"),
        positive="a",
        equation=lambda u, a: -(a.x * u.x + a * u.xx) - HEAT,
        boundary=epinn.Dirichlet(SIDES, field="u"),
        data=epinn.Data(SENSORS, measured(seed), sigma=SIGMA, field="u"),
    )


def conductivity(x: np.ndarray) -> np.ndarray:
    return 16 * (1 + 0.5 * np.sin(2 * np.pi * x))  # W/(m K), as of stainless steel


def temperature() -> np.ndarray:
    """At the nodes. The flux is HEAT x less a constant, which is such that both sides have the same temperature."""
    a = conductivity(NODES)
    one, other = (cumulative_simpson(part / a, x=NODES, initial=0) for part in (np.ones_like(NODES), HEAT * NODES))
    return SIDES + other[-1] / one[-1] * one - other


def measured(seed: int) -> np.ndarray:
    """The simulated readings of the thermometers."""
    return temperature()[20:2000:40] + SIGMA * np.random.default_rng(seed).normal(size=len(SENSORS))


def reference() -> Reference:
    return Reference(NODES[:, None], np.stack([temperature(), conductivity(NODES)], axis=1))


CASE = Case("diffusivity_field", "Conductivity of a wall, an unknown field", problem, reference)
