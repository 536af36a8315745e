"""Coordinates in which a posterior is about as wide in every direction, from its curvature at one position.

In units of noise and prior (see `whitened.System`) the posterior's precision is I + J'J, but only nearby: weights that no row
determines may move by their whole prior width, and take J with them. So a chart has a `reach`, the distance for which J still
describes the rows. Directions that the rows determine better than that are scaled by what the rows leave of them; all others
are held back. It is the damping of Levenberg and Marquardt, put to a sampler's use.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ...posterior.log_density import Position, Target, rows_of, size_of
from ...problem.channel import Channel
from ...solve.double import in_double
from ...solve.optimise.objective import PinnObjective
from ...solve.optimise.smaller_space import is_dense, right_singular_vectors
from ...solve.optimise.whitened import Prior, System
from ...solve.seeds import one_of, over_seeds

REACHES = (1.0, 0.3, 0.1, 0.03, 0.01)  # in widths of the prior; the first within which the rows are nearly linear is taken
BENT = 0.5  # what they may differ from linear, in parts of how much they change
TRIALS = 4  # random changes to find out
HELD_BACK = 2  # directions that no row determines move by this power of the reach
UNDETERMINED = 0.5  # a mode is one of them if the rows are this much less sure of it than the prior


class Chart(eqx.Module):
    """vector = origin + width * (I + M' diag(stretch) M) eta, with the orthonormal rows of M as modes."""

    origin: Float[Array, " q"]
    width: Float[Array, " q"]
    modes: Float[Array, "k q"]
    stretch: Float[Array, " k"]

    def __call__(self, eta: Float[Array, " q"]) -> Float[Array, " q"]:
        return self.origin + self.width * (eta + (self.stretch * (self.modes @ eta)) @ self.modes)


def can_be_charted(targets: Target) -> bool:
    """Whether the Jacobian fits into memory."""
    return is_dense(rows_of(targets.channels), size_of(targets))


def charts(targets: Target, vectors: Float[Array, "seeds chains q"]) -> Chart:
    """A chart around every position, computed in double precision."""
    found = in_double(lambda targets, vectors: _charts(targets, vectors, one_of(targets.center)), targets, vectors)
    made: Chart = jax.tree.map(lambda leaf: jnp.asarray(leaf, vectors.dtype), found)
    return made


@eqx.filter_jit
def _charts(targets: Target, vectors: Float[Array, "seeds chains q"], like: Position) -> Chart:
    def one_seed(target: Target, vectors: Float[Array, "chains q"]) -> Chart:
        found: Chart = jax.lax.map(lambda vector: _chart(target, vector, like), vectors)
        return found

    return over_seeds(one_seed, targets, vectors, at_once=1)


def _chart(target: Target, vector: Float[Array, " q"], like: Position) -> Chart:
    position = target.position(vector)
    prior = Prior(target.center.parameters, target.spread.parameters)
    system = System(PinnObjective(target.rest), weighted_at(target, position), jax.random.key(0), prior, like.parameters)
    center = system.vector(position.parameters)
    jacobian = system.jacobian(center)
    modes, strengths = right_singular_vectors(jacobian)
    tries = jax.random.normal(jax.random.key(0), (TRIALS, center.size), center.dtype)
    here = system.rows(center)

    def bend(reach: Float[Array, ""]) -> Float[Array, ""]:
        """How far from linear the rows are within a reach."""
        held, stretch = _scales(strengths, reach)
        moves = held * (tries + (tries @ modes.T * stretch) @ modes)
        straight = moves @ jacobian.T
        found = jax.vmap(lambda move: system.rows(center + move) - here)(moves)
        share: Array = jnp.linalg.norm(found - straight) / jnp.linalg.norm(straight)
        return share

    reaches = jnp.asarray(REACHES)
    straight = jnp.asarray([*(jax.lax.map(bend, reaches) < BENT)[:-1], True])
    held, stretch = _scales(strengths, reaches[jnp.argmax(straight)])
    sizes = {c.name: c.target.size for c in target.channels}
    noises = jnp.asarray([1 / np.sqrt(2 * sizes[name]) for name in sorted(position.log_sigma)], vector.dtype)
    return Chart(
        origin=vector,
        width=jnp.concatenate([held * ravel_pytree(target.spread.parameters)[0], noises]),
        modes=jnp.pad(modes, ((0, 0), (0, len(noises)))),
        stretch=stretch,
    )


def weighted_at(target: Target, position: Position) -> tuple[Channel, ...]:
    """The channels with the noise of this position where it is unknown."""
    noise = position.log_sigma
    return tuple(c.with_sigma(jnp.exp(noise[c.name])) if c.name in noise else c for c in target.channels)


def _scales(strengths: Float[Array, " k"], reach: Float[Array, ""]) -> tuple[Float[Array, ""], Float[Array, " k"]]:
    """How far directions move that no row determines, and how much farther (or less far) the modes do."""
    held = reach**HELD_BACK
    left = 1 / jnp.sqrt(reach**-2 + strengths**2)
    return held, jnp.where(strengths < UNDETERMINED, 0.0, left / held - 1)
