"""Inverse heat: u_t = kappa u_xx on [0, 1] x [0, 1]; kappa is sought from noisy values of u.

The diffusivity is a second output of the network, a field kappa(x, t) whose variance is penalised; its average is the
estimate. The data come from kappa = 0.1.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..derivatives.quantity import Quantity
from ..problem.boundary import Dirichlet
from ..problem.conditions import Constant, Initial
from ..problem.context import Points
from ..problem.domain import Box
from ..problem.problem import Problem, as_key
from .sensors import measure

DIFFUSIVITY = 0.1


def initial(x: Array) -> Array:
    return jnp.sin(jnp.pi * x)


def exact(x: Array, t: Array) -> tuple[Array, Array]:
    u = jnp.exp(-DIFFUSIVITY * jnp.pi**2 * t) * jnp.sin(jnp.pi * x)
    return u, jnp.full_like(u, DIFFUSIVITY)


def equation(u: Quantity, kappa: Quantity) -> Quantity:
    return u.t - kappa * u.xx


def heat1d_inverse(
    noise: float = 0.1,
    *,
    key: PRNGKeyArray | int = 0,
    collocation: int = 1000,
    sensors: int = 100,
    sampling: str = "latin",
    resample: int = 0,
) -> Problem:
    """Inverse heat, u_t = kappa u_xx with kappa sought: 1000 collocation points, 100 noisy sensors in space and time."""
    domain = Box(x=(0, 1), t=(0, 1))
    sensor_key, noise_key = jax.random.split(as_key(key))
    return Problem(
        name="heat1d-inverse",
        domain=domain,
        fields=("u", "kappa"),
        positive="kappa",
        equation=equation,
        boundary=Dirichlet(0.0, field="u"),
        initial=Initial(initial, field="u"),
        data=measure(domain, exact, domain.points(sensors, "latin", key=sensor_key), noise, noise_key, field="u"),
        extra=Constant("kappa"),
        exact=exact,
        points=Points(collocation, boundary=64, sampling=sampling, resample=resample),
    )
