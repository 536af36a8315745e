"""What there is to say of a network that does not solve its problem: how far off it is, and what the reason may be."""

import dataclasses
import itertools
import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..derivatives.jet import Value, opaque
from ..derivatives.network import AbstractNetwork, Frozen, Solution
from ..problem.channel import Channel
from ..problem.domain import Box
from ..problem.problem import Problem
from ..solve.misfit import Misfit
from ..solve.seeds import stack

MOST_COORDINATES = 4  # with which all orders are tried
CLEARLY = 0.1  # residuals that fall to this share in another order of the coordinates are no accident
NO_SOLUTION = "the network does not solve this problem, and its band is not to be trusted."


class Reordered(AbstractNetwork):
    """A network that sees the coordinates in another order."""

    network: AbstractNetwork
    order: Frozen

    def features(self, x: Value) -> Value:
        return self._reordered(self.network.features, x)

    def __call__(self, x: Value) -> Value:
        return self._reordered(self.network, x)

    def _reordered(self, function: Callable[[Any], Any], x: Value) -> Value:
        return opaque(lambda point: function(point[self.order.content]), x)


def misfit_warnings(
    solution: Solution, channels: Sequence[Channel], problem: Problem, given: Collection[str] = ()
) -> list[str]:
    """A sentence for each condition that the network is far from meeting, and one for each likely reason.

    `given` are the unknown parameters whose values came with the network; the others sit at their guesses.
    """
    stacked = stack([tuple(channels)])
    misfit = Misfit.of(stacked, stack([solution]))
    found = misfit.complaints(0, stacked, NO_SOLUTION)
    if not found:
        return []
    return [*found, *_at_guesses(problem, given), *_other_order(solution, channels, problem, float(misfit.total[0]))]


def _at_guesses(problem: Problem, given: Collection[str]) -> list[str]:
    guesses = {name: float(f"{unknown.guess:.6g}") for name, unknown in problem.parameters.items() if name not in given}
    if not guesses:
        return []
    one = len(guesses) == 1
    what = f"{', '.join(guesses)} {'is' if one else 'are'} still at {'its guess' if one else 'their guesses'}"
    values = "the value" if one else "the values"
    return [f"{what}: pass {values} that the network was trained with, as in unknowns={json.dumps(guesses)}."]


def _other_order(solution: Solution, channels: Sequence[Channel], problem: Problem, total: float) -> list[str]:
    """Whether the network meets the conditions with its inputs in another order, all of which are tried at once."""
    names = problem.domain.coordinates
    orders = list(itertools.permutations(range(len(names))))[1:]
    if not orders or len(names) > MOST_COORDINATES:
        return []
    networks = [Reordered(solution.network, Frozen(jnp.asarray(order))) for order in orders]
    solutions = stack([dataclasses.replace(solution, network=network) for network in networks])
    totals = Misfit.of(stack([tuple(channels)] * len(orders)), solutions).total
    best = int(np.argmin(totals))
    if not totals[best] < CLEARLY**2 * total:
        return []
    own = [names[i] for i in orders[best]]
    box = ", ".join(f"{name}=..." for name in own)
    how = f"Write the domain as Box({box})" if isinstance(problem.domain, Box) else f"Make the shape with {box}"
    share = (totals[best] / total) ** 0.5
    return [
        f"the network seems to take ({', '.join(own)}), and the problem has ({', '.join(names)}): in that order its residuals "
        f"are {share:.1g} of these. {how}."
    ]
