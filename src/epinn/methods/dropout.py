"""Dropout-PINN: hidden activations are switched off at random, and the spread over masks is the band.

Two variants. During `training` the masks are there from the first step, and the network is trained anew; one mask per
step, whose expected loss is that of a mask per point. At `prediction` only, they are applied to the base PINN as it is:
this is the variant that reproduces the paper's tables. Dropout does not touch scalar unknowns: their spread is zero.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.jet import Value
from ..derivatives.lifted import Lifted
from ..derivatives.network import MLP, AbstractNetwork, Solution
from ..errors import InputError, unknown_name
from ..posterior.posterior import Posterior
from ..posterior.sampler import Sampler
from ..problem.channel import Channel, residuals
from ..progress import Progress
from ..solve.config import create_solutions, purposes
from ..solve.optimise.objective import Objective
from ..solve.pinn import Pinn, scales_for
from ..solve.seeds import Keys, stack, unstack
from ..solve.stages import train_solution
from .method import Method, Traits

VARIANTS = ("prediction", "training")


class MaskedNetwork(AbstractNetwork):
    """A network with its hidden activations multiplied by masks."""

    mlp: MLP
    masks: tuple[Float[Array, " _"], ...]

    def features(self, x: Value) -> Value:
        return self.mlp.features(x, self.masks)

    def __call__(self, x: Value) -> Value:
        return self.mlp(x, self.masks)


class DropoutSampler(Sampler):
    """A network and a rate; the index is one mask per hidden layer, scaled so that its mean is one."""

    base: Solution
    rate: float = eqx.field(static=True)

    def index(self, key: PRNGKeyArray) -> tuple[Float[Array, " width"], ...]:
        mlp = _mlp(self.base)
        keys = jax.random.split(key, len(mlp.hidden))
        keep = 1 - self.rate
        return tuple(
            jax.random.bernoulli(k, keep, (n,)).astype(mlp.weights[0].dtype) / keep
            for k, n in zip(keys, mlp.hidden, strict=True)
        )

    def solution(self, index: tuple[Float[Array, " _"], ...]) -> Solution:
        network, masked = self.base.network, MaskedNetwork(_mlp(self.base), index)
        return replace(self.base, network=replace(network, network=masked) if isinstance(network, Lifted) else masked)


class DropoutObjective(Objective):
    """Residuals of the network under a random mask."""

    rest: Solution
    rate: float = eqx.field(static=True)

    def prepare(self, channels: Sequence[Channel]) -> None:
        return None

    def residuals(self, parameters: Solution, channels: Sequence[Channel], prepared: None, key: PRNGKeyArray) -> list[Array]:
        sampler = DropoutSampler(eqx.combine(parameters, self.rest), self.rate)
        return residuals(channels, sampler.solution(sampler.index(key)))


@final
@dataclass(frozen=True)
class DropoutMethod(Method):
    """Settings: the dropout rate, and when dropout is active: at `prediction` only, or during `training` too."""

    name: ClassVar[str] = "dropout"
    summary: ClassVar[str] = (
        "Dropout-PINN: random masks on the hidden layers (at prediction only, unless dropout.during=training)"
    )

    rate: float = 0.05
    during: str = "prediction"

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise InputError(f"dropout.rate must lie between 0 and 1, not {self.rate}.")
        if self.during not in VARIANTS:
            raise unknown_name("dropout variant", self.during, VARIANTS)

    @property
    def traits(self) -> Traits:
        return Traits(uses_base=self.during == "prediction")

    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        size, problem = len(pinns), pinns[0].problem
        for pinn in pinns:
            _mlp(pinn.solution)
        if self.during == "prediction":
            return [Posterior(DropoutSampler(pinn.solution, self.rate), pinn.problem, self.name) for pinn in pinns]
        init_keys, train_keys = purposes(keys, 2)
        scales = [scales_for(pinn.solution, pinn.problem) for pinn in pinns]
        outcome, solution = train_solution(
            create_solutions(pinns[0].base, [p.problem for p in pinns], init_keys, scales),
            stack([pinn.channels for pinn in pinns]),
            problem,
            objective=functools.partial(DropoutObjective, rate=self.rate),
            keys=train_keys,
            descent=pinns[0].base.descent,
            weights=pinns[0].weights,
            progress=progress,
            stage="dropout",
        )
        return [
            Posterior(
                DropoutSampler(trained, self.rate),
                pinn.problem,
                self.name,
                failure=failure,
                seconds=outcome.seconds / size,
            )
            for trained, pinn, failure in zip(unstack(solution, size), pinns, outcome.failures, strict=True)
        ]


def _mlp(solution: Solution) -> MLP:
    network = solution.network.network if isinstance(solution.network, Lifted) else solution.network
    if not isinstance(network, MLP):
        raise InputError("dropout needs the hidden layers of one of epinn's own networks; use another method.")
    return network
