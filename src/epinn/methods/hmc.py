"""B-PINN: Hamiltonian Monte Carlo over weights and unknowns, with Gaussian priors and the channels' likelihoods."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ..chains import MIXED, Kernel
from ..errors import InputError
from .chain import ChainMethod

__all__ = ["MIXED", "HmcMethod"]

QUARTER = 1.6  # of a revolution: the trajectory that takes a Gaussian of unit width farthest from where it was
JITTER = 0.2  # of the step size, so that no direction comes back to where it was in every trajectory


class Trajectory(Kernel):
    """So many leapfrog steps, or fewer if a `length` is reached before, then accept or reject."""

    leapfrog: int = eqx.field(static=True)
    length: float | None = eqx.field(static=True)
    jitter: float = eqx.field(static=True)

    def __call__(self, density: Callable, state: Any, key: PRNGKeyArray, step_size: Array) -> tuple[Any, Array, Array]:
        import blackjax

        leapfrog: int | Array = self.leapfrog
        if self.length is not None:
            leapfrog = jnp.clip(jnp.ceil(self.length / step_size), 1, self.leapfrog).astype(int)
        if self.jitter:
            key, size_key = jax.random.split(key)
            step_size = step_size * jax.random.uniform(size_key, minval=1 - self.jitter, maxval=1 + self.jitter)
        step = blackjax.hmc(density, step_size, jnp.ones(state.position.size), leapfrog).step
        state, info = step(key, state)
        return state, info.acceptance_rate, info.is_divergent


@dataclass(frozen=True)
class HmcMethod(ChainMethod):
    """Settings of the sampler: those of all chains, and the number of leapfrog steps in a trajectory.

    Adapted steps in preconditioned coordinates may take fewer, as many as make a quarter of a revolution.
    """

    name: ClassVar[str] = "hmc"
    summary: ClassVar[str] = "B-PINN: Hamiltonian Monte Carlo over all weights and unknowns"

    leapfrog: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.leapfrog < 1:
            raise InputError("hmc.leapfrog must be at least 1.")

    @property
    def kernel(self) -> Kernel:
        return Trajectory(self.leapfrog, QUARTER if self.adapt and self.precondition else None, JITTER if self.adapt else 0.0)
