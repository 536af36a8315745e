"""The calibrated epinet: linear in what the base itself can do, its derivatives with respect to its own weights.

    u(x, z) = base(x) + sum_j z_j (learnable_j + prior_j) . d base / d weights (x),    z ~ N(0, I)

Every prior_j is a draw of the prior on the weights; learnable_j minimises, for each z, the squares of all rows in units of
their noise, with targets disturbed along z by that noise, plus the squared distance in units of the prior. For linear
problems the spread over z is then that of the exact posterior, up to the scatter of a finite dimension of z. Being linear, it
needs no epochs: one Gauss-Newton step. One more direction is the error that the base's own residuals show.
"""

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ...derivatives.jet import PRECISION
from ...derivatives.network import Solution
from ...posterior.linearised import Directions, Tangent, changed, posterior_changes
from ...posterior.posterior import Posterior
from ...posterior.sampler import GaussianSampler, leading_axis
from ...progress import Progress
from ...solve.pinn import Pinn
from ...solve.seeds import Keys


class TangentSampler(GaussianSampler):
    """Base, a change of its parameters, and directions of further change; the index z says how far along each."""

    base: Solution
    common: Solution  # like the base's parameters
    directions: Solution  # the same, every array with a leading axis

    def index(self, key: PRNGKeyArray) -> Float[Array, " dz"]:
        first = jax.tree.leaves(self.directions)[0]
        return jax.random.normal(key, first.shape[:1], first.dtype)

    def solution(self, index: Float[Array, " dz"]) -> Solution:
        along = jax.tree.map(lambda leaf: jnp.tensordot(index, leaf, 1, precision=PRECISION), self.directions)
        return changed(self.base, jax.tree.map(jnp.add, self.common, along))

    @property
    def center(self) -> Solution:
        return changed(self.base, self.common)

    @property
    def number(self) -> int:
        return leading_axis(self.directions)

    def deviation(self, index: Int[Array, ""] | int) -> Solution:
        direction = jax.tree.map(lambda leaf: leaf[index], self.directions)
        return dataclasses.replace(self.base, network=Tangent(self.base.network, direction.network))


def solve(
    pinns: Sequence[Pinn], keys: Keys, dimensions: int, prior_sd: float, own_error: bool, progress: Progress
) -> list[Posterior]:
    """One posterior for each base PINN, with so many `dimensions` of z and a prior of width `prior_sd` on the weights."""
    progress("epinet", 0, 1, {})
    directions, seconds = posterior_changes(pinns, keys, Directions(dimensions), prior_sd, own_error=own_error)
    progress("epinet", 1, 1, {})
    return [
        Posterior(
            TangentSampler(found.base, found.common, found.drawn),
            pinn.problem,
            "epinet",
            found.diagnostics,
            seconds=seconds / len(pinns),
        )
        for pinn, found in zip(pinns, directions, strict=True)
    ]
