"""Advection at speed 30, on which plain PINNs fail: Krishnapriyan et al., Characterizing possible failure modes (2021)."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references.grid import on_grid

SPEED = 30


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="advection",
        domain=epinn.Box(x=(0, 2 * np.pi), t=(0, 1)),
        equation=lambda u: u.t + SPEED * u.x,
        boundary=epinn.Periodic("x"),
        initial=epinn.Initial(jnp.sin),
    )


def reference() -> Reference:
    return on_grid(lambda x, t: np.sin(x - SPEED * t), np.linspace(0, 2 * np.pi, 101), np.linspace(0, 1, 151))


CASE = Case("advection", "Advection at speed 30", problem, reference)
