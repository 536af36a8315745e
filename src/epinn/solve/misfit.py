"""How well a solution meets its conditions, and whether that is what their noise allows."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..derivatives.jet import Jet
from ..derivatives.network import Solution
from ..problem.channel import Channel, compare, push, residuals
from ..problem.precision import Exact, KnownNoise, UnknownNoise
from ..problem.student import mean_square_of_root
from .double import in_its_precision
from .optimise.objective import Residuals
from .seeds import over_seeds

# residuals so many times their tolerance, and so large in parts of what u = 0 leaves of a condition, are no accident:
OF_AN_EQUATION = (5.0, 0.1)
OF_OTHERS = (2.0, 0.02)  # what begins or bounds a field: the equation may make much more of it
SURE = 4.0  # nor are residuals so many standard deviations of their root mean square above known noise,
EXCESS = 1.3  # and larger than it by this factor
SOLVED = 3e-3  # residuals at fresh points, in parts of the size of their terms, of which no more is asked
ON_ITS_WAY = 0.3  # of what a plateau leaves of a condition: a fit that leaves less need not begin again
BETWEEN = 2.0  # times the residuals at the points of the fit: it has learned its points, not the equation
BY_HEART = 5.0  # times: and needs more of them
LOST = "this fit has not found the solution"
NOT_FOUND = f"{LOST}. Try another key, more Base(epochs=...) or Base(restarts=...), or a larger network, Base(hidden=...)."


class Misfit(eqx.Module):
    """Root mean square residuals by channel, of many seeds at once, and what they are compared with."""

    rms: Float[np.ndarray, "seeds channels"]
    rms_of_zero: Float[np.ndarray, "seeds channels"]  # of u = 0
    allowed: Float[np.ndarray, "seeds channels"]  # sigma; infinite where it is unknown
    is_exact: Bool[np.ndarray, " channels"]

    @classmethod
    def of(cls, channels: Sequence[Channel], solution: Solution) -> "Misfit":
        """Of a solution; all arrays have a leading seed axis."""
        found, nothing, sigma = (np.asarray(part) for part in in_its_precision(_root_mean_squares, tuple(channels), solution))
        known = np.asarray([not isinstance(channel.precision, UnknownNoise) for channel in channels])
        exact = np.asarray([isinstance(channel.precision, Exact) for channel in channels])
        nothing = np.where(np.isfinite(nothing), nothing, 0.0)
        return cls(np.where(np.isfinite(found), found, np.inf), nothing, np.where(known, sigma, np.inf), exact)

    @property
    def total(self) -> Float[np.ndarray, " seeds"]:
        """The mean square in units of the noise, over the channels."""
        allowed = np.where(np.isfinite(self.allowed), self.allowed, self.rms_of_zero + 1e-30)
        return np.asarray(np.mean((self.rms / allowed) ** 2, axis=1))

    def largest(self, seed: int) -> float:
        """The largest residual of a condition that holds exactly, in parts of the size of its terms; 0 where there is none."""
        return float(np.max(np.where(self.is_exact, self.rms[seed], 0.0)))

    def in_all(self, channels: Sequence[Channel]) -> Float[np.ndarray, "seeds channels"]:
        """The sum of squares in units of sigma; the channels have a leading seed axis."""
        sigma = np.stack([np.sqrt(np.mean(np.asarray(c.sigma) ** 2, axis=1)) for c in channels], axis=1)
        return np.asarray((self.rms / sigma) ** 2 * [channel.target[0].size for channel in channels])

    def is_on_its_way(self, seed: int) -> bool:
        """Whether every condition is met far better than on a plateau: exact ones in parts of the size of their terms,
        measurements in parts of what u = 0 leaves of them."""
        plateau = np.where(self.is_exact, 1.0, self.rms_of_zero[seed])
        return bool(np.all(self.rms[seed] < ON_ITS_WAY * plateau))

    def is_left_between(self, at_points: "Misfit") -> bool:
        """Whether a condition that holds exactly is still far from holding here, and much better at the points of the fit."""
        return bool(np.any(self._left_between(at_points, BETWEEN)))

    def learned_by_heart(self, at_points: "Misfit") -> list[bool]:
        """Which exact conditions are met so much better at the points of the fit that there are too few of them."""
        found: list[bool] = np.any(self._left_between(at_points, BY_HEART), axis=0).tolist()
        return found

    def _left_between(self, at_points: "Misfit", times: float) -> Bool[np.ndarray, "seeds channels"]:
        return np.asarray((self.rms > SOLVED) & (self.rms > times * at_points.rms) & self.is_exact)

    def in_words(self, seed: int, channels: Sequence[Channel]) -> str:
        """What is left of every condition, in units of its noise where that is known."""
        parts = [
            f"{channel.name} {found / allowed:.2g} of its noise"
            if isinstance(channel.precision, KnownNoise)
            else f"{channel.name} {found:.2g}"
            for channel, found, allowed in zip(channels, self.rms[seed], self.allowed[seed], strict=True)
        ]
        return f"residuals: {', '.join(parts)}"

    def complaints(
        self, seed: int, channels: Sequence[Channel], advice: str | Callable[[], Sequence[str]] = NOT_FOUND
    ) -> list[str]:
        """A sentence with some advice for each condition that a seed is far from meeting.

        The channels have a leading seed axis. Advice that takes some looking is found when it is needed, one for each channel;
        none where nothing is wrong with the fit.
        """
        unmet = self._unmet(seed, channels)
        each = [advice] * len(channels) if isinstance(advice, str) else advice() if any(unmet) else []
        return [
            f"the residuals of {channel.name!r} (rms {self.rms[seed, i] * _size(channel, seed):.2g}) are far above its "
            f"{_noise(channel)} ({self.allowed[seed, i] * _size(channel, seed):.2g}): {each[i]}"
            for i, channel in enumerate(channels)
            if unmet[i] and each[i]
        ]

    def _unmet(self, seed: int, channels: Sequence[Channel]) -> list[bool]:
        """Which conditions are far from being met."""
        return [
            bool(
                found > max(1 + SURE / (2 * channel.target[0].size) ** 0.5, EXCESS) * allowed
                if isinstance(channel.precision, KnownNoise)
                else found > _most(channel, float(allowed), float(nothing))
            )
            for channel, found, nothing, allowed in zip(
                channels, self.rms[seed], self.rms_of_zero[seed], self.allowed[seed], strict=True
            )
        ]


def _most(channel: Channel, allowed: float, nothing: float) -> float:
    """What may be left of a condition that holds exactly."""
    tolerances, part = OF_AN_EQUATION if channel.kind == "equation" else OF_OTHERS
    return max(tolerances * allowed, part * nothing)


def _size(channel: Channel, seed: int) -> float:
    """What a residual of 1 is in the units of the user."""
    return 1.0 if channel.size is None else float(channel.size[seed, 0, 0])


def _noise(channel: Channel) -> str:
    return "tolerance" if isinstance(channel.precision, Exact) else "noise"


@eqx.filter_jit
def _root_mean_squares(channels: tuple[Channel, ...], solution: Solution) -> tuple[Array, Array, Array]:
    def one(channels: tuple[Channel, ...], solution: Solution) -> tuple[Array, Array, Array]:
        jets = push(channels, solution.network)
        rows, nothing = compare(channels, jets, solution), residuals_of_zero(channels, jets, solution)
        # where sigma differs between the points, residuals count in its units, and then as if it were its mean; where noise has
        # heavy tails, as far as they are unlikely
        mean = [jnp.sqrt(jnp.mean(c.sigma**2)) for c in channels]
        nothing = [row * m * c.whitening[:, None] for row, m, c in zip(nothing, mean, channels, strict=True)]
        unit = [m / jnp.sqrt(mean_square_of_root(c.precision.freedom)) for m, c in zip(mean, channels, strict=True)]
        rows = [c.whitened(row) * u for row, u, c in zip(rows, unit, channels, strict=True)]
        return _roots(rows), at_most_their_size(_roots(nothing), channels), jnp.stack(mean)

    return over_seeds(one, channels, solution)


def left_by(solution: Solution, channels: Sequence[Channel]) -> Residuals:
    """What a solution leaves of some channels, without a seed axis."""
    return in_its_precision(_left_by, solution, tuple(channels))


@eqx.filter_jit
def _left_by(solution: Solution, channels: tuple[Channel, ...]) -> Residuals:
    return residuals(channels, solution)


def residuals_of_zero(channels: Sequence[Channel], jets: Sequence[Jet], solution: Solution) -> Residuals:
    """What a network that is zero leaves of every condition, from jets (of any network) at the channels' points."""
    return compare(channels, [Jet(jnp.zeros_like(jet.stack), jet.orders) for jet in jets], solution)


def at_most_their_size(nothing: Float[Array, " channels"], channels: Sequence[Channel]) -> Float[Array, " channels"]:
    """What u = 0 leaves, but no more than the size of a condition's terms, which is 1 once they are dimensionless: the values
    of a network that was trained elsewhere may be far from zero (kelvin) and vary little."""
    return jnp.minimum(nothing, jnp.asarray([jnp.inf if channel.size is None else 1.0 for channel in channels]))


def _roots(rows: Sequence[Array]) -> Float[Array, " channels"]:
    return jnp.stack([jnp.sqrt(jnp.mean(row**2)) for row in rows])
