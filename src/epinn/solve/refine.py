"""Points where they are needed: where a solution leaves most over of its conditions.

A fit that is good at its points and bad between them has too few of them at some place: at a shock, in a layer, in a corner.
Points are drawn from many, with probabilities that grow with what is left there (residual-based adaptive distribution), and the
fit goes on from where it is. If it has learned its points by heart, it gets more of them; else their number stays, and with it
the compiled programs.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..derivatives.network import Solution
from ..problem.channel import Channel, residuals
from ..problem.problem import Problem, as_key
from ..problem.scales import Scales
from .config import Base
from .seeds import Keys, over_seeds

CANDIDATES = 16  # for every point
UNIFORM = 1.0  # what is added to the residual, in parts of its mean: so much of the points stays spread evenly

Places = tuple[Int[Array, "..."] | None, ...]  # of some of the candidates, by channel; None where all stays as it is


@dataclass(frozen=True, eq=False)
class Moved:
    """Where a fit has its points, if not where they began: which of the candidates of a round, by condition."""

    round: int
    places: Mapping[str, Int[np.ndarray, " n"]]

    @classmethod
    def read(cls, plain: Mapping[str, Any] | None) -> "Moved | None":
        """From what `plain` gave, or a file made of it."""
        if plain is None:
            return None
        return cls(int(plain["round"]), {name: np.asarray(chosen, int) for name, chosen in plain["places"].items()})

    def plain(self) -> dict[str, Any]:
        """For a file."""
        return {"round": self.round, "places": {name: np.asarray(chosen) for name, chosen in self.places.items()}}


def candidates_of(
    base: Base, problem: Problem, key: PRNGKeyArray | int, scales: Scales | None, round: int
) -> tuple[Channel, ...]:
    """The conditions of a problem at many points, other ones in every round."""
    many = problem.with_many_points(CANDIDATES)
    return base.channels(many, jax.random.fold_in(as_key(key), round), scales)


def channels_at(
    base: Base, problem: Problem, key: PRNGKeyArray | int, scales: Scales | None, moved: Moved | None
) -> tuple[Channel, ...]:
    """The conditions of a problem at the points where a fit has them."""
    channels = base.channels(problem, key, scales)
    if moved is None:
        return channels
    places = [moved.places.get(channel.name) for channel in channels]
    return taken(channels, candidates_of(base, problem, key, scales, moved.round), places)


@eqx.filter_jit
def where_most_is_left(
    channels: tuple[Channel, ...], candidates: tuple[Channel, ...], solution: Solution, keys: Keys, numbers: tuple[int, ...]
) -> tuple[tuple[Channel, ...], Places]:
    """The channels at so many points each, drawn from candidates, and which these are; all arrays have a leading seed axis."""

    def one(
        channels: tuple[Channel, ...], candidates: tuple[Channel, ...], solution: Solution, key: PRNGKeyArray
    ) -> tuple[tuple[Channel, ...], Places]:
        left, keys = residuals(candidates, solution), jax.random.split(key, len(channels))
        parts = zip(channels, left, keys, numbers, strict=True)
        places = tuple(_drawn(rows, own, number) if c.sampled else None for c, rows, own, number in parts)
        return taken(channels, candidates, places), places

    return over_seeds(one, channels, candidates, solution, keys)


def _drawn(left: Float[Array, "n k"], key: PRNGKeyArray, number: int) -> Int[Array, " m"]:
    size = jnp.linalg.norm(left, axis=1)
    weights = size / jnp.maximum(jnp.mean(size), 1e-30) + UNIFORM
    scores = jnp.log(weights) + jax.random.gumbel(key, weights.shape)  # the largest ones are draws without replacement
    return jax.lax.top_k(scores, number)[1]


def taken(
    channels: Sequence[Channel], candidates: Sequence[Channel], places: Sequence[Array | np.ndarray | None]
) -> tuple[Channel, ...]:
    """The channels at some of their candidates."""
    return tuple(
        c if chosen is None else dataclasses.replace(many.at(chosen), precision=c.precision, target_moves=c.target_moves)
        for c, many, chosen in zip(channels, candidates, places, strict=True)
    )
