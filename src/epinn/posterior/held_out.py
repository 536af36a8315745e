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
from .posterior import Posterior

MOST = 1000  # measurements whose correlations are looked at
SIMULATED = 10_000  # sets of measurements, for probabilities down to a thousandth


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a posterior says of n measurements that were held out: how far they are from its mean, how far its draws are from
    it at the same places, and the noise of the measurements."""

    distance: Float[np.ndarray, " n"]
    deviations: Float[np.ndarray, "draws n"]
    noise: Float[np.ndarray, " n"]

    @property
    def spread(self) -> Float[np.ndarray, " n"]:
        """The standard deviation of the draws."""
        return np.asarray(np.sqrt(np.mean(self.deviations**2, axis=0)))

    @property
    def scores(self) -> Float[np.ndarray, " n"]:
        """Distances in units of what they should be."""
        return np.asarray(np.abs(self.distance) / np.hypot(self.spread, self.noise))

    @property
    def percentile(self) -> float:
        """How probable scores are whose mean square is at most as large as here, if the band is right.

        Errors of the field are shared by neighbouring measurements, so scores are not independent. The sum of their squares is
        distributed like a sum of squares of independent normal numbers that are weighted with the eigenvalues of the scores'
        correlation matrix, which comes from the joint covariance of the draws and the noise. That sum is simulated.
        """
        some = np.unique(np.linspace(0, len(self.distance) - 1, MOST).astype(int))  # of very many, as many as a matrix takes
        deviations, noise = self.deviations[:, some], self.noise[some]
        covariance = deviations.T @ deviations / len(deviations) + np.diag(noise**2)
        scale = np.sqrt(np.diag(covariance))
        weights = np.linalg.eigvalsh(covariance / np.outer(scale, scale))
        normal = np.random.default_rng(0).standard_normal((SIMULATED, len(some)), np.float32)
        return float(np.mean(normal**2 @ weights <= np.sum(self.scores[some] ** 2)))


def compare_held_out(posterior: Posterior, noise: Mapping[str, float], draws: int = 1000) -> HeldOut | None:
    """The held-out measurements of a posterior's problem against its draws.

    `noise` has sigma by channel, for measurements that do not say their own. None where nothing was held out, or nothing is
    known about its noise.
    """
    channels = posterior.problem.held_out()
    if not channels or not noise_is_known(posterior.problem):
        return None
    found = posterior.evaluate(Residuals(channels), draws=draws, key=0, samples=draws)
    assert found.samples is not None  # asked for
    sigma = [np.full(c.target.size, _sigma(c, noise)) if isinstance(c.precision, UnknownNoise) else _each(c) for c in channels]
    return HeldOut(found.mean, found.samples - found.mean, np.concatenate(sigma))


class Residuals(eqx.Module):
    """What a solution leaves of channels, in one row, in the units of the problem."""

    channels: tuple[Channel, ...]

    def __call__(self, solution: Solution) -> Float[Array, " rows"]:
        units = solution.units
        one = jnp.ones((1, 1))
        inside = self.channels if units is None else tuple(channel.inside(units, one) for channel in self.channels)
        return jnp.concatenate([row.ravel() for row in residuals(inside, solution)])


def _each(channel: Channel) -> np.ndarray:
    return np.broadcast_to(np.asarray(channel.precision.deviation)[:, None], channel.target.shape).ravel()


def _sigma(channel: Channel, noise: Mapping[str, float]) -> float:
    """That of the measurements it was parted from, else of all others together."""
    parent = channel.name.removesuffix(HELD_OUT)
    return noise[parent] if parent in noise else float(np.sqrt(np.mean(np.square(list(noise.values())))))


def noise_is_known(problem: Problem) -> bool:
    """Whether held-out measurements say their noise, or there are others that it can be inferred from."""
    from_others = any(condition.kind == "data" for condition in problem.conditions)
    return from_others or all(not isinstance(channel.precision, UnknownNoise) for channel in problem.held_out())
