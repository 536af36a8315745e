"""The Helmholtz equation of Wang et al., Understanding and mitigating gradient flow pathologies in PINNs (2021)."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference

STRENGTH = 1 - np.pi**2 - (4 * np.pi) ** 2  # what u_xx + u_yy + u is of u


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="helmholtz",
        domain=epinn.Box(x=(-1, 1), y=(-1, 1)),
        equation=lambda u, x, y: u.xx + u.yy + u - STRENGTH * jnp.sin(np.pi * x) * jnp.sin(4 * np.pi * y),
        boundary=epinn.Dirichlet(0.0),
    )


def reference() -> Reference:
    axis = np.linspace(-1, 1, 141)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    x, y = points.T
    return Reference(points, (np.sin(np.pi * x) * np.sin(4 * np.pi * y))[:, None])


CASE = Case("helmholtz", "Helmholtz, one wave by four", problem, reference)
