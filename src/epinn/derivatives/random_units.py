"""A layer of random units on top of what the last layer of a network sees, and of the coordinates (sine and cosine of those
along which it repeats itself, so that its sums do too, and directions from corners).

A sum of such units is a function that is as fine as the network where that is fine (around a shock), and linear in its
coefficients, however many parameters the network has. The error of a network is looked for among these functions, and they
take the place of its own parameters where these are too many.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .activation import ACTIVATIONS
from .jet import Jet, Value, activate, affine, join
from .lifted import gate_of
from .network import AbstractNetwork

UNKNOWNS = 1536  # coefficients of all fields together
FLATTEST, STEEPEST = 0.1, 1.0  # units, by how much they bend over the domain
ALONE = 10.0  # the steepest where a network shows no features, and the coordinates alone must do


class RandomUnits(eqx.Module):
    """The weights of such units. Drawn by numpy: a generator inside compiled code would be most of its compilation."""

    weights: Float[Array, "... units inputs"]
    biases: Float[Array, "... units"]
    local: bool = eqx.field(static=True, default=False)  # whether each sees the coordinates of its own piece of the network

    @classmethod
    def drawn(cls, network: AbstractNetwork, dimension: int, unknowns: int, key: PRNGKeyArray) -> "RandomUnits":
        """So many units for all fields of a network together, for inputs of mean zero and variance one."""
        features, fields, places = (
            jax.eval_shape(function, jnp.zeros(dimension)).shape[-1] for function in (network.features, network, network.places)
        )
        random = np.random.default_rng(np.asarray(jax.random.key_data(key)).ravel())
        units = unknowns // fields
        steep = FLATTEST * ((STEEPEST if features else ALONE) / FLATTEST) ** random.uniform(size=(units, 1))
        weights = steep * random.normal(size=(units, features + places))
        return cls(jnp.asarray(weights), jnp.asarray(steep[:, 0] * random.normal(size=units)))

    def around(self, network: AbstractNetwork, points: Float[Array, "n d"]) -> "RandomUnits":
        """The same for what a network shows at some points: features and coordinates enter in units of how much they vary, and
        with equal shares."""
        features = jnp.asarray(jax.vmap(network.features)(points))
        places = jnp.asarray(jax.vmap(network.places)(points))
        seen = jnp.concatenate([features, places], axis=1)
        inside = jax.vmap(network.pieces)(points)
        total = jnp.maximum(jnp.sum(inside, axis=0), 1.0)[:, None]
        mean = inside.T @ seen / total
        spread = jnp.sqrt(inside.T @ (seen - inside @ mean) ** 2 / total)
        moving = spread > 1e-6 * jnp.max(jnp.abs(seen), axis=0)
        share = jnp.concatenate([jnp.full(n, 1 / np.sqrt(max(n, 1))) for n in (features.shape[-1], places.shape[-1])])
        own = _owners(len(self.biases), inside.shape[-1])
        weights = self.weights * jnp.where(moving, share / jnp.where(moving, spread, 1.0), 0.0)[own]
        return RandomUnits(weights, self.biases - jnp.sum(weights * mean[own], axis=1))

    def values(self, network: AbstractNetwork, x: Value) -> Value:
        """What the units on top of a network are at a point."""
        seen = join([network.features(x), network.places(x, local=self.local)])
        found = activate(ACTIVATIONS["tanh"], affine(self.weights, self.biases, seen))
        inside = network.pieces(x)
        if inside.shape[-1] == 1:
            return found
        here = inside[..., _owners(len(self.biases), inside.shape[-1])]
        return Jet(found.stack * here[..., None, :], found.orders) if isinstance(found, Jet) else found * here


def _owners(units: int, pieces: int) -> np.ndarray:
    """The piece that each unit belongs to: a network in windows, or zones, has units of its own in each of them."""
    return np.arange(units) * pieces // units


def combined(network: AbstractNetwork, units: RandomUnits, outer: Float[Array, "fields units"], x: Value) -> Value:
    """Sums of the units of a network, one for each field; zero wherever the network has given values."""
    found, gate = affine(outer, None, units.values(network, x)), gate_of(network, x)
    return found if gate is None else gate * found
