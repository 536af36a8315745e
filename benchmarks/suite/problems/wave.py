"""The wave equation of Wang et al., When and why PINNs fail to train (2022): a slow mode and one four times as fast."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references.grid import on_grid


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="wave",
        domain=epinn.Box(x=(0, 1), t=(0, 1)),
        equation=lambda u: u.tt - 4 * u.xx,
        boundary=epinn.Dirichlet(0.0),
        initial=[
            epinn.Initial(lambda x: jnp.sin(np.pi * x) + 0.5 * jnp.sin(4 * np.pi * x)),
            epinn.Initial(0.0, order=1),
        ],
    )


def solution(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    pi = np.pi
    return np.sin(pi * x) * np.cos(2 * pi * t) + 0.5 * np.sin(4 * pi * x) * np.cos(8 * pi * t)


def reference() -> Reference:
    return on_grid(solution, np.linspace(0, 1, 121), np.linspace(0, 1, 151))


CASE = Case("wave", "Wave equation, two modes", problem, reference, published=1.73e-3, source="Wang et al. 2022, NTK")
