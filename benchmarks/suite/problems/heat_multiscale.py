"""PINNacle's heat equation with two scales: diffusion along x is 250,000 times as slow, with twenty arches along it."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference

SLOW, FAST = 1 / (500 * np.pi) ** 2, 1 / np.pi**2


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="heat_multiscale",
        domain=epinn.Box(x=(0, 1), y=(0, 1), t=(0, 5)),
        equation=lambda u: u.t - SLOW * u.xx - FAST * u.yy,
        boundary=epinn.Dirichlet(0.0),
        initial=epinn.Initial(lambda x, y: jnp.sin(20 * np.pi * x) * jnp.sin(np.pi * y)),
    )


def solution(x: np.ndarray, y: np.ndarray, t: np.ndarray) -> np.ndarray:
    rate = SLOW * (20 * np.pi) ** 2 + FAST * np.pi**2
    return np.sin(20 * np.pi * x) * np.sin(np.pi * y) * np.exp(-rate * t)


def reference() -> Reference:
    # 7 points to an arch: what is between them counts as well as the peaks
    axes = np.linspace(0, 1, 141), np.linspace(0, 1, 11), np.linspace(0, 5, 11)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return Reference(points, solution(*points.T)[:, None])


CASE = Case("heat_multiscale", "Heat equation, two scales (PINNacle's Heat2d-MS)", problem, reference)
