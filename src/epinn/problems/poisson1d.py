"""1D Poisson: 0.01 u_xx = f on [-1, 1], with u = sin^3(6 x)."""

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..derivatives.quantity import Quantity
from ..problem.boundary import Dirichlet
from ..problem.context import Points
from ..problem.domain import Box
from ..problem.problem import Problem, as_key
from .sensors import measure

DIFFUSION = 0.01


def exact(x: Array) -> Array:
    return jnp.sin(6 * x) ** 3


def exact_xx(x: Array) -> Array:
    return 216 * jnp.sin(6 * x) * jnp.cos(6 * x) ** 2 - 108 * jnp.sin(6 * x) ** 3


def equation(u: Quantity, x: Array) -> Quantity:
    return DIFFUSION * (u.xx - exact_xx(x))


def poisson1d(
    noise: float = 0.0,
    *,
    key: PRNGKeyArray | int = 0,
    collocation: int = 100,
    sensors: int = 32,
    sampling: str = "grid",
    resample: int = 0,
) -> Problem:
    """1D Poisson, 0.01 u_xx = f: 100 collocation points, 32 sensors if there is noise."""
    domain = Box(x=(-1, 1))
    return Problem(
        name="poisson1d",
        domain=domain,
        equation=equation,
        boundary=Dirichlet(exact),
        data=measure(domain, exact, domain.interior(sensors), noise, as_key(key)),
        exact=exact,
        points=Points(collocation, sampling=sampling, resample=resample),
    )
