"""Measurements that nothing was trained on, compared with a band."""

from collections.abc import Mapping
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.network import Solution
from ..problem.channel import Channel, residuals
from ..problem.conditions import HELD_OUT
from ..problem.precision import UnknownNoise
from ..problem.problem import Problem
from ..solve.pinn import Pinn
from .posterior import Posterior


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a posterior says of measurements that were held out: distances to its mean, its own spread, and their noise."""

    distance: np.ndarray
    spread: np.ndarray
    noise: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """Distances in units of what they should be."""
        return np.abs(self.distance) / np.sqrt(self.spread**2 + self.noise**2)


def compare_held_out(posterior: Posterior, noise: Mapping[str, float], draws: int = 1000) -> HeldOut | None:
    """None where nothing was held out, or nothing is known about its noise.

    `noise` has sigma by channel, for measurements that do not say their own.
    """
    channels = posterior.problem.held_out()
    if not channels or not noise_is_known(posterior.problem):
        return None
    found = posterior.evaluate(Residuals(channels), draws=draws, key=0)
    sigma = [np.full(c.target.size, _sigma(c, noise)) if isinstance(c.precision, UnknownNoise) else _each(c) for c in channels]
    return HeldOut(found.mean, found.std, np.concatenate(sigma))


class Residuals(eqx.Module):
    """What a solution leaves of channels, in one row."""

    channels: tuple[Channel, ...]

    def __call__(self, solution: Solution) -> Float[Array, " rows"]:
        return jnp.concatenate([row.ravel() for row in residuals(self.channels, solution)])


def inferred_noise(pinn: Pinn) -> dict[str, float]:
    """Sigma of the channels of measurements, given or inferred."""
    return {channel.name: float(np.sqrt(np.mean(channel.sigma**2))) for channel in pinn.channels if channel.kind == "data"}


def noise_of_fields(pinn: Pinn) -> dict[str, float]:
    """The noise that one more direct measurement of a field would have."""
    sigmas, problem = inferred_noise(pinn), pinn.problem
    found: dict[str, list[float]] = {}
    for condition in problem.data:
        if getattr(condition, "operator", None) is None and condition.label in sigmas:
            found.setdefault(problem.field_name(condition.field), []).append(sigmas[condition.label])
    return {name: float(np.sqrt(np.mean(np.square(values)))) for name, values in found.items()}


def _each(channel: Channel) -> np.ndarray:
    return np.broadcast_to(np.asarray(channel.sigma)[:, None], channel.target.shape).ravel()


def _sigma(channel: Channel, noise: Mapping[str, float]) -> float:
    """That of the measurements it was parted from, else of all others together."""
    parent = channel.name.removesuffix(HELD_OUT)
    return noise[parent] if parent in noise else float(np.sqrt(np.mean(np.square(list(noise.values())))))


def noise_is_known(problem: Problem) -> bool:
    """Whether held-out measurements say their noise, or there are others that it can be inferred from."""
    from_others = any(condition.kind == "data" for condition in problem.conditions)
    return from_others or all(not isinstance(channel.precision, UnknownNoise) for channel in problem.held_out())
