"""A network with sums of random units added to it, at the points of some conditions.

What the units are there, with all derivatives that the conditions ask for, never changes while their coefficients are looked
for: it is computed once. Residuals for other coefficients then cost one product with a matrix, and their Jacobian not much more
than it takes to write it down.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..derivatives.jet import PRECISION, Jet, Value, lower_closure, positive
from ..derivatives.lifted import gate_of
from ..derivatives.memory import in_chunks
from ..derivatives.network import Solution
from ..derivatives.random_units import RandomUnits
from ..problem.channel import IN_VAIN, Channel, compare, push

TOGETHER = 32  # columns of a Jacobian that are computed at once


class Sums(eqx.Module):
    """The whitened residuals of a solution plus sums of random units, as a function of their coefficients."""

    channels: tuple[Channel, ...]
    solution: Solution
    before: list[Jet]  # what the network says at the points of every pass,
    gates: list[Jet] | None  # what is added to it is multiplied by, if values are given by construction,
    units: list[Float[Array, "units _ _"]]  # and what the units are

    @classmethod
    def of(cls, channels: tuple[Channel, ...], solution: Solution, units: RandomUnits) -> "Sums":
        network = solution.network
        before, found = push(channels, network), push(channels, lambda x: units.values(network, x))
        gates = push(channels, lambda x: gate_of(network, x))
        has_gates = all(gate is not None for gate in gates)
        return cls(channels, solution, before, gates if has_gates else None, [jnp.moveaxis(jet.stack, -1, 0) for jet in found])

    def rows(self, coefficients: Float[Array, " p"]) -> Float[Array, " m"]:
        """The whitened residuals of all channels, with so much of each unit in each field (fields by units, as one vector)."""
        return self._rows(self._added(coefficients))

    def jacobian(self, coefficients: Float[Array, " p"]) -> Float[Array, "m p"]:
        """Their derivatives: what is added is linear in the coefficients, so that only conditions need be linearised."""
        _, forward = jax.linearize(self._rows, self._added(coefficients))

        def of_unit(unit: list[Float[Array, "_ _"]]) -> Float[Array, "fields m"]:
            fields = jnp.eye(self._fields)[:, :, None, None]
            found: Array = jax.vmap(forward)([values * fields for values in unit])
            return found

        columns: Array = jax.lax.map(of_unit, self.units, batch_size=TOGETHER)
        return jnp.moveaxis(columns, 0, 1).reshape(-1, columns.shape[-1]).T

    @property
    def _fields(self) -> int:
        return int(self.before[0].stack.shape[-1])

    def _added(self, coefficients: Float[Array, " p"]) -> list[Float[Array, "fields _ _"]]:
        outer = coefficients.reshape(self._fields, -1)
        return [
            jnp.matmul(outer, unit.reshape(len(unit), -1), precision=PRECISION).reshape(-1, *unit.shape[1:])
            for unit in self.units
        ]

    def _rows(self, added: list[Float[Array, "fields _ _"]]) -> Float[Array, " m"]:
        jets = []
        for i, (before, values) in enumerate(zip(self.before, added, strict=True)):
            sums = Jet(jnp.moveaxis(values, 0, -1), before.orders)
            jets.append(before + (sums if self.gates is None else self.gates[i] * sums))
        found = compare(self.channels, jets, self.solution)
        return jnp.concatenate([c.whitened(row).ravel() for c, row in zip(self.channels, found, strict=True)])


class Probes(eqx.Module):
    """How large something is: root mean squares over some points, by field, in the units of the network."""

    solution: Solution
    before: Float[Array, "n fields"]
    gates: Float[Array, "n fields"] | None
    units: Float[Array, "n units"]

    @classmethod
    def of(cls, solution: Solution, units: RandomUnits, points: Float[Array, "n d"]) -> "Probes":
        network = solution.network

        def at(function: Any) -> Any:
            return in_chunks(jax.vmap(function), points)

        gates = at(lambda x: gate_of(network, x))
        return cls(solution, at(network), gates, at(lambda x: units.values(network, x)))

    def size(self, coefficients: Float[Array, " p"]) -> Float[Array, " fields"]:
        """Of what is added."""
        nothing = jnp.asarray(positive(self.before, self.solution.positive_fields))
        return jnp.sqrt(jnp.mean((self._fields(coefficients) - nothing) ** 2, axis=0))

    def extent(self, coefficients: Float[Array, " p"]) -> Float[Array, " fields"]:
        """Of the fields with it."""
        return jnp.sqrt(jnp.mean(self._fields(coefficients) ** 2, axis=0))

    def _fields(self, coefficients: Float[Array, " p"]) -> Float[Array, "n fields"]:
        added = jnp.matmul(self.units, coefficients.reshape(self.before.shape[-1], -1).T, precision=PRECISION)
        after: Value = self.before + (added if self.gates is None else self.gates * added)
        return jnp.asarray(positive(after, self.solution.positive_fields))


def numbers_kept(channels: Sequence[Channel], points: Sequence[int]) -> int:
    """How many numbers `Sums` keeps for every unit, at most, if the channels have so many points."""
    orders, kept = len(lower_closure(order for channel in channels for order in channel.operator.orders)), 0
    for channel, number in zip(channels, points, strict=True):
        places = (
            channel.over.places.size // channel.points.size if channel.over is not None else 1 + (channel.partner is not None)
        )
        own = len(channel.operator.orders)
        kept += number * places * own + min(number * places * (orders - own), IN_VAIN)
    return kept
