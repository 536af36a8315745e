"""How well an explanation explains: the evidence of a fit, by Laplace's approximation.

Fits of one problem from different starts may differ in what they call noise. The one that calls everything noise fits
perfectly; what it lacks is evidence:

    log Z = -1/2 sum (r / sigma)^2 - sum log sigma - 1/2 |d|^2 - 1/2 log det(1 + J J')

with residuals r, parameters d in units of the prior, and the sum of log sigma over readings whose noise is unknown. Conditions
that hold exactly count with one tolerance in all fits, or the number of points that they are looked at would decide.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.network import Solution, trainable
from ..problem.channel import Channel
from ..problem.precision import UnknownNoise
from .double import in_double
from .noise import first_guess
from .optimise.objective import PinnObjective
from .optimise.smaller_space import Regular, is_dense
from .optimise.whitened import Prior, System
from .seeds import one_of, over_seeds, stack


def log_evidence(channels: tuple[Channel, ...], solution: Solution, prior: Prior) -> float | None:
    """Of one fit, with the sigma that it found; None where there are too many rows for it."""
    stacked, solutions = tuple(stack([channels])), stack([solution])
    parameters, rest = trainable(solutions)
    rows, size = sum(c.target.size for c in channels), sum(leaf.size for leaf in jax.tree.leaves(parameters))
    if not is_dense(rows, size):
        return None
    fair = tuple(
        found if isinstance(found.precision, UnknownNoise) else same
        for found, same in zip(stacked, first_guess(stacked, solutions), strict=True)
    )
    keys = jax.random.split(jax.random.key(0), 1)

    def compute(objective: PinnObjective, channels: tuple[Channel, ...], parameters: Any, prior: Prior) -> Array:
        return _log_evidences(System(objective, channels, keys, prior, one_of(parameters)), parameters)

    found: Array = in_double(compute, PinnObjective(rest), fair, parameters, prior, side=min(rows, size))
    return float(np.asarray(found)[0])


@eqx.filter_jit
def _log_evidences(systems: System, parameters: Any) -> Float[Array, " seeds"]:
    def one(system: System, tree: Any) -> Float[Array, ""]:
        at = system.vector(tree)
        determinant = Regular.of(system.jacobian(at)).log_determinant
        unknown = [c for c in system.channels if isinstance(c.precision, UnknownNoise)]
        widths = sum((jnp.sum(jnp.log(c.sigma)) * c.target.size / c.sigma.size for c in unknown), start=jnp.zeros(()))
        total: Float[Array, ""] = -0.5 * system.loss(at) - widths - 0.5 * determinant
        return total

    return over_seeds(one, systems, parameters)
