"""The whole theory of a method's result: draw an index, get a function."""

import dataclasses
import math
from abc import abstractmethod
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..derivatives.jet import PRECISION, Value
from ..derivatives.network import AbstractNetwork, Solution, nothing
from .gaussian import LEVEL, quantile


class Sampler(eqx.Module):
    """What a method leaves behind: a distribution over solutions."""

    @abstractmethod
    def index(self, key: PRNGKeyArray) -> Any:
        """Draw an index: z, a dropout mask, the number of a weight sample."""

    @abstractmethod
    def solution(self, index: Any) -> Solution:
        """The function that belongs to an index."""


class GaussianSampler(Sampler):
    """Solutions whose fields are linear in standard normal numbers: their mean and spread are known without any draws."""

    @property
    @abstractmethod
    def center(self) -> Solution:
        """The solution where all these numbers are zero."""

    @property
    @abstractmethod
    def number(self) -> int:
        """How many numbers there are."""

    @abstractmethod
    def deviation(self, index: Int[Array, ""] | int) -> Solution:
        """A solution whose network is what one of these numbers adds to the network of the center, for each unit of it."""


class FiniteSampler(Sampler):
    """Finitely many solutions that are all equally likely; their indices are 0 to members - 1."""

    @property
    @abstractmethod
    def members(self) -> int:
        """How many there are."""

    def index(self, key: PRNGKeyArray) -> Int[Array, ""]:
        return jax.random.randint(key, (), 0, self.members)


def leading_axis(tree: Any) -> int:
    """The length of the axis that all arrays of a tree begin with."""
    return int(jax.tree.leaves(eqx.filter(tree, eqx.is_array))[0].shape[0])


@final
class Members(FiniteSampler):
    """Weight samples of a chain, members of an ensemble."""

    solutions: Solution  # every array with a leading axis

    @property
    def members(self) -> int:
        return leading_axis(self.solutions)

    def solution(self, index: Int[Array, ""] | int) -> Solution:
        arrays, static = eqx.partition(self.solutions, eqx.is_array)
        member: Solution = eqx.combine(jax.tree.map(lambda leaf: leaf[index], arrays), static)
        return member


@final
class FewMembers(FiniteSampler):
    """A handful of solutions, moved apart from their mean by a factor.

    So few say little of their own mean and spread. The factor makes mean +/- 1.96 std the interval of Student's
    distribution for one more member, which holds it 95% of the time.
    """

    plain: Members
    factor: float = eqx.field(static=True)

    @classmethod
    def of(cls, plain: Members, number: int) -> "FewMembers":
        return cls(plain, widening(number))

    @property
    def members(self) -> int:
        return self.plain.members

    def solution(self, index: Int[Array, ""] | int) -> Solution:
        shares = (1 - self.factor) / self.members + self.factor * jax.nn.one_hot(index, self.members)
        every = self.plain.solutions
        raw = {name: jnp.tensordot(shares, value, 1) for name, value in every.raw.items()}
        units = jax.tree.map(lambda leaf: leaf[0], every.frozen_units)  # which all have in common
        return dataclasses.replace(every, network=Mixture(every.network, shares), raw=raw, frozen_units=units)


def widening(number: int) -> float:
    """What the deviations of so many members are multiplied by: Student's interval over the Gaussian one."""
    from scipy.stats import t  # imported here: it costs a fifth of a second before anything can start

    ratio = t.ppf((1 + LEVEL) / 2, number - 1) / quantile(LEVEL)
    return float(ratio * math.sqrt((1 + 1 / number) * number / (number - 1)))


@final
class Mixture(AbstractNetwork):
    """A weighted sum of networks."""

    networks: AbstractNetwork  # every array with a leading axis
    shares: Float[Array, " members"]

    def features(self, x: Value) -> Value:
        """None: the networks have no features in common."""
        return nothing(x)

    def __call__(self, x: Value) -> Value:
        values = eqx.filter_vmap(lambda network: network(x), in_axes=eqx.if_array(0))(self.networks)
        mixed: Value = jax.tree.map(lambda leaf: jnp.tensordot(self.shares, leaf, 1, precision=PRECISION), values)
        return mixed
