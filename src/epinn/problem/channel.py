"""The one row type: an operator applied to the fields at some points, compared with targets, known to some precision.

The optimiser's loss (weight times mean square) and the Bayesian log-likelihood (-1/2 sum r^2/sigma^2) are two readings
of the same residuals, so every method works on every problem.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.jet import Jet, MultiIndex, lower_closure
from ..derivatives.memory import in_chunks
from ..derivatives.network import Solution
from ..derivatives.operator import Operator
from ..derivatives.units import Units
from .average import Average
from .precision import KnownNoise, Precision, UnknownNoise
from .student import curvature, root, weight

Kind = Literal["equation", "boundary", "initial", "data", "constraint"]

FEW = 16  # points of a condition, of which none can be spared
IN_VAIN = 4096  # derivatives that nobody asked for and that still cost less than another pass through the network


class Channel(eqx.Module):
    """Residuals of one condition.

    `partner` points turn the residual into a difference (periodic sides); `centred` subtracts the mean over the points
    (a field that should be constant, its mean square then the variance); `over` is an average around each point instead of the
    value there; `sampled` points may be drawn anew in training.
    A channel that is `inside` some units has points of the network, and residuals, targets and sigma in parts of `size`.
    """

    name: str = eqx.field(static=True)
    kind: Kind = eqx.field(static=True)
    operator: Operator
    points: Float[Array, "*seeds n d"]
    target: Float[Array, "*seeds n k"]
    precision: Precision
    given: Mapping[str, Float[Array, "*seeds n"]] = eqx.field(default_factory=dict)
    partner: Float[Array, "*seeds n d"] | None = None
    over: Average | None = None
    centred: bool = eqx.field(static=True, default=False)
    weight: float | None = eqx.field(static=True, default=None)
    sampled: bool = eqx.field(static=True, default=False)
    target_moves: bool = eqx.field(static=True, default=False)  # the target is a function of the coordinates
    linear: bool = eqx.field(static=True, default=False)  # so that an offset of the fields can be taken off the targets
    size: Float[Array, "*seeds n k"] | None = None  # of the residuals in the user's units, once they are dimensionless

    def at(self, places: Any) -> "Channel":
        """This channel at some of its points, by their places; sigma stays."""
        parts = {name: getattr(self, name) for name in ("points", "target", "given", "partner", "over", "size")}
        return dataclasses.replace(self, **jax.tree.map(lambda leaf: leaf[places], parts))

    def moved_to(self, other: "Channel") -> "Channel":
        """This channel at the points of another, with everything else its own."""
        target = other.target if self.target_moves else self.target
        return dataclasses.replace(
            self, points=other.points, partner=other.partner, over=other.over, given=other.given, target=target
        )

    def inside(self, units: Units, size: Float[Array, "..."]) -> "Channel":
        """This channel made dimensionless: points of the network, residuals in parts of `size` (k or n, k)."""
        size = jnp.broadcast_to(size, self.target.shape)
        target = self.target
        if self.linear and self.partner is None:  # a difference has no offset
            operator: Any = self.operator.function  # one of those in `operators.py`
            offset = units.offset[self.operator.names.fields.index(operator.field)]
            target = target - jnp.stack(operator.of_constant(offset))
        settled = self.precision.is_settled and not isinstance(self.precision, UnknownNoise)
        return dataclasses.replace(
            self,
            points=units.inside(self.points),
            partner=None if self.partner is None else units.inside(self.partner),
            over=None if self.over is None else Average(units.inside(self.over.places), self.over.shares),
            target=target / size,
            precision=self.precision.with_sigma(self.sigma / size[: len(self.sigma), 0]) if settled else self.precision,
            size=size,
        )

    @property
    def sigma_outside(self) -> Float[Array, "*seeds #n"]:
        """Sigma in the user's units."""
        return self.sigma if self.size is None else self.sigma * self.size[..., : self.sigma.shape[-1], 0]

    def with_sigma_outside(self, sigma: float) -> "Channel":
        """This channel with a sigma that is given in the user's units."""
        return self.with_sigma(sigma if self.size is None else sigma / self.size[..., : self.sigma.shape[-1], 0])

    def disturbed(self, sigma: float, key: PRNGKeyArray) -> "Channel":
        """This channel with known noise on its targets, on top of what they had if that is known too; the tails stay heavy."""
        noise = sigma * jax.random.normal(key, self.target.shape, self.target.dtype)
        before = self.sigma if isinstance(self.precision, KnownNoise) else 0.0
        known = KnownNoise(jnp.sqrt(jnp.full_like(self.sigma, sigma) ** 2 + before**2), self.precision.freedom)
        return dataclasses.replace(self, target=self.target + noise, precision=known, target_moves=False)

    def perturbed(self, key: PRNGKeyArray) -> "Channel":
        """This channel as it might have come out in a repetition: noise of its own size on its targets."""
        shape, dtype, freedom = self.target.shape, self.target.dtype, self.precision.freedom
        gaussian = self.precision.is_gaussian
        drawn = jax.random.normal(key, shape, dtype) if gaussian else jax.random.t(key, freedom, shape, dtype)
        target = self.target + self.sigma[:, None] * drawn
        return dataclasses.replace(self, target=target, precision=self.precision.settled(), target_moves=False)

    def gaussian_at(self, residual: Float[Array, "n k"]) -> "Channel":
        """The channel with Gaussian noise that says the same around a residual: its log-likelihood has the same slope there,
        and as much curvature as the reading has information."""
        if self.precision.is_gaussian:
            return self
        z, freedom = residual * self.whitening[:, None], self.precision.freedom
        known = jnp.min(curvature(z, freedom), axis=1)  # components of one reading have one sigma: the least informed decides
        moved = self.target + (1 - weight(z, freedom) / known[:, None]) * residual
        return dataclasses.replace(self, target=moved, precision=KnownNoise(self.sigma / jnp.sqrt(known)), target_moves=False)

    @property
    def sigma(self) -> Float[Array, "*seeds #n"]:
        """The scale that a likelihood takes."""
        return self.precision.sigma

    def with_sigma(self, sigma: Float[Array, "..."] | float) -> "Channel":
        """This channel with another sigma, known as well or as little as before."""
        return dataclasses.replace(self, precision=self.precision.with_sigma(sigma))

    def settled(self) -> "Channel":
        """This channel with its sigma used as it is, not estimated anew."""
        return dataclasses.replace(self, precision=self.precision.settled())

    @property
    def all_points(self) -> Float[Array, "m d"]:
        """The points where the fields are needed, partners last."""
        if self.over is not None:
            return self.over.points
        return self.points if self.partner is None else jnp.concatenate([self.points, self.partner])

    @property
    def whitening(self) -> Float[Array, " n"]:
        """What makes a residual one in units of its noise: 1 / sigma. Loss weights have no part in it."""
        return jnp.broadcast_to(1 / self.sigma, self.points.shape[:1])

    def whitened(self, residual: Float[Array, "... n k"]) -> Float[Array, "... n k"]:
        """Residuals whose squares are -2 log likelihood, up to a constant."""
        return root(residual * self.whitening[:, None], self.precision.freedom)

    def apart(self) -> "Channel":
        """One channel for each point, stacked: what `vmap` needs to look at the points one by one."""
        alone = dataclasses.replace(self, precision=self.precision.per_point(len(self.points)))
        alone = dataclasses.replace(alone, centred=False)
        stacked: Channel = jax.tree.map(lambda leaf: leaf[:, None] if eqx.is_array(leaf) else leaf, alone)
        return stacked

    def residual(self, jets: Jet, solution: Solution) -> Float[Array, "n k"]:
        """The residuals, from what the network of a solution says at `all_points`."""
        apply = jax.vmap(self.operator, in_axes=(0, 0, None, 0))
        fields, unknowns = solution.fields(jets, offset=not self.linear), solution.unknowns
        if self.over is not None:
            given = {name: self.over.each(values) for name, values in self.given.items()}
            value = self.over.mean(apply(fields, solution.outside(self.over.points), unknowns, given))
        else:
            here, there = jnp.split(fields.stack, [len(self.points)])
            value = apply(Jet(here, jets.orders), solution.outside(self.points), unknowns, self.given)
            if self.partner is not None:
                value = value - apply(Jet(there, jets.orders), solution.outside(self.partner), unknowns, self.given)
        residual = (value if self.size is None else value / self.size) - self.target
        return residual - jnp.mean(residual, axis=0) if self.centred else residual


def thinned(channels: Sequence[Channel], rows: int) -> tuple[Channel, ...]:
    """Channels at fewer points, chosen at random, where they have more rows in all than can be looked at together. Points that
    somebody measured at stay, and so do a few: the ends of an interval are two conditions, of which either is needed."""
    kept = sum(channel.target.size for channel in channels if not _can_be_thinned(channel))
    share = (rows - kept) / max(sum(channel.target.size for channel in channels) - kept, 1)
    if share >= 1:
        return tuple(channels)
    random = np.random.default_rng(0)

    def fewer(channel: Channel) -> Channel:
        n = len(channel.points)
        return channel.at(np.sort(random.permutation(n)[: max(FEW, int(share * n))]))

    return tuple(fewer(channel) if _can_be_thinned(channel) else channel for channel in channels)


def _can_be_thinned(channel: Channel) -> bool:
    return channel.sampled and len(channel.points) > FEW


class Pass(eqx.Module):
    """Channels whose points go through a network together, with all derivatives that any of them asks for."""

    channels: tuple[int, ...] = eqx.field(static=True)
    orders: tuple[MultiIndex, ...] = eqx.field(static=True)
    points: Float[Array, "m d"]

    @classmethod
    def of(cls, channels: Sequence[Channel], chosen: Sequence[int]) -> "Pass":
        """The pass of those channels whose places are in `chosen`."""
        orders = lower_closure(order for i in chosen for order in channels[i].operator.orders)
        return cls(tuple(chosen), orders, jnp.concatenate([channels[i].all_points for i in chosen]))


def passes(channels: Sequence[Channel]) -> list[Pass]:
    """One pass for all channels, but for those with so many points that derivatives in vain would cost more than a pass."""
    orders = lower_closure(order for channel in channels for order in channel.operator.orders)
    in_vain = [len(c.all_points) * (len(orders) - len(c.operator.orders)) for c in channels]
    shared = [i for i, number in enumerate(in_vain) if number <= IN_VAIN]
    alone = [[i] for i, number in enumerate(in_vain) if number > IN_VAIN]
    return [Pass.of(channels, chosen) for chosen in ([shared] if shared else []) + alone]


def push(channels: Sequence[Channel], function: Callable[[Jet], Any]) -> list[Any]:
    """A function of jets, at the points of every pass."""

    def at(one: Pass) -> Any:
        return in_chunks(lambda x: function(Jet.variable(x, one.orders)), one.points)

    return [at(one) for one in passes(channels)]


def compare(channels: Sequence[Channel], jets: Sequence[Jet], solution: Solution) -> list[Float[Array, "n k"]]:
    """What is left of every condition, from the jets that `push` gave; units and unknowns are those of the solution."""
    rows: dict[int, Array] = {}
    for one, jet in zip(passes(channels), jets, strict=True):
        ends = np.cumsum([len(channels[i].all_points) for i in one.channels])
        for i, part in zip(one.channels, jnp.split(jet.stack, ends[:-1]), strict=True):
            rows[i] = channels[i].residual(Jet(part, jet.orders), solution)
    return [rows[i] for i in range(len(channels))]


def residuals(channels: Sequence[Channel], solution: Solution) -> list[Float[Array, "n k"]]:
    """What is left of every condition."""
    return compare(channels, push(channels, solution.network), solution)


def mean_square(residual: Float[Array, "... n k"]) -> Float[Array, ""]:
    """The optimiser's reading: the squared residual of a point, averaged over points."""
    return jnp.mean(jnp.sum(residual**2, axis=-1))


def log_likelihood(
    channels: Sequence[Channel], rows: Sequence[Array], log_sigma: Mapping[str, Array] | None = None
) -> Float[Array, ""]:
    """The Bayesian reading; `log_sigma` has the channels whose noise is itself unknown."""
    total = jnp.zeros(())
    for channel, row in zip(channels, rows, strict=True):
        if log_sigma and channel.name in log_sigma:
            informed = channel.with_sigma(jnp.exp(log_sigma[channel.name]))
            total += -0.5 * jnp.sum(informed.whitened(row) ** 2) - row.size * log_sigma[channel.name]
        else:
            total += -0.5 * jnp.sum(channel.whitened(row) ** 2)
    return total


def describe_noise(channels: Sequence[Channel], weights: Sequence[float] | None = None) -> list[dict[str, Any]]:
    """What each channel's sigma is, where it came from, and what was used: the sigma, or a loss weight if there are any."""
    return [
        {
            "channel": channel.name,
            "rows": int(channel.target.size),
            "noise": channel.precision.label,
            "sigma": float(np.median(channel.sigma_outside)),
            "origin": channel.precision.origin,
            "used": "sigma" if weights is None else f"loss weight {weights[i]:g}",
        }
        for i, channel in enumerate(channels)
    ]
