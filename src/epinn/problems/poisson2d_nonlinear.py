"""2D nonlinear Poisson: 0.01 (u_xx + u_yy) + u (u^2 - 1) = f on [-1, 1]^2, with u = sin(pi x) sin(pi y)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..derivatives.quantity import Quantity
from ..problem.boundary import Dirichlet
from ..problem.context import Points
from ..problem.domain import Box
from ..problem.problem import Problem, as_key
from .sensors import measure

DIFFUSION = 0.01


def exact(x: Array, y: Array) -> Array:
    return jnp.sin(jnp.pi * x) * jnp.sin(jnp.pi * y)


def source(x: Array, y: Array) -> Array:
    u = exact(x, y)
    return -2 * DIFFUSION * jnp.pi**2 * u + u * (u**2 - 1)


def equation(u: Quantity, x: Array, y: Array) -> Quantity:
    return DIFFUSION * (u.xx + u.yy) + u * (u**2 - 1) - source(x, y)


def poisson2d_nonlinear(
    noise: float = 0.0,
    *,
    key: PRNGKeyArray | int = 0,
    collocation: int = 1024,
    sensors: int = 100,
    sampling: str = "grid",
    resample: int = 0,
) -> Problem:
    """2D nonlinear Poisson, 0.01 (u_xx + u_yy) + u (u^2 - 1) = f: 1024 collocation points, 100 sensors if there is noise."""
    domain = Box(x=(-1, 1), y=(-1, 1))
    sensor_key, noise_key = jax.random.split(as_key(key))
    return Problem(
        name="poisson2d-nonlinear",
        domain=domain,
        equation=equation,
        boundary=Dirichlet(exact),
        data=measure(domain, exact, domain.points(sensors, "latin", key=sensor_key), noise, noise_key),
        exact=exact,
        points=Points(collocation, boundary=32, sampling=sampling, resample=resample),
    )
