"""How precisely the targets of a condition are known: exactly, with noise of known size, or with noise of unknown size.

Each case has a `sigma`, the scale that a likelihood takes: one number, or one per point. It is the standard deviation of
Gaussian noise; that of Student's t is larger. A sigma that is not settled yet is estimated from what a solution leaves over
(`solve/noise.py`).
"""

import dataclasses
from abc import abstractmethod
from typing import Literal, final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .student import GAUSSIAN, deviation

Label = Literal["exact", "known", "unknown"]

TOLERANCE = 0.01  # sigma of an exact condition, and of unknown noise, before anything is known about a solution


class Precision(eqx.Module):
    """One of `Exact`, `KnownNoise` and `UnknownNoise`."""

    sigma: eqx.AbstractVar[Float[Array, "*seeds #n"]]
    freedom: eqx.AbstractVar[float]  # degrees of freedom of the noise, infinite if it is Gaussian

    @property
    @abstractmethod
    def label(self) -> Label:
        """The case in one word, for reports."""

    @property
    @abstractmethod
    def origin(self) -> str:
        """Where sigma comes from, for reports."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether sigma is used as it is; otherwise it is estimated from what a solution leaves over."""

    @abstractmethod
    def settled(self) -> "Precision":
        """The same case with sigma used as it is."""

    @property
    def is_gaussian(self) -> bool:
        return self.freedom == GAUSSIAN

    @property
    def deviation(self) -> Float[Array, "*seeds #n"]:
        """The standard deviation of the noise."""
        return self.sigma * deviation(self.freedom)

    @property
    def distribution(self) -> str:
        """What is to be said of noise that is not Gaussian, after its sigma or where that is from."""
        return "" if self.is_gaussian else ", Student's t"

    def with_sigma(self, sigma: Float[Array, "..."] | float) -> "Precision":
        """The same case with another sigma, in the shape of this one."""
        return dataclasses.replace(self, sigma=jnp.broadcast_to(jnp.asarray(sigma, self.sigma.dtype), self.sigma.shape))

    def per_point(self, n: int) -> "Precision":
        """The same case with one sigma for each of `n` points."""
        return dataclasses.replace(self, sigma=jnp.broadcast_to(self.sigma, (n,)))


@final
class Exact(Precision):
    """The condition holds exactly; sigma is a numerical tolerance, `given` or what the network reaches."""

    sigma: Float[Array, "*seeds #n"]
    freedom: float = eqx.field(static=True, default=GAUSSIAN)
    given: bool = eqx.field(static=True, default=False)

    @classmethod
    def up_to(cls, tolerance: float | None) -> "Exact":
        """An exact condition with the given tolerance; with None, what the network reaches."""
        return cls(jnp.full(1, TOLERANCE if tolerance is None else tolerance), given=tolerance is not None)

    @property
    def label(self) -> Label:
        return "exact"

    @property
    def origin(self) -> str:
        return "tolerance" if self.given else "what the network reaches"

    @property
    def is_settled(self) -> bool:
        return self.given

    def settled(self) -> "Exact":
        return dataclasses.replace(self, given=True)


@final
class KnownNoise(Precision):
    """The targets have noise of this size."""

    sigma: Float[Array, "*seeds #n"]
    freedom: float = eqx.field(static=True, default=GAUSSIAN)

    @property
    def label(self) -> Label:
        return "known"

    @property
    def origin(self) -> str:
        return f"given by the user{self.distribution}"

    @property
    def is_settled(self) -> bool:
        return True

    def settled(self) -> "KnownNoise":
        return self


@final
class UnknownNoise(Precision):
    """The targets have noise of a size to be inferred; sigma is the estimate so far, `final` if it is to stay."""

    sigma: Float[Array, "*seeds #n"]
    freedom: float = eqx.field(static=True, default=GAUSSIAN)
    final: bool = eqx.field(static=True, default=False)

    @classmethod
    def unseen(cls, freedom: float = GAUSSIAN) -> "UnknownNoise":
        """Noise about whose size nothing is known yet."""
        return cls(jnp.full(1, TOLERANCE), freedom)

    @property
    def label(self) -> Label:
        return "unknown"

    @property
    def origin(self) -> str:
        return f"inferred{self.distribution}"

    @property
    def is_settled(self) -> bool:
        return self.final

    def settled(self) -> "UnknownNoise":
        return dataclasses.replace(self, final=True)
