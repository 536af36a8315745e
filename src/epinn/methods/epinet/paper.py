"""The paper's epinet: a small network with a random index, added to a frozen base PINN and trained on the paper's loss.

    u(x, z) = base(x) + learnable([x, h(x)], z) + alpha * prior([x, h(x)], z),    z ~ N(0, I)

h are the base's last hidden activations. Both networks see z twice: joined to their input, and projected on their
outputs (d_z of them for each field). Freezing concerns the *parameters* of base and prior: derivatives with respect to
x flow through h and through the prior, since the residuals need them.

The loss is the weighted mean square of the residuals of u(., z), averaged over random z: `FrozenBaseObjective`, or
`JointObjective` where the base is trained on. It is minimised until its band is what training has not yet removed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ...derivatives import memory
from ...derivatives.compiled import runs_once
from ...derivatives.jet import Jet, Value, affine, join
from ...derivatives.lifted import gate_of
from ...derivatives.network import MLP, AbstractNetwork, Frozen, Solution, trainable
from ...posterior.posterior import Posterior
from ...posterior.sampler import Sampler
from ...problem.channel import Channel, compare, push, residuals
from ...progress import Progress
from ...solve.config import purposes
from ...solve.optimise.adam import Descent, minimise
from ...solve.optimise.gauss_newton import gauss_newton
from ...solve.optimise.objective import Objective, Outcome
from ...solve.pinn import Pinn
from ...solve.seeds import Keys, over_seeds, stack, unstack
from ...solve.stages import redraw


@dataclass(frozen=True)
class Shape:
    """Sizes of an epinet: the dimension of z, the hidden layers of its two networks, and the scale of the prior one."""

    index: int
    hidden: tuple[int, ...]
    prior_hidden: tuple[int, ...]
    prior_initialisation: str
    alpha: float


@dataclass(frozen=True)
class Training:
    """Epochs with `indices` random z in each step, then `newton` Gauss-Newton steps on `newton_indices` that stay the same.

    With `joint`, the base is trained on together with the epinet.
    """

    descent: Descent
    indices: int
    newton: int
    newton_indices: int
    joint: bool


class IndexedNetwork(eqx.Module):
    """A network of features and index: [features, z] -> fields x d_z outputs, projected on z."""

    mlp: MLP

    @classmethod
    def create(
        cls,
        features: int,
        index: int,
        fields: int,
        hidden: Sequence[int],
        *,
        key: PRNGKeyArray,
        initialisation: str = "xavier",
        random_biases: bool = False,
    ) -> "IndexedNetwork":
        mlp = MLP.create(
            features + index, hidden, fields * index, key=key, initialisation=initialisation, random_biases=random_biases
        )
        return cls(mlp)

    def __call__(self, features: Value, z: Float[Array, " dz"]) -> Value:
        fields = self.mlp.biases[-1].size // z.size
        return affine(jnp.kron(jnp.eye(fields, dtype=z.dtype), z), None, self.mlp(join([features, z])))


class Epinet(eqx.Module):
    """Learnable plus frozen prior network; and for unknown parameters, a learnable plus a frozen linear map of z."""

    learnable: IndexedNetwork
    prior: Frozen
    shift: Float[Array, " unknowns"]
    slope: Float[Array, "unknowns dz"]
    prior_slope: Frozen
    alpha: float = eqx.field(static=True)

    def __call__(self, features: Value, z: Float[Array, " dz"]) -> Value:
        value: Value = self.learnable(features, z) + self.prior.content(features, z) * self.alpha
        return value

    def unknowns(self, z: Float[Array, " dz"]) -> Float[Array, " unknowns"]:
        shifts: Array = self.shift + (self.slope + self.alpha * self.prior_slope.content) @ z
        return shifts


class EpinetNetwork(AbstractNetwork):
    """The E-PINN at one index."""

    base: AbstractNetwork
    epinet: Epinet
    z: Float[Array, " dz"]

    def features(self, x: Value) -> Value:
        return self.base.features(x)

    def __call__(self, x: Value) -> Value:
        return _added(self.base(x), self.epinet(epinet_features(self.base, x), self.z), gate_of(self.base, x))


class EpinetSampler(Sampler):
    """Base and epinet; the index is z."""

    base: Solution
    epinet: Epinet

    def index(self, key: PRNGKeyArray) -> Float[Array, " dz"]:
        return jax.random.normal(key, self.epinet.slope.shape[1:], self.epinet.slope.dtype)

    def solution(self, index: Float[Array, " dz"]) -> Solution:
        shifts = dict(zip(sorted(self.base.raw), self.epinet.unknowns(index), strict=True))
        raw = {name: value + shifts[name] for name, value in self.base.raw.items()}
        return replace(self.base, network=EpinetNetwork(self.base.network, self.epinet, index), raw=raw)


def _added(base: Value, epinet: Value, gate: Value | None) -> Value:
    """What the epinet adds where values are not given."""
    total: Value = base + (epinet if gate is None else epinet * gate)
    return total


def epinet_features(base: AbstractNetwork, x: Value) -> Value:
    return join([x, base.features(x)])


Seen = tuple[Jet, Jet, Jet | None]  # of a base: values, features, gate


class FrozenBaseObjective(Objective):
    """Residuals of the E-PINN at random indices. What the base contributes is pushed through once, not at every step."""

    base: Solution
    rest: Epinet
    indices: int = eqx.field(static=True)

    def prepare(self, channels: Sequence[Channel]) -> list[Seen] | None:
        """Values, features and gate of the base; None where they would take too much memory."""
        size = eqx.filter_eval_shape(push, channels, self._look)
        needed = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(size))
        return push(channels, self._look) if needed <= memory.available() / 4 else None

    def residuals(
        self, parameters: Epinet, channels: Sequence[Channel], prepared: list[Seen] | None, key: PRNGKeyArray
    ) -> list[Array]:
        epinet = eqx.combine(parameters, self.rest)
        sampler = EpinetSampler(self.base, epinet)

        def at(z: Float[Array, " dz"]) -> list[Array]:
            solution = sampler.solution(z)
            if prepared is None:
                return residuals(channels, solution)
            jets: list[Any] = [_added(value, epinet(features, z), gate) for value, features, gate in prepared]
            return compare(channels, jets, solution)

        with memory.shared_by(self.indices):
            return jax.vmap(lambda k: at(sampler.index(k)))(jax.random.split(key, self.indices))

    def _look(self, x: Value) -> tuple[Value, Value, Value | None]:
        network = self.base.network
        return network(x), epinet_features(network, x), gate_of(network, x)


class JointObjective(Objective):
    """Residuals of the E-PINN at random indices, the base trained on together with the epinet."""

    rest: EpinetSampler
    indices: int = eqx.field(static=True)

    def prepare(self, channels: Sequence[Channel]) -> None:
        return None

    def residuals(
        self, parameters: EpinetSampler, channels: Sequence[Channel], prepared: None, key: PRNGKeyArray
    ) -> list[Array]:
        sampler = eqx.combine(parameters, self.rest)

        def at(key: PRNGKeyArray) -> list[Array]:
            return residuals(channels, sampler.solution(sampler.index(key)))

        return jax.vmap(at)(jax.random.split(key, self.indices))


def train(pinns: Sequence[Pinn], keys: Keys, shape: Shape, training: Training, progress: Progress) -> list[Posterior]:
    """One posterior for each base PINN: epinets created and trained, all at once."""
    problem, size = pinns[0].problem, len(pinns)
    base, channels = stack([pinn.solution for pinn in pinns]), stack([pinn.channels for pinn in pinns])
    init_keys, train_keys = purposes(keys, 2)
    epinet = create(shape, base, init_keys, problem.domain.dimension, len(problem.fields))
    parameters, rest = trainable(EpinetSampler(base, epinet) if training.joint else epinet)
    indices = training.indices
    outcomes = [
        minimise(
            JointObjective(rest, indices) if training.joint else FrozenBaseObjective(base, rest, indices),
            parameters,
            channels,
            keys=train_keys,
            descent=training.descent,
            weights=pinns[0].weights,
            redraw=redraw(problem, base.units),
            progress=progress,
            stage="epinet",
        )
    ]
    if training.newton:
        outcomes.append(
            gauss_newton(
                FrozenBaseObjective(base, rest, training.newton_indices),
                outcomes[0].parameters,
                tuple(channels),
                keys=train_keys,
                steps=training.newton,
                progress=progress,
                stage="epinet, newton",
            )
        )
    trained = eqx.combine(outcomes[-1].parameters, rest)
    samplers = unstack(trained if training.joint else EpinetSampler(base, trained), size)
    return [
        _posterior(sampler, pinn, outcomes, i, channels) for i, (sampler, pinn) in enumerate(zip(samplers, pinns, strict=True))
    ]


def _posterior(sampler: Sampler, pinn: Pinn, outcomes: Sequence[Outcome], seed: int, channels: Sequence[Channel]) -> Posterior:
    return Posterior(
        sampler,
        pinn.problem,
        "epinet",
        diagnostics={"losses": outcomes[-1].last(seed, channels)},
        failure=outcomes[0].failures[seed],
        seconds=sum(outcome.seconds for outcome in outcomes) / len(outcomes[0].failures),
    )


@runs_once
def create(shape: Shape, base: Solution, keys: Keys, dimension: int, fields: int) -> Epinet:
    def one(base: Solution, key: PRNGKeyArray) -> Epinet:
        learn_key, prior_key, slope_key = jax.random.split(key, 3)
        features = jax.eval_shape(lambda x: epinet_features(base.network, x), jnp.zeros(dimension)).size
        learnable = IndexedNetwork.create(features, shape.index, fields, shape.hidden, key=learn_key)
        prior = IndexedNetwork.create(
            features,
            shape.index,
            fields,
            shape.prior_hidden,
            key=prior_key,
            initialisation=shape.prior_initialisation,
            random_biases=True,
        )
        unknowns = len(base.raw)
        prior_slope = jax.random.normal(slope_key, (unknowns, shape.index)) / shape.index**0.5
        return Epinet(
            learnable,
            Frozen(prior),
            jnp.zeros(unknowns),
            jnp.zeros((unknowns, shape.index)),
            Frozen(prior_slope),
            shape.alpha,
        )

    return over_seeds(one, base, keys)
