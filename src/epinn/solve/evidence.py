"""How well an explanation explains: the evidence of a fit, by Laplace's approximation.

Fits of one problem from different starts may differ in what they call noise. The one that calls everything noise fits
perfectly; what it lacks is evidence:

    log Z = -1/2 sum (r / sigma)^2 - sum log sigma - 1/2 |d|^2 - 1/2 log det(1 + J J')

with residuals r, parameters d in units of the prior, and the sum of log sigma over readings whose noise is unknown. Conditions
that hold exactly count with one tolerance in all fits, or the number of points that they are looked at would decide.
"""

import dataclasses
from collections.abc import Callable
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

LOOSER = 10.0  # times as wide
QUICK = 3000  # rows or parameters up to which that is looked at: two more factorisations


def log_evidence(channels: tuple[Channel, ...], solution: Solution, prior: Prior) -> float | None:
    """Of one fit, with the sigma that it found; None where there are too many rows for it."""
    found = _of_one(_log_evidences, channels, solution, prior)
    return None if found is None else float(found[0])


def spread_of_unknowns(channels: tuple[Channel, ...], solution: Solution, prior: Prior) -> dict[str, float] | None:
    """The standard deviations, by Laplace's approximation, of what stands for the unknowns of one fit (`Solution.raw`)."""
    found = _of_one(_spreads, channels, solution, prior)
    return None if found is None else dict(zip(sorted(solution.raw), found[0].tolist(), strict=True))


def resting_on_the_network(channels: tuple[Channel, ...], solution: Solution, prior: Prior) -> dict[str, float] | None:
    """How many times as large the same standard deviations are if the prior on the weights is `LOOSER`: once, where the
    measurements decide. Where they leave an unknown open, what decides is that a network prefers smooth fields. None where
    it would take long to tell."""
    if min(sum(c.target.size for c in channels), sum(leaf.size for leaf in jax.tree.leaves(trainable(solution)[0]))) > QUICK:
        return None
    looser = jax.tree.map(lambda width: LOOSER * width, prior.spread.network)
    wide = dataclasses.replace(prior, spread=dataclasses.replace(prior.spread, network=looser))
    found = [_of_one(_spreads, channels, solution, each, with_its_tolerances=True) for each in (prior, wide)]
    if found[0] is None or found[1] is None:
        return None
    return dict(zip(sorted(solution.raw), (found[1][0] / found[0][0]).tolist(), strict=True))


def _of_one(
    function: Callable[[System, Any], Array],
    channels: tuple[Channel, ...],
    solution: Solution,
    prior: Prior,
    *,
    with_its_tolerances: bool = False,
) -> np.ndarray | None:
    """What a function says of the system of one fit, whose conditions count with the same tolerance as in any other, or with
    those that it has; None where there are too many rows for a factorisation."""
    stacked, solutions = tuple(stack([channels])), stack([solution])
    parameters, rest = trainable(solutions)
    rows, size = sum(c.target.size for c in channels), sum(leaf.size for leaf in jax.tree.leaves(parameters))
    if not is_dense(rows, size):
        return None
    others = stacked if with_its_tolerances else first_guess(stacked, solutions)
    fair = tuple(
        found if isinstance(found.precision, UnknownNoise) else same for found, same in zip(stacked, others, strict=True)
    )
    keys = jax.random.split(jax.random.key(0), 1)

    def compute(objective: PinnObjective, channels: tuple[Channel, ...], parameters: Any, prior: Prior) -> Array:
        return function(System(objective, channels, keys, prior, one_of(parameters)), parameters)

    return np.asarray(in_double(compute, PinnObjective(rest), fair, parameters, prior, side=min(rows, size)))


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


@eqx.filter_jit
def _spreads(systems: System, parameters: Any) -> Float[Array, "seeds unknowns"]:
    def one(system: System, tree: Any) -> Float[Array, " unknowns"]:
        at = system.vector(tree)
        regular, nothing = Regular.of(system.jacobian(at)), jax.tree.map(jnp.zeros_like, tree)
        sides = [dataclasses.replace(nothing, raw=nothing.raw | {name: jnp.ones(())}) for name in sorted(tree.raw)]
        units = jnp.stack([system.vector(side) for side in sides], axis=1)  # one entry each, the inverse of a prior's width
        widths = 1 / jnp.sum(units, axis=0)
        found = regular.solve(jnp.zeros((len(regular.jacobian), len(sides))), units * widths)
        return jnp.sqrt(jnp.sum(found * units * widths, axis=0)) * widths

    return over_seeds(one, systems, parameters)
