"""PINNacle's Poisson equation in many dimensions, here 5."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference

COORDINATES = [f"x{i + 1}" for i in range(5)]


def exact(p):
    return sum(jnp.sin(np.pi / 2 * getattr(p, x)) for x in COORDINATES)


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="poisson5d",
        domain=epinn.Box(**dict.fromkeys(COORDINATES, (0, 1))),
        equation=lambda u, p: sum(u.diff(x, x) for x in COORDINATES) + np.pi**2 / 4 * exact(p),
        boundary=epinn.Dirichlet(exact),
    )


def reference() -> Reference:
    points = np.random.default_rng(0).uniform(size=(20_000, 5))
    return Reference(points, np.sin(np.pi / 2 * points).sum(axis=1, keepdims=True))


CASE = Case("poisson5d", "Poisson in 5 dimensions (PINNacle's PNd)", problem, reference)
