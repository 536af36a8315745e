"""Random units in the place of a network's own parameters, where these are too many for a matrix."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..derivatives.jet import Value
from ..derivatives.lifted import Lifted
from ..derivatives.network import AbstractNetwork, Around, Frozen, Solution
from ..derivatives.random_units import UNKNOWNS, RandomUnits, combined
from ..solve.seeds import Keys, over_seeds, stack, unstack

WIDTH = 3.0  # of the prior on a sum of units, in the units of the network: as wide as that of a network is, in effect


class Beside(Around):
    """A frozen network plus sums of random units, whose coefficients are the only parameters: zero at first, and of order one
    where the sums are as large as a prior on all weights of a network would make them."""

    network: Any  # frozen, as all but the coefficients, and nothing in a tree of parameters alone
    weights: Any
    biases: Any
    unit: Any  # of the coefficients
    outer: Float[Array, "... fields units"]

    @property
    def inner(self) -> AbstractNetwork:
        found: AbstractNetwork = self.network.content
        return found

    def __call__(self, x: Value) -> Value:
        network, units = self.network.content, RandomUnits(self.weights.content, self.biases.content)
        value: Value = network(x) + combined(network, units, self.outer * self.unit.content, x)
        return value


def beside(solutions: Sequence[Solution], points: Sequence[Float[Array, "n d"]], keys: Keys) -> list[Solution]:
    """Solutions in which the coefficients of random units take the place of the parameters of the networks; `points` are some
    of each domain, in the units of the network."""
    dimension = points[0].shape[-1]
    drawn = [RandomUnits.drawn(one.network, dimension, UNKNOWNS, key) for one, key in zip(solutions, keys, strict=True)]
    return unstack(_beside(stack(solutions), stack(points), stack(drawn)), len(solutions))


@eqx.filter_jit
def _beside(solutions: Solution, points: Float[Array, "seeds n d"], units: RandomUnits) -> Solution:
    def one(solution: Solution, points: Float[Array, "n d"], units: RandomUnits) -> Solution:
        whole = solution.network
        network = whole.network if isinstance(whole, Lifted) else whole  # given values stay outside of it
        layer, fields = units.around(network, points), jax.eval_shape(network, points[0]).shape[-1]
        squares = jnp.mean(jnp.asarray(jax.vmap(lambda x: layer.values(network, x))(points)) ** 2, axis=0)
        unit, outer = WIDTH / jnp.sqrt(jnp.sum(squares)), jnp.zeros((fields, len(layer.biases)))
        found: AbstractNetwork = Beside(Frozen(network), Frozen(layer.weights), Frozen(layer.biases), Frozen(unit), outer)
        found = dataclasses.replace(whole, network=found) if isinstance(whole, Lifted) else found
        return dataclasses.replace(solution, network=found)

    return over_seeds(one, solutions, points, units)
