"""1D nonlinear Poisson: 0.01 u_xx + 0.7 tanh(u) = f on [-0.7, 0.7], with u = sin^3(6 x)."""

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..derivatives.quantity import Quantity
from ..problem.boundary import Dirichlet
from ..problem.context import Points
from ..problem.domain import Box
from ..problem.problem import Problem, as_key
from .poisson1d import exact, exact_xx
from .sensors import measure

DIFFUSION, REACTION = 0.01, 0.7


def equation(u: Quantity, x: Array) -> Quantity:
    return DIFFUSION * (u.xx - exact_xx(x)) + REACTION * (jnp.tanh(u) - jnp.tanh(exact(x)))  # type: ignore[arg-type,no-any-return]


def poisson1d_nonlinear(
    noise: float = 0.0,
    *,
    key: PRNGKeyArray | int = 0,
    collocation: int = 100,
    sensors: int = 32,
    sampling: str = "grid",
    resample: int = 0,
) -> Problem:
    """1D nonlinear Poisson, 0.01 u_xx + 0.7 tanh(u) = f: 100 collocation points, 32 sensors if there is noise."""
    domain = Box(x=(-0.7, 0.7))
    return Problem(
        name="poisson1d-nonlinear",
        domain=domain,
        equation=equation,
        boundary=Dirichlet(exact),
        data=measure(domain, exact, domain.interior(sensors), noise, as_key(key)),
        exact=exact,
        points=Points(collocation, sampling=sampling, resample=resample),
    )
