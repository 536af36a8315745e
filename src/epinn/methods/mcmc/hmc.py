"""B-PINN: Hamiltonian Monte Carlo over weights and unknowns, with Gaussian priors and the channels' likelihoods."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from ...errors import InputError
from .method import ChainMethod
from .run import Kernel

QUARTER = 1.6  # of a revolution: the trajectory that takes a Gaussian of unit width farthest from where it was
LONGER = 4.0  # at most, times that: directions that the chart held back need a longer way
JITTER = 0.2  # of the step size, so that no direction comes back to where it was in every trajectory
SHORTEST = 0.5  # of it without such coordinates: a chain whose steps are too long for where it is would never leave otherwise


class Trajectory(Kernel):
    """So many leapfrog steps, then accept or reject.

    With `varied`, step sizes vary. With `charted`, so do lengths, between a quarter of a revolution and a few of them, but for
    `leapfrog`.
    """

    leapfrog: int = eqx.field(static=True)
    varied: bool = eqx.field(static=True)
    charted: bool = eqx.field(static=True)

    def __call__(self, density: Callable, state: Any, key: PRNGKeyArray, step_size: Array) -> tuple[Any, Array, Array]:
        import blackjax

        leapfrog: int | Array = self.leapfrog
        if self.varied:
            key, size_key, length_key = jax.random.split(key, 3)
            if self.charted:
                length = QUARTER * LONGER ** jax.random.uniform(length_key)
                leapfrog = jnp.clip(jnp.ceil(length / step_size), 1, self.leapfrog).astype(int)
            least = 1 - JITTER if self.charted else SHORTEST
            step_size = step_size * jax.random.uniform(size_key, minval=least, maxval=1 + JITTER)
        step = blackjax.hmc(density, step_size, jnp.ones(state.position.size), leapfrog).step
        state, info = step(key, state)
        return state, info.acceptance_rate, info.is_divergent


@final
@dataclass(frozen=True)
class HmcMethod(ChainMethod):
    """Settings of the sampler: those of all chains, and the number of leapfrog steps in a trajectory.

    Where steps are adapted in preconditioned coordinates, that is the most there may be; lengths vary.
    """

    name: ClassVar[str] = "hmc"
    summary: ClassVar[str] = "B-PINN: Hamiltonian Monte Carlo over all weights and unknowns"

    leapfrog: int = 20

    @property
    def remedy(self) -> str:
        other = ", or long trajectories: hmc.precondition=false, hmc.step_size=3e-4, hmc.leapfrog=200"
        return "more hmc.samples or hmc.burn_in" + (other if self.precondition else "")

    @property
    def kernel(self) -> Kernel:
        if self.leapfrog < 1:
            raise InputError("hmc.leapfrog must be at least 1.")
        return Trajectory(self.leapfrog, varied=self.adapt, charted=self.precondition)
