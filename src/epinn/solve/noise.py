"""Sigma that nobody gave, estimated from what a solution leaves over.

An exact condition holds as far as this network meets it at points that it was not trained on. The noise of measurements is
what evidence says: the sum of squares, over the number of readings less those that the fit used up (MacKay's rule).
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.jet import Jet
from ..derivatives.network import Solution, trainable
from ..problem.channel import Channel, compare, push, residuals
from ..problem.precision import TOLERANCE, UnknownNoise
from .adam import Objective
from .precision import in_double
from .seeds import one_of, over_seeds
from .smaller_space import is_dense, leverage
from .whitened import Prior, System

FIRST = 0.1  # unknown noise before the first fit, in parts of the targets: what is not fitted yet is not noise yet
LEAST = 1e-6  # in parts of what u = 0 leaves of a condition, since nothing is exact in single precision
UNUSED = 0.1  # readings that no fit uses up, in parts of all of them


@eqx.filter_jit
def first_guess(channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
    """Where a fit begins: a hundredth for exact conditions, or of what u = 0 leaves of an equation if that is less (its units
    may be anything); a tenth of their size for unknown noise. All arrays have a leading seed axis."""

    def one(channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
        sizes = of_nothing(channels, solution)
        return tuple(
            channel if channel.precision.is_settled else _guess(channel, size)
            for channel, size in zip(channels, sizes, strict=True)
        )

    return over_seeds(one, channels, solution)


def _guess(channel: Channel, size: Float[Array, ""]) -> Channel:
    if isinstance(channel.precision, UnknownNoise):
        return channel.with_sigma(FIRST * root_mean_square(channel.target) + 1e-12)
    small = (channel.kind == "equation") & (size > 0)
    return channel.with_sigma(TOLERANCE * jnp.where(small, jnp.minimum(size, 1.0), 1.0))


def estimated(
    channels: tuple[Channel, ...],
    elsewhere: tuple[Channel, ...],
    solution: Solution,
    objective: Callable[[Any], Objective],
    prior: Prior | None,
) -> tuple[Channel, ...]:
    """The channels with sigma where nobody gave it; `elsewhere` are the same ones at other points.

    All arrays have a leading seed axis. Their sigma so far says how much of unknown noise the fit has used up.
    """
    if all(channel.precision.is_settled for channel in channels):
        return channels
    return _estimated(channels, elsewhere, solution, jnp.asarray(_used_up(channels, solution, objective, prior)))


@eqx.filter_jit
def _estimated(
    channels: tuple[Channel, ...], elsewhere: tuple[Channel, ...], solution: Solution, used: Float[Array, "seeds channels"]
) -> tuple[Channel, ...]:
    def one(
        channels: tuple[Channel, ...], elsewhere: tuple[Channel, ...], solution: Solution, used: Float[Array, " channels"]
    ) -> tuple[Channel, ...]:
        sizes, rows = of_nothing(channels, solution), residuals(channels, solution)
        fresh = residuals(elsewhere, solution)
        return tuple(
            _from_readings(channel, row, used[i])
            if isinstance(channel.precision, UnknownNoise)
            else channel
            if channel.precision.is_settled
            else channel.with_sigma(jnp.maximum(root_mean_square(other), LEAST * sizes[i] + 1e-12))
            for i, (channel, row, other) in enumerate(zip(channels, rows, fresh, strict=True))
        )

    return over_seeds(one, channels, elsewhere, solution, used)


def _from_readings(channel: Channel, row: Float[Array, "n k"], used: Float[Array, ""]) -> Channel:
    left = jnp.maximum(row.size - used, UNUSED * row.size)
    return channel.with_sigma(jnp.sqrt(jnp.sum(row**2) / left) + 1e-5 * root_mean_square(channel.target) + 1e-12)


def _used_up(
    channels: tuple[Channel, ...], solution: Solution, objective: Callable[[Any], Objective], prior: Prior | None
) -> Float[np.ndarray, "seeds channels"]:
    """How many rows of every channel the fit used up: the trace of its part of J (J'J + 1)^-1 J'."""
    seeds, parameters = channels[0].target.shape[0], trainable(solution)[0]
    rows = sum(channel.target[0].size for channel in channels)
    size = sum(leaf[0].size for leaf in jax.tree.leaves(parameters))
    if not any(isinstance(channel.precision, UnknownNoise) for channel in channels) or not is_dense(rows, size):
        return np.zeros((seeds, len(channels)))
    rest = trainable(solution)[1]

    def leverages(objective: Objective, channels: tuple[Channel, ...], parameters: Any, prior: Prior | None) -> Array:
        keys = jax.random.split(jax.random.key(0), seeds)
        return _leverages(System(objective, channels, keys, prior, one_of(parameters)), parameters)

    return np.asarray(in_double(leverages, objective(rest), channels, parameters, prior))


@eqx.filter_jit
def _leverages(systems: System, parameters: Any) -> Float[Array, "seeds channels"]:
    """The sum of the leverages of every channel's rows."""
    ends = np.cumsum([channel.target[0].size for channel in systems.channels])

    def one(system: System, parameters: Any) -> Float[Array, " channels"]:
        jacobian = system.jacobian(system.vector(parameters))
        return jnp.stack([jnp.sum(part) for part in jnp.split(leverage(jacobian), ends[:-1])])

    return over_seeds(one, systems, parameters, at_once=1)


def of_nothing(channels: Sequence[Channel], solution: Solution) -> list[Float[Array, ""]]:
    """The root mean square of what u = 0 leaves of every condition."""
    jets = push(channels, solution.network)
    nothing = compare(channels, [Jet(jnp.zeros_like(jet.stack), jet.orders) for jet in jets], solution.unknowns)
    return [jnp.where(jnp.isfinite(size), size, 0.0) for size in map(root_mean_square, nothing)]


def root_mean_square(values: Array) -> Float[Array, ""]:
    return jnp.sqrt(jnp.mean(values**2))
