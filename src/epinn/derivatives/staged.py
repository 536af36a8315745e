"""Networks in stages: a second one is added to what a first one gives, far smaller than it, and then perhaps a third."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .jet import Value
from .lifted import Lifted
from .network import AbstractNetwork, Around
from .random_units import RandomUnits, combined

ROUNDED = 3e-7  # of the size of a field: given values and units are in single precision, which no residual shows


class Stage(eqx.Module):
    """Sums of random units on the features of a network as it was when they were fitted.

    Their coefficients cancel each other to many digits, so they are kept as two numbers in single precision each, a large one
    and what that rounds off: all that handles arrays in single precision may handle them, and nothing is lost.
    """

    network: AbstractNetwork
    units: RandomUnits
    large: Float[Array, "*seeds fields units"]
    small: Float[Array, "*seeds fields units"]
    left: Float[Array, "*seeds"]  # of the residuals before it: the share
    remains: Float[Array, "*seeds fields"]  # of the error, as a root mean square over the domain
    alone: bool = eqx.field(static=True, default=False)  # whether the network before it was never trained: it says all there is

    @classmethod
    def of(
        cls,
        network: AbstractNetwork,
        units: RandomUnits,
        outer: np.ndarray,
        left: float,
        remains: np.ndarray,
        extent: np.ndarray,
        *,
        alone: bool = False,
    ) -> "Stage":
        """From coefficients in double precision; `extent` is how large the fields are, in parts of their scales."""
        large = np.asarray(outer, np.float32)
        parts = (large, outer - large, left, remains + ROUNDED * np.minimum(extent, 1.0))
        weights, biases, *others = (jnp.asarray(np.asarray(part, np.float32)) for part in (units.weights, units.biases, *parts))
        return cls(network, RandomUnits(weights, biases, units.local), others[0], others[1], others[2], others[3], alone)

    def __call__(self, x: Value) -> Value:
        return combined(self.network, self.units, self.large + self.small, x)


class Staged(Around):
    """A network and what was added to it, which is frozen: it stays the same function if the parameters of the network move."""

    is_fine: ClassVar[bool] = True

    network: AbstractNetwork
    stage: Any  # nothing in a tree of parameters alone

    @property
    def inner(self) -> AbstractNetwork:
        return self.network

    def __call__(self, x: Value) -> Value:
        value: Value = self.network(x) + self.stage.content(x)
        return value


def first_stage(network: AbstractNetwork) -> AbstractNetwork:
    """A network without what was added to it."""
    if isinstance(network, Lifted):
        return dataclasses.replace(network, network=first_stage(network.network))
    return first_stage(network.network) if isinstance(network, Staged) else network


def last_stage(network: AbstractNetwork) -> Stage | None:
    """The last stage that was added to a network, inside what gives its values; None where there is none."""
    inner = network.network if isinstance(network, Lifted) else network
    return inner.stage.content if isinstance(inner, Staged) else None


def is_untrained(network: AbstractNetwork) -> bool:
    """Whether the first of all stages has the weights that it began with."""
    if isinstance(network, Lifted):
        return is_untrained(network.network)
    return isinstance(network, Staged) and (bool(network.stage.content.alone) or is_untrained(network.network))
