"""Viscous Burgers with a source: u_t + u u_x - nu u_xx = f on [-1, 1] x [0, 1], with u = sin(pi x + 2 t)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..derivatives.quantity import Quantity
from ..problem.boundary import Dirichlet
from ..problem.conditions import Initial
from ..problem.context import Points
from ..problem.domain import Box
from ..problem.problem import Problem, as_key
from .sensors import measure

VISCOSITY = 0.01 / jnp.pi
WAVENUMBER = jnp.pi
FREQUENCY = 2.0


def exact(x: Array, t: Array) -> Array:
    return jnp.sin(WAVENUMBER * x + FREQUENCY * t)


def source(x: Array, t: Array) -> Array:
    phase = WAVENUMBER * x + FREQUENCY * t
    u, slope = jnp.sin(phase), jnp.cos(phase)
    return FREQUENCY * slope + WAVENUMBER * u * slope + VISCOSITY * WAVENUMBER**2 * u


def initial(x: Array) -> Array:
    return exact(x, jnp.zeros_like(x))


def equation(u: Quantity, x: Array, t: Array) -> Quantity:
    return u.t + u * u.x - VISCOSITY * u.xx - source(x, t)


def burgers(
    noise: float = 0.0,
    *,
    key: PRNGKeyArray | int = 0,
    collocation: int = 1000,
    sensors: int = 100,
    sampling: str = "latin",
    resample: int = 0,
) -> Problem:
    """Viscous Burgers, u_t + u u_x - nu u_xx = f, the ablation case: 1000 collocation points."""
    domain = Box(x=(-1, 1), t=(0, 1))
    sensor_key, noise_key = jax.random.split(as_key(key))
    return Problem(
        name="burgers",
        domain=domain,
        equation=equation,
        boundary=Dirichlet(exact),
        initial=Initial(initial),
        data=measure(domain, exact, domain.points(sensors, "latin", key=sensor_key), noise, noise_key),
        exact=exact,
        points=Points(collocation, boundary=64, sampling=sampling, resample=resample),
    )
