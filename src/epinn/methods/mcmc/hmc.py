"""B-PINN: Hamiltonian Monte Carlo over weights and unknowns, with Gaussian priors and the channels' likelihoods."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ...errors import InputError
from .method import ChainMethod
from .run import Density, Kernel

QUARTER = 1.6  # of a revolution: the trajectory that takes a Gaussian of unit width farthest from where it was
LONGER = 4.0  # at most, times that: directions that the chart held back need a longer way
FIXED_SIZES = (0.5, 1.2)  # of steps where their number is fixed, in parts of the adapted size
DYNAMIC_SIZES = (0.8, 1.2)  # where it varies too


class FixedTrajectory(Kernel):
    """So many leapfrog steps, then accept or reject.

    With `varied`, the size of the steps varies from trajectory to trajectory: a chain whose steps are too long for where it is
    would never leave otherwise, however many steps it makes. blackjax varies their number only.
    """

    leapfrog: int = eqx.field(static=True)
    varied: bool = eqx.field(static=True)

    def init(self, density: Density, position: Float[Array, " q"], key: PRNGKeyArray) -> Any:
        import blackjax

        return blackjax.hmc.init(position, density)

    def __call__(self, density: Density, state: Any, key: PRNGKeyArray, step_size: Array) -> tuple[Any, Array, Array]:
        import blackjax

        if self.varied:
            key, size_key = jax.random.split(key)
            step_size = step_size * _between(size_key, FIXED_SIZES)
        step = blackjax.hmc(density, step_size, jnp.ones(state.position.size), self.leapfrog).step
        state, info = step(key, state)
        return state, info.acceptance_rate, info.is_divergent


class DynamicTrajectory(Kernel):
    """Trajectories of random length, between a quarter of a revolution and a few of them, of at most `leapfrog` steps.

    The lengths are in units of charts, in which the posterior is about one wide. The size of the steps varies as well, for the
    reason above.
    """

    leapfrog: int = eqx.field(static=True)

    def init(self, density: Density, position: Float[Array, " q"], key: PRNGKeyArray) -> Any:
        import blackjax

        return blackjax.dynamic_hmc.init(position, density, key)

    def __call__(self, density: Density, state: Any, key: PRNGKeyArray, step_size: Array) -> tuple[Any, Array, Array]:
        import blackjax

        key, size_key = jax.random.split(key)
        step_size = step_size * _between(size_key, DYNAMIC_SIZES)
        step = blackjax.dynamic_hmc(
            density,
            step_size,
            jnp.ones(state.position.size),
            integration_steps_fn=self._steps,
            integration_steps_params=(step_size,),
        ).step
        state, info = step(key, state)
        return state, info.acceptance_rate, info.is_divergent

    def _steps(self, key: PRNGKeyArray, step_size: Array) -> Int[Array, ""]:
        length = QUARTER * LONGER ** jax.random.uniform(key)
        return jnp.clip(jnp.ceil(length / step_size), 1, self.leapfrog).astype(int)


def _between(key: PRNGKeyArray, bounds: tuple[float, float]) -> Float[Array, ""]:
    return jax.random.uniform(key, minval=bounds[0], maxval=bounds[1])


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
        other = ", or long trajectories, HmcMethod(precondition=False, step_size=3e-4, leapfrog=200)"
        return "more HmcMethod(samples=...) or HmcMethod(burn_in=...)" + (other if self.precondition else "")

    @property
    def kernel(self) -> Kernel:
        if self.leapfrog < 1:
            raise InputError("hmc.leapfrog must be at least 1.")
        if self.adapt and self.precondition:
            return DynamicTrajectory(self.leapfrog)
        return FixedTrajectory(self.leapfrog, varied=self.adapt)
