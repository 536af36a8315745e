"""A hot steel rod that cools for an hour, in kelvin, metres and seconds: its diffusivity from three thermocouples."""

from collections.abc import Mapping

import numpy as np

import epinn

from ..case import Case, Estimate, Reference
from ..references import ode

LENGTH, END = 0.3, 3600.0  # m, s
ENDS, EXCESS = 293.15, 250.0  # K: of the ends, and how much hotter the middle is at first
SIGMA = 1.5  # K
TRUTH = {"alpha": 1.2e-5}  # m²/s
PLACES, TIMES = np.array([0.075, 0.15, 0.225]), np.linspace(180, END, 20)
SENSORS = np.stack(np.meshgrid(PLACES, TIMES, indexing="ij"), axis=-1).reshape(-1, 2)


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="heat_inverse",
        domain=epinn.Box(x=(0, LENGTH), t=(0, END)),
        equation=lambda u, alpha: u.t - alpha * u.xx,
        boundary=epinn.Dirichlet(ENDS),
        initial=epinn.Initial(lambda x: ENDS + EXCESS * 4 * x * (LENGTH - x) / LENGTH**2),
        data=epinn.Data(SENSORS, measured(seed)),  # nobody knows how good these thermocouples are
        unknowns={"alpha": epinn.Unknown(guess=5e-6, positive=True)},
    )


def temperature(points: np.ndarray, alpha: float) -> np.ndarray:
    """The Fourier series of the parabola, every wave of which decays by itself."""
    x, t = points.T
    k = np.arange(1, 400, 2)[:, None]
    waves = np.sin(k * np.pi * x / LENGTH) * np.exp(-alpha * (k * np.pi / LENGTH) ** 2 * t)
    return ENDS + EXCESS * np.sum(32 / (k * np.pi) ** 3 * waves, axis=0)


def measured(seed: int) -> np.ndarray:
    """The simulated readings of the thermocouples."""
    return temperature(SENSORS, **TRUTH) + SIGMA * np.random.default_rng(seed).normal(size=len(SENSORS))


def reference() -> Reference:
    axes = np.linspace(0, LENGTH, 101), np.linspace(0, END, 101)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    return Reference(points, temperature(points, **TRUTH)[:, None])


def least_squares(seed: int) -> Mapping[str, Estimate]:
    return ode.least_squares(lambda alpha: temperature(SENSORS, alpha), measured(seed), TRUTH)


CASE = Case("heat_inverse", "Cooling rod, unknown diffusivity and noise", problem, reference, least_squares)
