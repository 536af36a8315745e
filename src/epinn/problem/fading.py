"""How fast a solution changes when time begins, going by its equations and by what it begins with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.compiled import runs_once
from ..derivatives.jet import Value, opaque
from ..derivatives.network import AbstractNetwork, Solution, nothing
from ..derivatives.units import Units
from .channel import Channel, residuals
from .given import Given, Values, begins
from .region import TIME

if TYPE_CHECKING:
    from .problem import Problem

LEAST = 1e-3  # times its scale in all time: what changes less is taken to change so much


class Beginning(AbstractNetwork):
    """Fields as they begin: given values, slopes if they are given too, and changes of the next order in parts of all time."""

    given: tuple[tuple[Values, ...], ...]  # for every field a value, or a value and a slope, or nothing
    changes: Float[Array, " fields"]
    axis: int = eqx.field(static=True)  # of time

    def features(self, x: Value) -> Value:
        return nothing(x)

    def __call__(self, x: Value) -> Value:
        return opaque(self._at, x)

    def _at(self, x: Float[Array, " d"]) -> Float[Array, " fields"]:
        since = 1 + x[self.axis]
        values = [sum((one(x[None])[0] * since**order for order, one in enumerate(some)), jnp.zeros(())) for some in self.given]
        powers = np.asarray([max(len(some), 1) for some in self.given])
        return jnp.stack(values) + self.changes * jnp.where(powers == 1, since / 2, since**2 / 8)


def fading(problem: "Problem", given: Sequence[Sequence[Given]], equations: Sequence[Channel], units: Units) -> list[float]:
    """For every field, the part of time in which it changes by about its scale, going by how the equations begin: at first
    order where its value is given, at second where its slope is too (Taylor's series)."""
    in_time = [sorted((one for one in some if begins([one], problem.domain)), key=lambda one: one.order) for some in given]
    first = [tuple(one.values for one in some) if some and some[0].order == 0 else () for some in in_time]
    if not any(first) or not equations:
        return [1.0] * len(given)
    network = Beginning(tuple(first), jnp.zeros(len(given)), problem.domain.axis(TIME))
    found = _felt(tuple(equations), problem.solution(network, units))
    there, felt = (np.nan_to_num(np.asarray(part)) for part in found)
    wanted = np.asarray([bool(some) for some in first])
    change = np.einsum("nfk,nk->nf", np.linalg.pinv(felt[:, :, wanted]), there)
    rate = np.zeros(len(given))
    rate[wanted] = np.sqrt(np.mean(change**2, axis=0))
    powers = np.asarray([max(len(some), 1) for some in first])
    return np.asarray((powers / np.maximum(rate, LEAST)) ** (1 / powers)).tolist()  # type: ignore[no-any-return]


@runs_once
def _felt(equations: tuple[Channel, ...], solution: Solution) -> tuple[Float[Array, "n k"], Float[Array, "n k fields"]]:
    """What is left of the equations as fields begin, and how it depends on their changes."""

    def left(changes: Float[Array, " fields"]) -> Float[Array, "n k"]:
        begun = eqx.tree_at(lambda s: s.network.changes, solution, changes)
        return jnp.concatenate(residuals(equations, begun), axis=1)

    still = solution.network.changes  # type: ignore[attr-defined]
    return left(still), jax.jacfwd(left)(still)
