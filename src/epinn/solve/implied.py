"""How wrong the fields of a fit are if its residuals are all that is wrong: what the equation makes of them.

Small residuals need not mean small errors: an equation may amplify what is left of an initial value a hundredfold. What the
linearised conditions say of the fields, with the residuals as their tolerances, tells a fit that is done from one that is not.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.network import Solution, trainable
from ..problem.channel import Channel
from .double import in_double
from .optimise.objective import PinnObjective
from .optimise.smaller_space import Regular, is_dense
from .optimise.whitened import Prior, System
from .seeds import one_of, over_seeds, stack

PROBES = 128  # points at which the fields are looked at


def implied_error(channels: tuple[Channel, ...], solution: Solution, width: float) -> float:
    """Of one fit with a prior of this width on its weights: the largest root mean square over its fields, in parts of their
    variation; 0 where there are too many rows to tell."""
    stacked, solutions = tuple(stack([channels])), stack([solution])
    parameters, rest = trainable(solutions)
    rows, size = sum(c.target.size for c in channels), sum(leaf.size for leaf in jax.tree.leaves(parameters))
    if not is_dense(rows, size):
        return 0.0
    prior = Prior(parameters, jax.tree.map(lambda leaf: jnp.full_like(leaf, width), parameters))
    points = max((channel.points for channel in channels), key=len)
    probes = stack([points[:: max(1, len(points) // PROBES)]])
    keys = jax.random.split(jax.random.key(0), 1)

    def compute(objective: PinnObjective, channels: tuple[Channel, ...], parameters: Any, prior: Prior, probes: Array) -> Array:
        return _implied(System(objective, channels, keys, prior, one_of(parameters)), objective, parameters, probes)

    found: Array = in_double(compute, PinnObjective(rest), stacked, parameters, prior, probes, side=min(rows, size))
    return float(np.asarray(found)[0])


@eqx.filter_jit
def _implied(
    systems: System, rest: PinnObjective, parameters: Any, probes: Float[Array, "seeds n d"]
) -> Float[Array, " seeds"]:
    def one(system: System, rest: PinnObjective, tree: Any, probes: Float[Array, "n d"]) -> Float[Array, ""]:
        at = system.vector(tree)
        moves = moves_of_fields(system, rest, at, probes)
        flat = moves.reshape(-1, at.size)
        regular, rows = Regular.of(system.jacobian(at)), system.rows(at)
        variances = jnp.einsum("np,pn->n", flat, regular.solve(jnp.zeros((len(rows), len(flat))), flat.T))
        error = flat @ regular.solve(-rows, jnp.zeros_like(at))
        squares = jnp.mean((variances + error**2).reshape(moves.shape[:2]), axis=0)
        variation = jnp.std(_fields(system, rest, at, probes), axis=0)
        return jnp.max(jnp.sqrt(squares) / jnp.maximum(variation, 1.0))

    return over_seeds(one, systems, rest, parameters, probes)


def moves_of_fields(
    system: System, objective: PinnObjective, at: Float[Array, " p"], probes: Float[Array, "n d"]
) -> Float[Array, "n fields p"]:
    """How the fields at some points move with the parameters, in the units of the network."""

    def at_point(parameters: Float[Array, " p"], x: Float[Array, " d"]) -> Float[Array, " fields"]:
        return _fields(system, objective, parameters, x[None])[0]

    moves: Array = jax.vmap(jax.jacrev(at_point), in_axes=(None, 0))(at, probes)
    return moves


def _fields(
    system: System, objective: PinnObjective, parameters: Float[Array, " p"], probes: Float[Array, "n d"]
) -> Float[Array, "n fields"]:
    solution: Solution = eqx.combine(system.tree(parameters), objective.rest)
    return solution.dimensionless(probes)
