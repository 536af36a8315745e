"""Measurements of averages: over a stretch of time, as of a slow instrument, a line of sight, an area."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import InputError, shown, unknown_name
from .checks import as_numbers, own_points
from .region import Domain

FEWEST, MOST = 4, 32  # places along a window: the fewest for a short one, the most for one as long as the domain


class Average(eqx.Module):
    """Places around each point, and the share of each in the mean there."""

    places: Float[Array, "*seeds n q d"]
    shares: Float[Array, "*seeds n q"]

    @property
    def points(self) -> Float[Array, "m d"]:
        """All places, those of one point after those of another."""
        return self.places.reshape(-1, self.places.shape[-1])

    def each(self, values: Float[Array, " n"]) -> Float[Array, " m"]:
        """Values at the points, for each of their places."""
        return jnp.repeat(values, self.shares.shape[-1])

    def mean(self, values: Float[Array, "m k"]) -> Float[Array, "n k"]:
        """The mean over the places of each point."""
        apart = values.reshape(*self.shares.shape, -1)
        return jnp.sum(apart * self.shares[..., None], axis=-2)


def windows(points: Float[Array, "n d"], over: Any, label: str, domain: Domain, lines: np.ndarray | None = None) -> Average:
    """The average over a window around each point, by Gauss-Legendre quadrature.

    `over` has, by coordinate, the width of the window around the point, or where it begins and ends beside the point.
    """
    ends = _ends(over, label, domain)
    low, high = (np.asarray([ends.get(name, (0.0, 0.0))[i] for name in domain.coordinates]) for i in (0, 1))
    for end in (low, high):
        own_points(np.asarray(points) + end, f"windows of {label}", domain, lines)
    rules = [_rule(*ends[name], length) if name in ends else ((0.0, 1.0),) for name, length in _lengths(domain).items()]
    combined = list(itertools.product(*rules))
    steps = np.asarray([[step for step, _ in nodes] for nodes in combined])
    shares = np.asarray([math.prod(share for _, share in nodes) for nodes in combined])
    return Average(jnp.asarray(points[:, None] + steps), jnp.broadcast_to(jnp.asarray(shares), (len(points), len(shares))))


def _lengths(domain: Domain) -> dict[str, float]:
    return {name: high - low for name, low, high in zip(domain.coordinates, domain.lower, domain.upper, strict=True)}


def _ends(over: Any, label: str, domain: Domain) -> dict[str, tuple[float, float]]:
    """Where windows begin and end beside their points, checked."""
    if not isinstance(over, Mapping) or not over:
        raise InputError(f"over= of {label} has a width by coordinate, {{'t': 5.0}} say; not {shown(over)}.")
    found = {}
    for name, width in over.items():
        if name not in domain.coordinates:
            raise unknown_name("coordinate", str(name), domain.coordinates)
        try:
            pair = as_numbers((-0.5 * width, 0.5 * width) if np.ndim(width) == 0 else width, "a window")
        except (TypeError, ValueError, OverflowError):
            pair = np.zeros(0)
        if pair.shape != (2,) or not np.all(np.isfinite(pair)) or not pair[0] < pair[1]:
            raise InputError(
                f"over= of {label} along {name} is a positive width, or where the window begins and ends beside the point, "
                f"(-5.0, 0.0) say; not {shown(width)}."
            )
        found[name] = (float(pair[0]), float(pair[1]))
    return found


def _rule(low: float, high: float, length: float) -> tuple[tuple[float, float], ...]:
    """The places of a quadrature between two ends, and their shares in the mean."""
    number = math.ceil(np.clip(MOST * (high - low) / length, FEWEST, MOST))
    places, weights = np.polynomial.legendre.leggauss(number)
    return tuple(zip(((low + high) / 2 + places * (high - low) / 2).tolist(), (weights / 2).tolist(), strict=True))
