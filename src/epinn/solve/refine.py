"""Points where they are needed: where a solution leaves most over of its conditions.

A fit that is good at its points and bad between them has too few of them at some place: at a shock, in a layer, in a corner. As
many points as before are drawn from many, with probabilities that grow with what is left there (residual-based adaptive
distribution), and the fit goes on from where it is. Their number stays, and with it the compiled programs.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.network import Solution
from ..problem.channel import Channel, residuals
from .seeds import Keys, over_seeds

CANDIDATES = 16  # for every point
UNIFORM = 1.0  # what is added to the residual, in parts of its mean: so much of the points stays spread evenly


@eqx.filter_jit
def where_most_is_left(
    channels: tuple[Channel, ...], candidates: tuple[Channel, ...], solution: Solution, keys: Keys
) -> tuple[Channel, ...]:
    """The channels at as many points as they have, drawn from candidates; all arrays have a leading seed axis."""

    def one(
        channels: tuple[Channel, ...], candidates: tuple[Channel, ...], solution: Solution, key: PRNGKeyArray
    ) -> tuple[Channel, ...]:
        left, keys = residuals(candidates, solution), jax.random.split(key, len(channels))
        parts = zip(channels, candidates, left, keys, strict=True)
        return tuple(_drawn(c, many, rows, own) if c.sampled else c for c, many, rows, own in parts)

    return over_seeds(one, channels, candidates, solution, keys)


def _drawn(channel: Channel, candidates: Channel, left: Float[Array, "n k"], key: PRNGKeyArray) -> Channel:
    size = jnp.linalg.norm(left, axis=1)
    weights = size / jnp.maximum(jnp.mean(size), 1e-30) + UNIFORM
    scores = jnp.log(weights) + jax.random.gumbel(key, weights.shape)  # the largest ones are draws without replacement
    chosen = jax.lax.top_k(scores, len(channel.points))[1]
    return dataclasses.replace(candidates.at(chosen), precision=channel.precision, target_moves=channel.target_moves)
