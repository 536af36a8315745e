"""Where chains begin. Chains that begin in different places and end in the same one have forgotten where they began."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from ...derivatives.network import Solution
from ...posterior.log_density import Position, Target, fresh, from_prior, rows_of, size_of, trained
from ...problem.channel import Channel
from ...progress import Progress
from ...solve.optimise.gauss_newton import gauss_newton
from ...solve.optimise.objective import PinnObjective
from ...solve.optimise.whitened import Prior
from ...solve.pinn import Pinn
from ...solve.seeds import Keys, over_seeds, stack, unraveller
from .preconditioner import can_be_charted, weighted_at

STARTS = ("spread", "trained", "prior", "xavier")
REFIT_STEPS = 40  # of Gauss-Newton, from the network to one that fits disturbed targets
REFIT_WORK = 2e11  # floating-point operations that they may cost, per chain
FAR = 2.0  # a start whose log posterior is lower than the trained network's by this many per parameter and row is none


class Disturbed(eqx.Module):
    """One problem with targets and prior disturbed by what they leave open, and where to begin with it."""

    channels: tuple[Channel, ...]
    center: Solution
    parameters: Solution


def starts(
    kind: str, pinns: Sequence[Pinn], targets: Target, keys: Keys, chains: int, progress: Progress, stage: str
) -> Float[Array, "seeds chains q"]:
    """The first positions of all chains."""
    if kind == "xavier":
        return fresh(pinns, targets, keys, chains)
    if kind == "prior":
        return from_prior(targets, keys, chains)
    begin = trained(targets, stack([pinn.solution for pinn in pinns]))
    repeated = jnp.repeat(begin[:, None], chains, axis=1)
    if kind == "trained" or not can_be_charted(targets):
        return repeated
    return _spread(targets, repeated, keys, progress, stage)


def _spread(
    targets: Target, begin: Float[Array, "seeds chains q"], keys: Keys, progress: Progress, stage: str
) -> Float[Array, "seeds chains q"]:
    """The trained network refitted to targets and priors that are disturbed, differently for every chain.

    For a linear problem these are draws from the posterior (randomise, then optimise).
    """
    seeds, chains, _ = begin.shape
    disturbed = jax.tree.map(
        lambda leaf: leaf.reshape(-1, *leaf.shape[2:]) if eqx.is_array(leaf) else leaf, _disturb(targets, begin, keys)
    )

    def again(tree: Any) -> Any:
        return jax.tree.map(lambda leaf: jnp.repeat(leaf, chains, axis=0) if eqx.is_array(leaf) else leaf, tree)

    outcome = gauss_newton(
        PinnObjective(again(targets.rest)),
        disturbed.parameters,
        disturbed.channels,
        keys=jnp.repeat(keys, chains),
        steps=REFIT_STEPS,
        prior=Prior(disturbed.center, again(targets.spread.parameters)),
        work=REFIT_WORK,
        progress=progress,
        stage=stage,
    )
    refitted = jax.tree.map(lambda leaf: leaf.reshape(seeds, chains, *leaf.shape[1:]), outcome.parameters)
    return _sensible(targets, begin, refitted, FAR * (rows_of(targets.channels) + size_of(targets)))


@eqx.filter_jit
def _disturb(targets: Target, begin: Float[Array, "seeds chains q"], keys: Keys) -> Disturbed:
    def one(target: Target, vector: Float[Array, " q"], key: PRNGKeyArray) -> Disturbed:
        position = target.position(vector)
        prior_key, noise_key = jax.random.split(key)
        drawn = unraveller(position.parameters)(jax.random.normal(prior_key, vector.shape)[: _length(position.parameters)])
        shifted = jax.tree.map(lambda c, s, z: c + s * z, target.center.parameters, target.spread.parameters, drawn)
        channels = weighted_at(target, position)
        perturbed = tuple(c.perturbed(k) for c, k in zip(channels, jax.random.split(noise_key, len(channels)), strict=True))
        return Disturbed(perturbed, shifted, position.parameters)

    def one_seed(target: Target, vectors: Float[Array, "chains q"], key: PRNGKeyArray) -> Disturbed:
        keys = jax.random.split(key, len(vectors))
        found: Disturbed = eqx.filter_vmap(one, in_axes=(None, 0, 0))(target, vectors, keys)
        return found

    return over_seeds(one_seed, targets, begin, keys)


def _length(tree: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


@eqx.filter_jit
def _sensible(
    targets: Target, begin: Float[Array, "seeds chains q"], refitted: Solution, far: float
) -> Float[Array, "seeds chains q"]:
    """The refitted networks; where a refit has lost the solution, the trained one."""

    def one(target: Target, before: Float[Array, "chains q"], after: Solution) -> Float[Array, "chains q"]:
        noise = jax.vmap(target.position)(before).log_sigma
        vectors = jax.vmap(lambda p, s: ravel_pytree(Position(p, s))[0])(after, noise)
        good = jax.vmap(target)(vectors) > jax.vmap(target)(before) - far
        return jnp.where(good[:, None], vectors, before)

    return over_seeds(one, targets, begin, refitted)
