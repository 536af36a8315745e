"""The Klein-Gordon equation of Wang et al., Understanding and mitigating gradient flow pathologies (2021)."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references.grid import on_grid


def exact(x, t):
    return x * jnp.cos(5 * np.pi * t) + (x * t) ** 3


def source(x, t):
    u_tt = -25 * np.pi**2 * x * jnp.cos(5 * np.pi * t) + 6 * x**3 * t
    u_xx = 6 * x * t**3
    return u_tt - u_xx + exact(x, t) ** 3


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="Klein-Gordon",
        domain=epinn.Box(x=(0, 1), t=(0, 1)),
        equation=lambda u, x, t: u.tt - u.xx + u**3 - source(x, t),
        boundary=epinn.Dirichlet(exact),
        initial=[epinn.Initial(lambda x: x), epinn.Initial(0.0, order=1)],
    )


def reference() -> Reference:
    def solution(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        return x * np.cos(5 * np.pi * t) + (x * t) ** 3  # in double precision, unlike `exact`

    return on_grid(solution, np.linspace(0, 1, 101), np.linspace(0, 1, 151))


CASE = Case("klein_gordon", "Klein-Gordon", problem, reference)
