"""Logistic growth everywhere on its own, as in Krishnapriyan et al., Characterizing possible failure modes (2021)."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references.grid import on_grid

RATE, CENTRE, WIDTH = 5, np.pi, np.pi / 4


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="reaction",
        domain=epinn.Box(x=(0, 2 * np.pi), t=(0, 1)),
        equation=lambda u: u.t - RATE * u * (1 - u),
        boundary=epinn.Periodic("x", order=0),  # values only: the Gaussian has opposite slopes at the two ends, and keeps them
        initial=epinn.Initial(lambda x: jnp.exp(-((x - CENTRE) ** 2) / (2 * WIDTH**2))),
    )


def solution(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    start = np.exp(-((x - CENTRE) ** 2) / (2 * WIDTH**2))
    grown = start * np.expm1(RATE * t)
    return (start + grown) / (1 + grown)


def reference() -> Reference:
    return on_grid(solution, np.linspace(0, 2 * np.pi, 161), np.linspace(0, 1, 101))


CASE = Case("reaction", "Reaction at rate 5", problem, reference)
