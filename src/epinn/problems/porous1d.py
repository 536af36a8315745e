"""1D flow through a porous medium: the Darcy-Brinkman equation between two walls, driven by a unit body force."""

import math

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..derivatives.quantity import Quantity
from ..problem.boundary import Dirichlet
from ..problem.context import Points
from ..problem.domain import Box
from ..problem.problem import Problem, as_key
from .sensors import measure

EFFECTIVE_VISCOSITY = 1e-3
VISCOSITY = 1e-3
POROSITY = 0.4
PERMEABILITY = 1e-3
HEIGHT = 1.0
FORCE = 1.0
RATE = math.sqrt(VISCOSITY * POROSITY / (EFFECTIVE_VISCOSITY * PERMEABILITY))


def exact(x: Array) -> Array:
    plug = FORCE * PERMEABILITY / VISCOSITY
    return plug * (1 - jnp.cosh(RATE * (x - HEIGHT / 2)) / math.cosh(RATE * HEIGHT / 2))


def equation(u: Quantity) -> Quantity:
    return -EFFECTIVE_VISCOSITY / POROSITY * u.xx + VISCOSITY / PERMEABILITY * u - FORCE


def porous1d(
    noise: float = 0.0,
    *,
    key: PRNGKeyArray | int = 0,
    collocation: int = 64,
    sensors: int = 32,
    sampling: str = "grid",
    resample: int = 0,
) -> Problem:
    """1D porous medium, -(nu_e/phi) u_xx + (nu/K) u = f: 64 collocation points, 32 sensors if there is noise."""
    domain = Box(x=(0, HEIGHT))
    return Problem(
        name="porous1d",
        domain=domain,
        equation=equation,
        boundary=Dirichlet(0.0),
        data=measure(domain, exact, domain.interior(sensors), noise, as_key(key)),
        exact=exact,
        points=Points(collocation, sampling=sampling, resample=resample),
    )
