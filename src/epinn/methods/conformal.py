"""Conformal: the band of another method, scaled until measurements that were held out lie in it as often as they should.

The guarantee holds whatever the method, the network and the noise are like, as long as the new measurement is one of the same
kind as those that were held out (exchangeable with them): over repetitions, it lies in

    base(x) +/- factor * 1.96 * sqrt(spread(x)^2 + sigma^2)

with at least the probability asked for. It is about measurements, on average over where they are taken; about the field
itself it promises nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.jet import Value
from ..derivatives.network import AbstractNetwork, Solution
from ..errors import InputError
from ..posterior.gaussian import LEVEL, quantile
from ..posterior.held_out import compare_held_out, inferred_noise, noise_is_known, noise_of_fields
from ..posterior.posterior import Posterior
from ..posterior.sampler import Sampler
from ..problem.channel import Channel, residuals
from ..problem.problem import Problem
from ..progress import Progress
from ..solve.pinn import Pinn
from .method import Method


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


@dataclass(frozen=True)
class ConformalMethod(Method):
    """Settings: the method `of` whose band is scaled (with its default settings), and the level of the guarantee.

    Measurements are held out with `Data(..., held_out=True)`, or a share of all with points.held_out.
    """

    name: ClassVar[str] = "conformal"
    summary: ClassVar[str] = "conformal: another method's band, scaled by held-out measurements, with a guarantee"

    of: str = "epinet"
    level: float = LEVEL

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise InputError("conformal.level must be between 0.5 and 1.")
        if self.of == self.name:
            raise InputError("conformal.of must be another method.")

    @property
    def uses_sigma(self) -> bool:
        return True

    @property
    def uses_held_out(self) -> bool:
        return True

    @property
    def inner(self) -> Method:
        from . import configured  # here, since that module lists this one

        return configured(self.of)

    def reads(self, channel: Channel) -> Channel:
        return self.inner.reads(channel)

    def attach(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        for pinn in pinns:
            self.check(pinn.problem, *pinn.size)
        found = self.inner.attach(pinns, keys, progress)
        return [self._scaled(pinn, inner) for pinn, inner in zip(pinns, found, strict=True)]

    def check(self, problem: Problem, rows: int, parameters: int) -> None:
        self.inner.check(problem, rows, parameters)
        number = sum(channel.target.size for channel in problem.held_out())
        least = math.ceil(self.level / (1 - self.level) - 1e-9)
        if number < least:
            raise InputError(
                f"conformal needs at least {least} held-out measurements for a level of {self.level:g}, not {number}: "
                "mark some with Data(..., held_out=True), or hold out a share with points.held_out=0.5."
            )
        if not noise_is_known(problem):
            raise InputError("nothing is known about the noise of the held-out measurements: give their Data a sigma.")

    def _scaled(self, pinn: Pinn, inner: Posterior) -> Posterior:
        pinn = pinn.with_sigmas(inner.sigmas)
        found = compare_held_out(inner, inferred_noise(pinn))
        assert found is not None  # checked before
        from_base = np.concatenate([np.asarray(row).ravel() for row in residuals(pinn.problem.held_out(), pinn.solution)])
        scores = np.sort(replace(found, distance=from_base).scores)
        factor = float(scores[math.ceil((len(scores) + 1) * self.level - 1e-9) - 1]) / quantile(self.level)
        return replace(
            inner,
            sampler=ScaledSampler(pinn.solution, inner.sampler, jax.numpy.asarray(factor)),
            method=self.name,
            diagnostics={
                **inner.diagnostics,
                "of": self.of,
                "factor": factor,
                "held_out": len(scores),
                "guarantee": f"a new measurement of the same kind is within {quantile(self.level):.3g} total standard "
                f"deviations with probability {self.level:g} or more",
            },
            noise={name: factor * sigma for name, sigma in noise_of_fields(pinn).items()},
        )
