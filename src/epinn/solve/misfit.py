"""How well a solution meets its conditions, and whether that is what their noise allows."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.jet import Jet
from ..derivatives.network import Solution
from ..problem.channel import Channel, compare, push
from ..problem.precision import Exact, KnownNoise, UnknownNoise
from .seeds import over_seeds

FAR = 5.0  # residuals this many times their tolerance
UNSOLVED = 0.1  # and this large, in parts of what u = 0 leaves of the condition, are no accident
SURE = 4.0  # nor are residuals so many standard deviations of their root mean square above known noise,
EXCESS = 1.3  # and larger than it by this factor
NOT_FOUND = "this fit has not found the solution. Try another --seed, more base.epochs or base.restarts, or a larger network."


class Goodness(eqx.Module):
    """Root mean squares of the residuals by channel, of many seeds at once: of the solution, and of u = 0."""

    found: Float[np.ndarray, "seeds channels"]
    of_nothing: Float[np.ndarray, "seeds channels"]
    allowed: Float[np.ndarray, "seeds channels"]  # by the noise; infinite where it is not known

    @classmethod
    def of(cls, channels: Sequence[Channel], solution: Solution) -> "Goodness":
        """All arrays have a leading seed axis."""
        found, nothing, sigma = (np.asarray(part) for part in _root_mean_squares(tuple(channels), solution))
        known = np.asarray([not isinstance(channel.precision, UnknownNoise) for channel in channels])
        nothing = np.where(np.isfinite(nothing), nothing, 0.0)
        return cls(np.where(np.isfinite(found), found, np.inf), nothing, np.where(known, sigma, np.inf))

    @property
    def total(self) -> Float[np.ndarray, " seeds"]:
        """The mean square in units of the noise, over the channels."""
        return np.mean((self.found / np.where(np.isfinite(self.allowed), self.allowed, self.of_nothing + 1e-30)) ** 2, axis=1)

    def in_words(self, seed: int, channels: Sequence[Channel]) -> str:
        """What is left of every condition, in units of its noise where that is known."""
        parts = [
            f"{channel.name} {found / allowed:.2g} of its noise"
            if isinstance(channel.precision, KnownNoise)
            else f"{channel.name} {found:.2g}"
            for channel, found, allowed in zip(channels, self.found[seed], self.allowed[seed], strict=True)
        ]
        return f"residuals: {', '.join(parts)}"

    def misfits(self, seed: int, channels: Sequence[Channel], advice: str = NOT_FOUND) -> list[str]:
        """A sentence with some advice for each condition that a seed is far from meeting.

        The channels have a leading seed axis.
        """
        return [
            f"the residuals of {channel.name!r} (rms {found:.2g}) are far above its {_noise(channel)} ({allowed:.2g}): {advice}"
            for channel, found, nothing, allowed in zip(
                channels, self.found[seed], self.of_nothing[seed], self.allowed[seed], strict=True
            )
            if (
                found > max(1 + SURE / (2 * channel.target[0].size) ** 0.5, EXCESS) * allowed
                if isinstance(channel.precision, KnownNoise)
                else found > max(FAR * allowed, UNSOLVED * nothing)
            )
        ]


def _noise(channel: Channel) -> str:
    return "tolerance" if isinstance(channel.precision, Exact) else "noise"


@eqx.filter_jit
def _root_mean_squares(channels: tuple[Channel, ...], solution: Solution) -> tuple[Array, Array, Array]:
    def one(channels: tuple[Channel, ...], solution: Solution) -> tuple[Array, Array, Array]:
        jets = push(channels, solution.network)
        nothing = compare(channels, [Jet(jnp.zeros_like(jet.stack), jet.orders) for jet in jets], solution.unknowns)
        rows = compare(channels, jets, solution.unknowns)
        # where sigma differs between the points, residuals count in its units, and then as if it were its mean
        mean = [jnp.sqrt(jnp.mean(c.sigma**2)) for c in channels]
        even = [m / c.sigma[:, None] for m, c in zip(mean, channels, strict=True)]
        rows, nothing = ([row * e for row, e in zip(part, even, strict=True)] for part in (rows, nothing))
        return _roots(rows), _roots(nothing), jnp.stack(mean)

    return over_seeds(one, channels, solution)


def _roots(rows: Sequence[Array]) -> Float[Array, " channels"]:
    return jnp.stack([jnp.sqrt(jnp.mean(row**2)) for row in rows])
