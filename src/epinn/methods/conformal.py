"""Conformal: the band of another method, scaled until measurements that were held out lie in it as often as they should.

The guarantee holds whatever the method, the network and the noise are like, as long as the new measurement is one of the same
kind as those that were held out (exchangeable with them): over repetitions, it lies in

    base(x) +/- factor * 1.96 * sqrt(spread(x)^2 + sigma^2)

with at least the probability asked for. Sigma is that of the held-out measurements, whatever the noise of those that were
trained on. It is about measurements, on average over where they are taken; about the field itself it promises nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.jet import Value
from ..derivatives.network import AbstractNetwork, Solution
from ..errors import InputError
from ..posterior.gaussian import LEVEL, quantile
from ..posterior.held_out import HeldOut, Residuals, compare_held_out
from ..posterior.posterior import Posterior
from ..posterior.sampler import Sampler
from ..problem.conditions import Data
from ..problem.problem import Problem
from ..progress import Progress
from ..solve.pinn import Pinn
from ..solve.seeds import Keys
from .bands import BANDS, named
from .method import Method, Traits


class Apart(AbstractNetwork):
    """A network plus the difference of two others, scaled."""

    center: AbstractNetwork
    one: AbstractNetwork
    other: AbstractNetwork
    factor: Float[Array, ""]

    def features(self, x: Value) -> Value:
        return self.center.features(x)

    def __call__(self, x: Value) -> Value:
        return self.center(x) + (self.one(x) + self.other(x) * -1.0) * self.factor


class ScaledSampler(Sampler):
    """The base, plus the difference of two draws: its mean is the base, its spread `factor` times that of the draws."""

    center: Solution
    inner: Sampler
    factor: Float[Array, ""]

    def index(self, key: PRNGKeyArray) -> tuple[Any, Any]:
        one, other = jax.random.split(key)
        return self.inner.index(one), self.inner.index(other)

    def solution(self, index: tuple[Any, Any]) -> Solution:
        one, other = map(self.inner.solution, index)
        scale = self.factor / 2**0.5
        raw = {name: value + scale * (one.raw[name] - other.raw[name]) for name, value in self.center.raw.items()}
        return replace(self.center, network=Apart(self.center.network, one.network, other.network, scale), raw=raw)


@final
@dataclass(frozen=True)
class ConformalMethod(Method):
    """Settings: the method `of` whose band is scaled (a name, with its default settings, or a method), and the level of the
    guarantee.

    Measurements are held out with `Data(..., held_out=True)`, or a share of all with points.held_out.
    """

    name: ClassVar[str] = "conformal"
    summary: ClassVar[str] = "conformal: another method's band, scaled by held-out measurements, with a guarantee"

    of: str | Method = "epinet"
    level: float = LEVEL

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise InputError("conformal.level must be between 0.5 and 1.")
        if self.of == self.name or isinstance(self.of, ConformalMethod):
            raise InputError("conformal.of must be another method.")
        _ = self.inner  # checks its name

    @property
    def inner(self) -> Method:
        """The method whose band is scaled."""
        return self.of if isinstance(self.of, Method) else named(self.of, BANDS)

    @property
    def traits(self) -> Traits:
        """Those of the method inside, but the mean is the base PINN, and held-out measurements decide the width."""
        inner = self.inner.traits
        return replace(
            inner,
            uses_base=True,
            retrains=inner.retrains or not inner.uses_base,
            moves_the_network=False,
            uses_sigma=True,
            is_linearised=False,
            held_out=math.ceil(self.level / (1 - self.level) - 1e-9),  # fewer have no quantile of this level
        )

    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        found = self.inner.attach(pinns, keys, progress)
        return [self._scaled(pinn, inner) for pinn, inner in zip(pinns, found, strict=True)]

    def _scaled(self, pinn: Pinn, inner: Posterior) -> Posterior:
        pinn = pinn.with_sigmas(inner.sigmas)
        found = compare_held_out(inner, pinn.data_sigmas)
        assert found is not None  # checked before
        from_base = np.asarray(Residuals(pinn.problem.held_out())(pinn.solution))
        scores = np.sort(replace(found, distance=from_base).scores)
        factor = float(scores[math.ceil((len(scores) + 1) * self.level - 1e-9) - 1]) / quantile(self.level)
        return replace(
            inner,
            sampler=ScaledSampler(pinn.solution, inner.sampler, jax.numpy.asarray(factor)),
            method=self.name,
            diagnostics={
                **inner.diagnostics,
                "of": self.inner.name,
                "factor": factor,
                "held_out": len(scores),
                "guarantee": f"a new measurement of the same kind is within {quantile(self.level):.3g} total standard "
                f"deviations with probability {self.level:g} or more",
            },
            noise={name: factor * sigma for name, sigma in {**pinn.field_noise, **_noise(pinn.problem, found)}.items()},
        )


def _noise(problem: Problem, found: HeldOut) -> dict[str, float]:
    """The noise of the held-out measurements by field, of those that measure a field directly: what the guarantee is about."""
    conditions = [condition for condition in problem.data if isinstance(condition, Data) and condition.held_out]
    ends = np.cumsum([channel.target.size for channel in problem.held_out()])
    squares: dict[str, list[np.ndarray]] = {}
    for condition, sigma in zip(conditions, np.split(found.noise, ends[:-1]), strict=True):
        if condition.is_direct:
            squares.setdefault(problem.field_name(condition.field), []).append(sigma**2)
    return {name: float(np.sqrt(np.mean(np.concatenate(parts)))) for name, parts in squares.items()}
