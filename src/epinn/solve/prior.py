"""What is known of weights and unknowns beforehand."""

import dataclasses
from collections.abc import Container, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.network import AbstractNetwork, Solution, trainable
from ..problem.problem import Problem
from ..problem.shorthand import Unknown
from .optimise.whitened import Prior
from .seeds import over_seeds, stack

WIDE = 10.0  # standard deviation of an unknown of which nothing is stated, in units that change a residual by its own size
PROBES = 64  # points at which is seen what a weight does to the fields
MOVES = 1.5  # in parts of their variation, what all of an array does to the fields at its prior of width 1: so it is in ours


def bayesian_prior(problems: Sequence[Problem], solution: Solution, width: float, *, elsewhere: bool = False) -> Prior:
    """That of Bayesian PINNs, for a stacked solution: around zero for weights, and what the user stated for unknowns; where
    nothing was stated it is so wide that what it is centred on, the guess, does not matter.

    The weights of a network that was trained `elsewhere` may have any units. Its prior is centred on them, and as wide for each
    as in one of ours with weights that do as much.
    """
    parameters: Solution = trainable(solution)[0]
    units = solution.units

    def stated(name: str, which: int) -> np.ndarray:
        own = [None] * len(problems) if units is None else np.asarray(units.unknowns[name]).tolist()
        return np.asarray([raw_prior(p.parameters[name], unit)[which] for p, unit in zip(problems, own, strict=True)])

    def filled(value: float, which: int) -> Solution:
        network = jax.tree.map(lambda leaf: jnp.asarray(np.full(leaf.shape, value, leaf.dtype)), parameters.network)
        raw = {name: jnp.asarray(stated(name, which), leaf.dtype) for name, leaf in parameters.raw.items()}
        return dataclasses.replace(parameters, network=network, raw=raw)

    prior = Prior(filled(0.0, 0), filled(width, 1))
    if not elsewhere or units is None:
        return prior
    probes = stack([problem.domain.points(PROBES, "sobol", key=jax.random.key(0)) for problem in problems])
    spread = jax.tree.map(lambda unit: width * unit, _units_of_weights(solution, probes))
    return Prior(
        dataclasses.replace(prior.center, network=parameters.network), dataclasses.replace(prior.spread, network=spread)
    )


def raw_prior(unknown: Unknown, unit: float | None) -> tuple[float, float]:
    """Mean and standard deviation of what is inferred of an unknown; in the units of the problem where it has no other."""
    return unknown.raw_prior() if unit is None else unknown.raw_prior(unit, WIDE)


@eqx.filter_jit
def _units_of_weights(solution: Solution, points: Float[Array, "seeds n d"]) -> AbstractNetwork:
    """For every weight, a change that does to the fields what a change by 1 does in a network of order one: the same for all of
    an array, but for those that belong to one coordinate or one field, which may have a unit of their own."""

    def one(solution: Solution, points: Float[Array, "n d"]) -> AbstractNetwork:
        parameters, rest = trainable(solution.network)
        values: Float[Array, "n fields"] = jax.vmap(solution.network)(points)  # type: ignore[assignment]
        variation, several = jnp.std(values, axis=0), {points.shape[1], values.shape[1]}
        sizes = jnp.where(variation > 0, variation, 1.0)

        def squares(total: AbstractNetwork, x: Float[Array, " d"]) -> tuple[AbstractNetwork, None]:
            moved = jax.jacrev(lambda p: eqx.combine(p, rest)(x) / sizes)(parameters)
            return jax.tree.map(lambda t, m: t + jnp.mean(m**2, axis=0), total, moved), None

        total, _ = jax.lax.scan(squares, jax.tree.map(jnp.zeros_like, parameters), points)
        return jax.tree.map(lambda t: MOVES / t.size**0.5 / _typical(t / len(points), several), total)  # type: ignore[no-any-return]

    return over_seeds(one, solution, points)


def _typical(squares: Float[Array, "..."], several: Container[int]) -> Float[Array, "..."]:
    """The root mean square of an array; where it has axes of certain lengths, a product of a factor for each index there."""
    apart = tuple(axis for axis, size in enumerate(squares.shape) if size in several)
    others = tuple(axis for axis in range(squares.ndim) if axis not in apart)
    means = jnp.mean(squares, axis=others, keepdims=True)
    logs = jnp.log(jnp.where(means > 0, means, 1.0)) / 2  # whatever does nothing may have any prior
    mean = jnp.mean(logs)
    factors = [jnp.mean(logs, axis=tuple(a for a in apart if a != axis), keepdims=True) - mean for axis in apart]
    return jnp.exp(jnp.broadcast_to(sum(factors, mean), squares.shape))
