"""Estimates of sigma, from the residuals of a solution, where the problem does not give it.

The tolerance of an exact condition is the residual of this network at points that it was not trained on. Unknown noise of
measurements is what maximises the evidence (MacKay's rule): the sum of squared residuals over the number of readings that the
fit has not used up. A fit uses up as many readings of a channel as the sum of their leverages. Readings with Student's t noise
count in that sum by their weights, which depend on sigma in turn.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from ..derivatives.network import Solution, trainable
from ..problem.channel import Channel, push, residuals
from ..problem.precision import TOLERANCE, UnknownNoise
from ..problem.student import weight
from .double import in_double
from .misfit import at_most_their_size, residuals_of_zero
from .optimise.objective import Objective
from .optimise.smaller_space import Regular, is_dense
from .optimise.whitened import Prior, System
from .seeds import one_of, over_seeds

FIRST = 0.1  # unknown noise before the first fit, in parts of the targets' size: most of them is still to be explained
LEAST = 1e-6  # least tolerance, in parts of the residual of u = 0: nothing is more exact in single precision
TURNS = 50  # in which weights and sigma find to each other: each halves what is missing, or does better
UNUSED = 0.1  # least share of the readings that a fit is taken to leave unused


@eqx.filter_jit
def first_guess(channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
    """The channels with the sigma that a fit begins with, where the problem gives none: a hundredth for exact conditions, or a
    hundredth of an equation's residual at u = 0 if that is less (its units may be anything); for unknown noise a tenth of the
    targets' size. All arrays have a leading seed axis."""

    def one(channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
        sizes = rms_of_zero(channels, solution)
        return tuple(
            channel if channel.precision.is_settled else _guess(channel, size)
            for channel, size in zip(channels, sizes, strict=True)
        )

    return over_seeds(one, channels, solution)


def broad(channels: tuple[Channel, ...]) -> tuple[Channel, ...]:
    """The channels with Student's t noise at least as large as a first guess of unknown noise: to a narrow one, whatever a fit
    has not yet found is an outlier. All arrays have a leading seed axis."""
    return tuple(
        c if c.precision.is_gaussian else c.with_sigma(jnp.maximum(c.sigma, FIRST * jnp.std(c.target, axis=(1, 2))[:, None]))
        for c in channels
    )


def _guess(channel: Channel, size: Float[Array, ""]) -> Channel:
    if isinstance(channel.precision, UnknownNoise):
        return channel.with_sigma(FIRST * _size_of_target(channel) + 1e-12)
    small = (channel.kind == "equation") & (size > 0)
    return channel.with_sigma(TOLERANCE * jnp.where(small, jnp.minimum(size, 1.0), 1.0))


def estimate_sigma(
    channels: tuple[Channel, ...],
    elsewhere: tuple[Channel, ...],
    solution: Solution,
    objective: Callable[[Any], Objective],
    prior: Prior | None,
) -> tuple[Channel, ...]:
    """The channels with an estimate of sigma where the problem gives none; `elsewhere` are the same channels at other points.

    All arrays have a leading seed axis. The leverages are those at the sigma that the channels have so far.
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
        sizes, rows = rms_of_zero(channels, solution), residuals(channels, solution)
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
    least = 1e-5 * _size_of_target(channel) + 1e-12

    def estimate(sigma: Float[Array, ""]) -> Float[Array, ""]:
        return jnp.sqrt(jnp.sum(weight(row / sigma, channel.precision.freedom) * row**2) / left) + least

    sigma = jnp.sqrt(jnp.sum(row**2) / left) + least
    if not channel.precision.is_gaussian:
        sigma = jax.lax.fori_loop(0, TURNS, lambda _, before: estimate(before), sigma)
    return channel.with_sigma(sigma)


def _size_of_target(channel: Channel) -> Float[Array, ""]:
    return at_most_their_size(root_mean_square(channel.target)[None], [channel])[0]


def _used_up(
    channels: tuple[Channel, ...], solution: Solution, objective: Callable[[Any], Objective], prior: Prior | None
) -> Float[np.ndarray, "seeds channels"]:
    """How many rows of every channel the fit has used up: the sum of their leverages. Zero where no noise is unknown."""
    seeds, parameters = channels[0].target.shape[0], trainable(solution)[0]
    rows = sum(channel.target[0].size for channel in channels)
    size = int(optax.tree.size(parameters)) // seeds
    if not any(isinstance(channel.precision, UnknownNoise) for channel in channels) or not is_dense(rows, size):
        return np.zeros((seeds, len(channels)))
    rest = trainable(solution)[1]

    def leverages(objective: Objective, channels: tuple[Channel, ...], parameters: Any, prior: Prior | None) -> Array:
        keys = jax.random.split(jax.random.key(0), seeds)
        return _leverages(System(objective, channels, keys, prior, one_of(parameters)), parameters)

    return np.asarray(in_double(leverages, objective(rest), channels, parameters, prior, side=min(rows, size)))


@eqx.filter_jit
def _leverages(systems: System, parameters: Any) -> Float[Array, "seeds channels"]:
    """The sum of the leverages of every channel's rows."""
    ends = np.cumsum([channel.target[0].size for channel in systems.channels])

    def one(system: System, parameters: Any) -> Float[Array, " channels"]:
        jacobian = system.jacobian(system.vector(parameters))
        return jnp.stack([jnp.sum(part) for part in jnp.split(Regular.of(jacobian).leverage, ends[:-1])])

    return over_seeds(one, systems, parameters, at_once=1)


def rms_of_zero(channels: Sequence[Channel], solution: Solution) -> list[Float[Array, ""]]:
    """The root mean square of what u = 0 leaves of every condition."""
    nothing = residuals_of_zero(channels, push(channels, solution.network), solution)
    sizes = at_most_their_size(jnp.stack([root_mean_square(row) for row in nothing]), channels)
    return list(jnp.where(jnp.isfinite(sizes), sizes, 0.0))


def root_mean_square(values: Array) -> Float[Array, ""]:
    return jnp.sqrt(jnp.mean(values**2))
