"""The posterior of a Bayesian PINN: Gaussian priors on weights and unknowns, times the channels' likelihoods.

Whatever samples or approximates it (`hmc`, `nuts`, `vi`) sees one vector, whose parts are those of a `Position`.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from ..derivatives.network import Solution, trainable
from ..problem.channel import Channel, log_likelihood, residuals
from ..problem.precision import Exact, UnknownNoise
from ..solve.config import create_solutions
from ..solve.pinn import Pinn, prior_of, scales_for
from ..solve.seeds import Keys, over_seeds, stack, unraveller, unstack
from .sampler import Members

PROBES = 32  # points at which the field is watched


class Position(eqx.Module):
    """All that is inferred: weights, unknowns, and the noise of channels where it is unknown."""

    parameters: PyTree
    log_sigma: dict[str, Float[Array, "..."]]


class Target(eqx.Module):
    """The log posterior density of one seed, up to a constant; of several seeds with a leading axis on all arrays."""

    channels: tuple[Channel, ...]
    center: Position  # the prior's means: zero for weights, the guess for unknowns
    spread: Position  # the prior's standard deviations
    probes: Float[Array, "*seeds probes d"]  # points of the network
    rest: PyTree

    def __call__(self, vector: Float[Array, " q"]) -> Float[Array, ""]:
        """The log density at a position, given as a vector."""
        position = self.position(vector)
        whitened = jax.tree.map(lambda p, c, s: jnp.sum(((p - c) / s) ** 2), position, self.center, self.spread)
        rows = residuals(self.channels, self.solution(position))
        return log_likelihood(self.channels, rows, position.log_sigma) - 0.5 * sum(jax.tree.leaves(whitened))

    def position(self, vector: Float[Array, " q"]) -> Position:
        position: Position = unraveller(self.center)(vector)
        return position

    def solution(self, position: Position) -> Solution:
        solution: Solution = eqx.combine(position.parameters, self.rest)
        return solution

    def field(self, vector: Float[Array, " q"]) -> Float[Array, " values"]:
        """The fields at the probes, which diagnostics look at: weights may be exchanged freely without changing them."""
        return self.solution(self.position(vector)).variation(self.probes).ravel()


def size_of(targets: Target) -> int:
    """The length of the vector of one seed; the targets have a leading seed axis."""
    return int(optax.tree.size(targets.center)) // len(targets.probes)


def rows_of(channels: Sequence[Channel]) -> int:
    """How many residuals one seed has; the channels have a leading seed axis."""
    return sum(channel.target[0].size for channel in channels)


def posteriors_of(pinns: Sequence[Pinn], prior_sd: float, tolerance: float) -> Target:
    """The targets of all seeds, stacked. Exact conditions count as known to `tolerance` at best: no chain moves in a thinner
    shell."""
    solution = stack([pinn.solution for pinn in pinns])
    prior = prior_of(pinns, solution, prior_sd)
    channels = tuple(tolerant(channel, tolerance) for channel in stack([pinn.channels for pinn in pinns]))
    # Where the noise is unknown: a log-normal prior around a tenth of the size of the targets.
    sizes = {
        c.name: jnp.asarray(np.log(0.1 * np.std(np.asarray(c.target), axis=(1, 2)) + 1e-6))
        for c in channels
        if isinstance(c.precision, UnknownNoise)
    }
    probes = stack([_probes(pinn) for pinn in pinns])
    ones = {name: jnp.ones_like(size) for name, size in sizes.items()}
    return Target(channels, Position(prior.center, sizes), Position(prior.spread, ones), probes, trainable(solution)[1])


def tolerant(channel: Channel, tolerance: float) -> Channel:
    """The channel with a sigma of at least `tolerance` if it is exact."""
    return channel.with_sigma(jnp.maximum(channel.sigma, tolerance)) if isinstance(channel.precision, Exact) else channel


def _probes(pinn: Pinn) -> Float[Array, "probes d"]:
    domain, units = pinn.problem.domain, pinn.solution.units
    points = domain.interior(PROBES) if domain.dimension == 1 else domain.points(PROBES, "sobol", key=jax.random.key(0))
    return points if units is None else units.inside(points)


@eqx.filter_jit
def trained(targets: Target, solution: Solution) -> Float[Array, "seeds q"]:
    """The positions of the trained networks, with unknown noise as large as their residuals."""

    def one(target: Target, solution: Solution) -> Float[Array, " q"]:
        rows = zip(target.channels, residuals(target.channels, solution), strict=True)
        left = {c.name: 0.5 * jnp.log(jnp.mean(row**2) + 1e-12) for c, row in rows if isinstance(c.precision, UnknownNoise)}
        return ravel_pytree(Position(trainable(solution)[0], left))[0]

    return over_seeds(one, targets, solution)


@eqx.filter_jit
def from_prior(targets: Target, keys: Keys, chains: int) -> Float[Array, "seeds chains q"]:
    """Positions drawn from the prior."""

    def one(target: Target, key: PRNGKeyArray) -> Float[Array, "chains q"]:
        def per_chain(key: PRNGKeyArray, shape: tuple[int, ...], dtype: Any) -> Float[Array, "chains ..."]:
            return jax.random.normal(key, (chains, *shape), dtype)

        normal = optax.tree.random_like(key, target.center, per_chain)
        drawn = jax.tree.map(lambda center, spread, z: center + spread * z, target.center, target.spread, normal)
        return _vectors(drawn)

    return over_seeds(one, targets, keys)


def fresh(pinns: Sequence[Pinn], targets: Target, keys: Keys, chains: int) -> Float[Array, "seeds chains q"]:
    """Positions of networks as they are before training."""
    chain_keys = jax.vmap(lambda key: jax.random.split(key, chains))(keys)
    problems = [pinn.problem for pinn in pinns]
    scales = [scales_for(pinn.solution, pinn.problem) for pinn in pinns]
    made = [trainable(create_solutions(pinns[0].base, problems, chain_keys[:, c], scales))[0] for c in range(chains)]
    return jnp.stack([_vectors(Position(parameters, targets.center.log_sigma)) for parameters in made], axis=1)


def _vectors(positions: Position) -> Float[Array, "n q"]:
    """Positions with a leading axis as vectors."""
    return jax.vmap(lambda position: ravel_pytree(position)[0])(positions)


def members_of(targets: Target, vectors: Float[np.ndarray, "seeds chains samples q"]) -> list[tuple[Members, Position]]:
    """Every stored vector as a solution, by seed, and the positions that they came from."""
    found = []
    for target, stored in zip(unstack(targets, len(vectors)), vectors, strict=True):
        flat = stored.reshape(-1, stored.shape[-1])
        positions = _positions(target, jnp.asarray(flat))
        found.append((Members(eqx.combine(positions.parameters, _repeated(target.rest, len(flat)))), positions))
    return found


@eqx.filter_jit
def _positions(target: Target, vectors: Float[Array, "n q"]) -> Position:
    return jax.vmap(target.position)(vectors)


def _repeated(tree: Any, count: int) -> Any:
    return jax.tree.map(lambda leaf: jnp.repeat(leaf[None], count, axis=0) if eqx.is_array(leaf) else leaf, tree)
