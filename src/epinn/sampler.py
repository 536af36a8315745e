"""The whole theory of a method's result: draw an index, get a function."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Int, PRNGKeyArray

from .network import Solution


class Sampler(eqx.Module):
    """What a method leaves behind. A finite one has `members`, with indices 0 to members - 1."""

    @property
    def members(self) -> int | None:
        return None

    @abstractmethod
    def index(self, key: PRNGKeyArray) -> Any:
        """Draw an index: z, a dropout mask, the number of a weight sample."""

    @abstractmethod
    def solution(self, index: Any) -> Solution:
        """The function that belongs to an index."""


class Members(Sampler):
    """Solutions that are all equally likely: weight samples of a chain, members of an ensemble."""

    solutions: Solution  # every array with a leading axis

    @property
    def members(self) -> int:
        return jax.tree.leaves(eqx.filter(self.solutions, eqx.is_array))[0].shape[0]

    def index(self, key: PRNGKeyArray) -> Int[Array, ""]:
        return jax.random.randint(key, (), 0, self.members)

    def solution(self, index: Int[Array, ""]) -> Solution:
        arrays, static = eqx.partition(self.solutions, eqx.is_array)
        return eqx.combine(jax.tree.map(lambda leaf: leaf[index], arrays), static)
