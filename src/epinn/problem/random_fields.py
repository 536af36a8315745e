"""Random smooth fields, and what they leave of the conditions of a problem: how large its terms are before it is solved."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.activation import cos
from ..derivatives.compiled import runs_once
from ..derivatives.jet import Value, activate, affine
from ..derivatives.network import AbstractNetwork, Solution, nothing
from .channel import Channel, residuals

DRAWS = 16  # random fields, of which the median counts
WAVES = 8  # in each


class Waves(AbstractNetwork):
    """Random smooth fields of unit size: a few plane waves, half a period long in the box on average."""

    amplitudes: Float[Array, "f m"]
    frequencies: Float[Array, "m d"]
    phases: Float[Array, " m"]

    @classmethod
    def draw(cls, fields: int, dimension: int, seed: int) -> "Waves":
        random = np.random.default_rng(seed)
        return cls(
            jnp.asarray(random.normal(size=(fields, WAVES)) * np.sqrt(2 / WAVES)),
            jnp.asarray(random.normal(size=(WAVES, dimension)) * np.pi / 2),
            jnp.asarray(random.uniform(0, 2 * np.pi, WAVES)),
        )

    def features(self, x: Value) -> Value:
        return nothing(x)

    def __call__(self, x: Value) -> Value:
        return affine(self.amplitudes, None, activate(cos, affine(self.frequencies, self.phases, x)))


def draws(fields: int, dimension: int) -> Waves:
    """Several random fields, stacked."""
    made = (Waves.draw(fields, dimension, seed) for seed in range(DRAWS))
    stacked: Waves = jax.tree.map(lambda *leaves: jnp.stack(leaves), *made)
    return stacked


@runs_once
def responses(
    channels: tuple[Channel, ...], solutions: Solution, scales: Float[Array, "s f"]
) -> tuple[Float[Array, " rows"], Float[Array, "s rows"]]:
    """What is left of the conditions, and how much that changes with each of the scales; rows of all conditions in a row."""
    before = _over_draws(channels, solutions)

    def changes(scale: Float[Array, " f"]) -> Float[Array, " rows"]:
        moved = eqx.tree_at(lambda s: s.frozen_units.content.scale, solutions, scale)
        after = _over_draws(channels, moved)
        return jnp.concatenate([_typical(a - b) for a, b in zip(after, before, strict=True)])

    return jnp.concatenate([_typical(rows) for rows in before]), jax.lax.map(changes, scales)


@runs_once
def sensitivities(
    channels: tuple[Channel, ...], solutions: Solution, names: tuple[str, ...]
) -> dict[str, list[Float[Array, " k"]]]:
    """How much a unit change of each unknown changes what is left of every condition."""

    def left(raw: dict[str, Array]) -> list[Array]:
        return _over_draws(channels, eqx.tree_at(lambda s: s.raw, solutions, raw))

    def along(name: str) -> list[Array]:
        unit = {other: jnp.ones_like(value) * (other == name) for other, value in solutions.raw.items()}
        return jax.jvp(left, (solutions.raw,), (unit,))[1]  # type: ignore[no-any-return]

    return {name: [_typical(rows) for rows in along(name)] for name in names}


def _over_draws(channels: tuple[Channel, ...], solutions: Solution) -> list[Float[Array, "draws n k"]]:
    """What every random field leaves of the conditions."""

    def one(network: AbstractNetwork) -> list[Array]:
        return residuals(channels, eqx.tree_at(lambda s: s.network, solutions, network))

    return jax.vmap(one)(solutions.network)


def _typical(rows: Float[Array, "draws n k"]) -> Float[Array, " k"]:
    """The root mean square over the points, and the median over the draws that are finite."""
    return jnp.nanmedian(jnp.sqrt(jnp.mean(jnp.where(jnp.isfinite(rows), rows, jnp.nan) ** 2, axis=1)), axis=0)
