"""E-PINN: something small with a random index, added to a frozen base PINN. Two kinds, by what is asked of it.

The `paper`'s is a small network, trained until its band is what training has not yet removed:

    u(x, z) = base(x) + learnable([x, h(x)], z) + alpha * prior([x, h(x)], z),    z ~ N(0, I)

h are the base's last hidden activations. Both networks see z twice: joined to their input, and projected on their
outputs (d_z of them for each field). Freezing concerns the *parameters* of base and prior: derivatives with respect to
x flow through h and through the prior, since the residuals need them.

The `calibrated` one is linear in what the base itself can do, its derivatives with respect to its own weights:

    u(x, z) = base(x) + sum_j z_j (learnable_j + prior_j) . d base / d weights (x)

Every prior_j is a draw of the prior on the weights; learnable_j minimises, for each z, the squares of all rows in units of
their noise, with targets disturbed along z by that noise, plus the squared distance in units of the prior. For linear
problems the spread over z is then that of the exact posterior, up to the scatter of a finite dimension of z. Being linear, it
needs no epochs: one Gauss-Newton step. One more direction is the error that the base's own residuals show.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives import memory
from ..derivatives.jet import PRECISION, Jet, Value, affine, join
from ..derivatives.network import MLP, AbstractNetwork, Frozen, Solution, check_architecture, trainable
from ..errors import InputError, unknown_name
from ..posterior.linearised import Directions, changed, posterior_changes
from ..posterior.posterior import Posterior
from ..posterior.sampler import Sampler
from ..problem.channel import Channel, compare, push, residuals
from ..progress import Progress
from ..solve.adam import Descent, Objective, minimise
from ..solve.config import purposes
from ..solve.gauss_newton import gauss_newton
from ..solve.pinn import Pinn
from ..solve.seeds import over_seeds, runs_once, stack, unstack
from ..solve.stages import redraw
from .method import Memory, Method, Traits, check_positive, memory_of_changes, prior_width

BASES = ("all", "physics")
INDEX_DIM = {"calibrated": 256, "paper": 8}  # 256 directions have 4% of scatter in the width of the band, 8 have 25%


class IndexedNetwork(eqx.Module):
    """A network of features and index: [features, z] -> fields x d_z outputs, projected on z."""

    mlp: MLP

    @classmethod
    def create(cls, features: int, index: int, fields: int, hidden: Sequence[int], **options) -> "IndexedNetwork":
        return cls(MLP.create(features + index, hidden, fields * index, **options))

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
        return self.learnable(features, z) + self.prior.content(features, z) * self.alpha

    def unknowns(self, z: Float[Array, " dz"]) -> Float[Array, " unknowns"]:
        return self.shift + (self.slope + self.alpha * self.prior_slope.content) @ z


class EpinetNetwork(AbstractNetwork):
    """The E-PINN at one index."""

    base: AbstractNetwork
    epinet: Epinet
    z: Float[Array, " dz"]

    def features(self, x: Value) -> Value:
        return self.base.features(x)

    def __call__(self, x: Value) -> Value:
        return self.base(x) + self.epinet(epinet_features(self.base, x), self.z)


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


def epinet_features(base: AbstractNetwork, x: Value) -> Value:
    return join([x, base.features(x)])


class TangentSampler(Sampler):
    """Base, a change of its parameters, and directions of further change; the index z says how far along each."""

    base: Solution
    common: Solution  # like the base's parameters
    directions: Solution  # the same, every array with a leading axis

    def index(self, key: PRNGKeyArray) -> Float[Array, " dz"]:
        first = jax.tree.leaves(self.directions)[0]
        return jax.random.normal(key, first.shape[:1], first.dtype)

    def solution(self, index: Float[Array, " dz"]) -> Solution:
        along = jax.tree.map(lambda leaf: jnp.tensordot(index, leaf, 1, precision=PRECISION), self.directions)
        return changed(self.base, jax.tree.map(jnp.add, self.common, along))


class FrozenBaseObjective(Objective):
    """Residuals of the E-PINN at random indices. What the base contributes is pushed through once, not at every step."""

    base: Solution
    rest: Epinet
    indices: int = eqx.field(static=True)

    def prepare(self, channels: Sequence[Channel]) -> list[tuple[Jet, Jet]] | None:
        """Values and features of the base; None where they would take too much memory."""
        size = eqx.filter_eval_shape(push, channels, self._look)
        needed = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(size))
        return push(channels, self._look) if needed <= memory.available() / 4 else None

    def residuals(
        self, parameters: Epinet, channels: Sequence[Channel], prepared: list[tuple[Jet, Jet]] | None, key: PRNGKeyArray
    ) -> list[Array]:
        epinet = eqx.combine(parameters, self.rest)
        sampler = EpinetSampler(self.base, epinet)

        def at(z: Float[Array, " dz"]) -> list[Array]:
            solution = sampler.solution(z)
            if prepared is None:
                return residuals(channels, solution)
            return compare(channels, [value + epinet(features, z) for value, features in prepared], solution.unknowns)

        with memory.shared_by(self.indices):
            return jax.vmap(lambda k: at(sampler.index(k)))(jax.random.split(key, self.indices))

    def _look(self, x: Value) -> tuple[Value, Value]:
        return self.base.network(x), epinet_features(self.base.network, x)


class JointObjective(Objective):
    """Residuals of the E-PINN at random indices, the base trained on together with the epinet."""

    rest: EpinetSampler
    indices: int = eqx.field(static=True)

    def residuals(
        self, parameters: EpinetSampler, channels: Sequence[Channel], prepared: None, key: PRNGKeyArray
    ) -> list[Array]:
        sampler = eqx.combine(parameters, self.rest)

        def at(key: PRNGKeyArray) -> list[Array]:
            return residuals(channels, sampler.solution(sampler.index(key)))

        return jax.vmap(at)(jax.random.split(key, self.indices))


@final
@dataclass(frozen=True)
class EpinetMethod(Method):
    """Settings: the objective (`calibrated` or `paper`), and the dimension of z, by default 256 and 8.

    Of the calibrated kind: the width of the prior on the weights. Of the paper's: sizes of the learnable and the prior network,
    prior scale alpha, training, indices per step.
    At most `newton` Gauss-Newton steps follow the epochs, on `newton_indices` indices that stay the same.
    `base` says what the base PINN has been trained on: `all` conditions, or the `physics` alone, in which case the epinet
    is the first to see the measurements.
    """

    name: ClassVar[str] = "epinet"
    summary: ClassVar[str] = (
        "E-PINN: a random index added to the trained PINN; calibrated, or as in the paper (objective=paper)"
    )

    prior_sd: float | None = None
    objective: str = "calibrated"
    index_dim: int | None = None
    hidden: tuple[int, ...] = (32, 32, 32)
    prior_hidden: tuple[int, ...] = (5, 5)
    alpha: float = 0.05
    prior_initialisation: str = "xavier"
    epochs: int = 10_000
    learning_rate: float = 1e-3
    schedule: str = "constant"
    indices_per_step: int = 1
    newton: int = 0
    newton_indices: int = 16
    train_base: bool = False
    base: str = "all"

    def __post_init__(self) -> None:
        check_positive("epinet.prior_sd", self.prior_sd)
        if self.base not in BASES:
            raise unknown_name("base of an epinet", self.base, BASES)
        check_architecture(self.hidden)
        check_architecture(self.prior_hidden, initialisation=self.prior_initialisation)
        if self.objective not in INDEX_DIM:
            raise unknown_name("objective of an epinet", self.objective, INDEX_DIM)
        if min(self.dimensions, self.indices_per_step, self.newton_indices) < 1 or not math.isfinite(self.alpha):
            raise InputError(
                "epinet.index_dim, epinet.indices_per_step and epinet.newton_indices must be at least 1, epinet.alpha a number."
            )
        if self.newton < 0 or (self.newton and self.train_base):
            raise InputError("epinet.newton must not be negative, and needs a frozen base: set epinet.train_base=false.")
        _ = self.descent  # checks its part of the settings

    @property
    def dimensions(self) -> int:
        """Of z."""
        return INDEX_DIM[self.objective] if self.index_dim is None else self.index_dim

    @property
    def traits(self) -> Traits:
        calibrated = self.objective == "calibrated"
        return Traits(
            base_sees_data=self.base == "all",
            moves_the_network=self.train_base,
            uses_sigma=calibrated,
            is_linearised=calibrated,
            prior_sd=self.prior_sd,
            memory=memory_of_changes(self.dimensions, "epinet.index_dim") if calibrated else Memory(),
        )

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.learning_rate, self.schedule)

    def attach(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        return (self._solve if self.objective == "calibrated" else self._train)(pinns, keys, progress)

    def _solve(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        progress("epinet", 0, 1, {})
        directions, seconds = posterior_changes(pinns, keys, Directions(self.dimensions), prior_width(self.prior_sd, pinns[0]))
        progress("epinet", 1, 1, {})
        return [
            Posterior(
                TangentSampler(pinn.solution, found.common, found.drawn), pinn.problem, self.name, seconds=seconds / len(pinns)
            )
            for pinn, found in zip(pinns, directions, strict=True)
        ]

    def _train(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        problem, size = pinns[0].problem, len(pinns)
        base, channels = stack([pinn.solution for pinn in pinns]), stack([pinn.channels for pinn in pinns])
        init_keys, train_keys = purposes(keys, 2)
        epinet = _create(self, base, init_keys, problem.domain.dimension, len(problem.fields))
        if self.train_base:
            sampler = EpinetSampler(base, epinet)
            parameters, rest = trainable(sampler)
            objective: Objective = JointObjective(rest, self.indices_per_step)
        else:
            parameters, rest = trainable(epinet)
            objective = FrozenBaseObjective(base, rest, self.indices_per_step)
        outcome = minimise(
            objective,
            parameters,
            channels,
            keys=train_keys,
            descent=self.descent,
            weights=pinns[0].weights,
            redraw=redraw(problem),
            progress=progress,
            stage="epinet",
        )
        outcomes = [outcome]
        if self.newton:
            exact = FrozenBaseObjective(base, rest, self.newton_indices)
            outcomes.append(
                gauss_newton(
                    exact,
                    outcome.parameters,
                    tuple(channels),
                    keys=train_keys,
                    steps=self.newton,
                    progress=progress,
                    stage="epinet, newton",
                )
            )
        trained = eqx.combine(outcomes[-1].parameters, rest)
        samplers = unstack(trained if self.train_base else EpinetSampler(base, trained), size)
        return [
            Posterior(
                sampler,
                pinn.problem,
                self.name,
                diagnostics={"losses": outcomes[-1].last(i, channels)},
                failure=failure,
                seconds=sum(outcome.seconds for outcome in outcomes) / size,
            )
            for i, (sampler, pinn, failure) in enumerate(zip(samplers, pinns, outcome.failures, strict=True))
        ]


@runs_once
def _create(method: EpinetMethod, base: Solution, keys: PRNGKeyArray, dimension: int, fields: int) -> Epinet:
    def one(base: Solution, key: PRNGKeyArray) -> Epinet:
        learn_key, prior_key, slope_key = jax.random.split(key, 3)
        features = jax.eval_shape(lambda x: epinet_features(base.network, x), jnp.zeros(dimension)).size
        learnable = IndexedNetwork.create(features, method.dimensions, fields, method.hidden, key=learn_key)
        prior = IndexedNetwork.create(
            features,
            method.dimensions,
            fields,
            method.prior_hidden,
            key=prior_key,
            initialisation=method.prior_initialisation,
            random_biases=True,
        )
        unknowns = len(base.raw)
        prior_slope = jax.random.normal(slope_key, (unknowns, method.dimensions)) / method.dimensions**0.5
        return Epinet(
            learnable,
            Frozen(prior),
            jnp.zeros(unknowns),
            jnp.zeros((unknowns, method.dimensions)),
            Frozen(prior_slope),
            method.alpha,
        )

    return over_seeds(one, base, keys)
