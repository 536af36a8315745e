"""The error of a network itself, as a part of its band (see `error_equation`)."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.jet import Value
from ..derivatives.network import AbstractNetwork, Around, Frozen, trainable
from ..derivatives.random_units import RandomUnits, combined
from ..derivatives.staged import Stage, last_stage
from ..solve.double import cast_like
from ..solve.error_equation import Estimate, can_be_estimated, estimates, probes_of
from ..solve.pinn import Pinn
from ..solve.seeds import Keys, unstack

SURE = 0.2  # of the residuals, if an estimate of the error leaves no more than that, a band may become narrower by it


class Corrected(Around):
    """A network plus `amplitude` times an estimate of its error, which is zero wherever the network has given values."""

    network: AbstractNetwork
    weights: Any  # of the random units, frozen, and nothing in a tree of parameters alone
    biases: Any
    outer: Any  # the coefficients, fields by units
    amplitude: Float[Array, "..."]

    @property
    def inner(self) -> AbstractNetwork:
        return self.network

    def __call__(self, x: Value) -> Value:
        return self.network(x) + self.error(x) * self.amplitude

    def error(self, x: Value) -> Value:
        """The estimate, in the units of the network. It is one function for all draws: parameters that move do not move it."""
        parameters, rest = trainable(self.network)
        network: AbstractNetwork = eqx.combine(jax.lax.stop_gradient(parameters), rest)
        return combined(network, RandomUnits(self.weights.content, self.biases.content), self.outer.content, x)


class Extent(eqx.Module):
    """How large the error of a network is, and how far that is to be believed."""

    size: Float[Array, "*seeds fields"]  # root mean squares at the probes, in the units of the network; what was not found of
    # it is a part of that, as large as the equation makes what is left of the residuals
    left: Float[Array, "*seeds"]  # of the residuals at points that the estimate, or the last stage, has not seen: the share
    probes: Float[Array, "*seeds n d"]

    def factor(self, spread: Float[Array, " fields"]) -> Float[Array, ""]:
        """What makes the spread of draws at the probes as large as the error, of the field that needs most; of one seed."""
        times = jnp.max(jnp.where(spread > 0, self.size / jnp.where(spread > 0, spread, 1.0), 0.0))
        return jnp.where(self.left < SURE, times, jnp.maximum(times, 1.0))


class OwnError(eqx.Module):
    """What is known of the error of a network."""

    network: Corrected  # with amplitude zero: it says what it said before
    extent: Extent

    @property
    def diagnostics(self) -> dict[str, float]:
        """For whoever judges the band."""
        stage = last_stage(self.network.network)
        staged = {} if stage is None else {"stage_left": float(stage.left)}
        return {"own_error_left": float(self.extent.left), **staged}


def own_errors(pinns: Sequence[Pinn], keys: Keys) -> list[OwnError] | None:
    """One for each PINN; None where it cannot be estimated."""
    stages = [last_stage(pinn.solution.network) for pinn in pinns]
    if all(stage is not None for stage in stages):  # what they have left is known
        return [_of_stage(pinn, stage) for pinn, stage in zip(pinns, stages, strict=True) if stage is not None]
    if not can_be_estimated(pinns):
        return None
    found = estimates(pinns, keys)
    dtype = jax.tree.leaves(trainable(pinns[0].solution)[0])[0].dtype  # a network trained elsewhere may be in double precision
    like = jax.tree.map(lambda leaf: jnp.zeros((), dtype) if np.issubdtype(leaf.dtype, np.floating) else leaf, found)
    each = zip(pinns, unstack(cast_like(found, like), len(pinns)), strict=True)
    return [_own_error(pinn, estimate) for pinn, estimate in each]


def _own_error(pinn: Pinn, found: Estimate) -> OwnError:
    corrected = _corrected(pinn, found.units, found.outer, found.left.dtype)
    return OwnError(corrected, Extent(jnp.hypot(found.size, found.remains), found.left, found.probes))


def _of_stage(pinn: Pinn, stage: Stage) -> OwnError:
    """How large the error still is after a stage. Where, and in which direction, nobody knows: what units can say of it has
    been said."""
    units = RandomUnits(stage.units.weights[:1], stage.units.biases[:1])
    corrected = _corrected(pinn, units, jnp.zeros_like(stage.large[:, :1]), stage.large.dtype)
    return OwnError(corrected, Extent(stage.remains, stage.left, probes_of(pinn)))


def _corrected(pinn: Pinn, units: RandomUnits, outer: Float[Array, "fields units"], dtype: Any) -> Corrected:
    weights, biases, frozen = (Frozen(part) for part in (units.weights, units.biases, outer))
    return Corrected(pinn.solution.network, weights, biases, frozen, amplitude=jnp.zeros((), dtype))
