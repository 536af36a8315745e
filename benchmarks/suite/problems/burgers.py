"""The viscous Burgers equation of Raissi et al. (2019): a sine that steepens into a thin layer at x = 0."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references.grid import on_grid

NU = 0.01 / np.pi


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="Burgers",
        domain=epinn.Box(x=(-1, 1), t=(0, 1)),
        equation=lambda u: u.t + u * u.x - NU * u.xx,
        boundary=epinn.Dirichlet(0.0),
        initial=epinn.Initial(lambda x: -jnp.sin(np.pi * x)),
    )


def solution(x: np.ndarray, t: np.ndarray, nodes: int = 501) -> np.ndarray:
    """By Cole and Hopf: a mean of -sin(pi y) over y = x - sqrt(4 nu t) z with weights exp(-z^2 - cos(pi y) / (2 pi nu)).

    The trapezoidal rule, since the peak of the weights can lie as far out as |z| = 9, where Gauss-Hermite nodes are sparse. It
    converges exponentially. The largest weight is taken out of each mean, or small ones would be lost.
    """
    z = np.linspace(-16, 16, nodes)
    u = np.empty_like(x)
    for part in np.array_split(np.arange(len(x)), max(1, len(x) // 1000)):
        y = x[part, None] - np.sqrt(4 * NU * t[part, None]) * z
        exponent = -(z**2) - np.cos(np.pi * y) / (2 * np.pi * NU)
        weight = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        u[part] = -(weight * np.sin(np.pi * y)).sum(axis=1) / weight.sum(axis=1)
    return u


def reference() -> Reference:
    return on_grid(solution, np.linspace(-1, 1, 321), np.linspace(0, 1, 61))


CASE = Case("burgers", "Burgers, nu = 0.01/pi", problem, reference, published=6.7e-4, source="Raissi et al. 2019")
