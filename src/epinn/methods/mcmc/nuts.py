"""B-PINN by the No-U-Turn Sampler: trajectories as long as they lead away from where they began."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ...errors import InputError
from .method import ChainMethod
from .run import Density, Kernel


class NoUTurn(Kernel):
    """A tree of leapfrog steps that is doubled until it turns back, and a draw from it."""

    doublings: int = eqx.field(static=True)

    def init(self, density: Density, position: Float[Array, " q"], key: PRNGKeyArray) -> Any:
        import blackjax

        return blackjax.nuts.init(position, density)

    def __call__(self, density: Density, state: Any, key: PRNGKeyArray, step_size: Array) -> tuple[Any, Array, Array]:
        import blackjax

        step = blackjax.nuts(density, step_size, jnp.ones(state.position.size), max_num_doublings=self.doublings).step
        state, info = step(key, state)
        return state, info.acceptance_rate, info.is_divergent


@final
@dataclass(frozen=True)
class NutsMethod(ChainMethod):
    """Settings of the sampler: those of all chains, and how often a trajectory may be doubled."""

    name: ClassVar[str] = "nuts"
    summary: ClassVar[str] = "B-PINN by the No-U-Turn Sampler, which finds the length of its trajectories itself"

    doublings: int = 6

    @property
    def remedy(self) -> str:
        return "more NutsMethod(samples=...) or NutsMethod(burn_in=...)"

    @property
    def kernel(self) -> Kernel:
        if not 1 <= self.doublings <= 10:
            raise InputError("nuts.doublings must lie between 1 and 10.")
        return NoUTurn(self.doublings)
