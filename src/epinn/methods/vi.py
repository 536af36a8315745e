"""Variational inference: the Gaussian with independent weights that is nearest to the posterior of a Bayesian PINN.

Nearest is meant in the sense of Kullback and Leibler: the evidence lower bound is maximised by Adam over the means and widths
of all weights, of the unknowns and of noise that is not known, with gradients through random draws. Weights of a PINN are far
from independent, so the band is an approximation whose error nobody knows; `hmc` tells on a small problem.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.network import Solution, trainable
from ..errors import InputError
from ..posterior.log_density import Position, Target, posteriors_of, trained
from ..posterior.posterior import Posterior
from ..posterior.sampler import Sampler
from ..progress import Progress
from ..solve.optimise.driver import Call, drive
from ..solve.pinn import Pinn
from ..solve.seeds import Keys, over_seeds, stack, unraveller, unstack
from .method import Method, Traits, check_positive, prior_width

STEPS_PER_CALL = 100
FIRST_WIDTH = 1e-3  # in widths of the prior: narrow enough to leave the trained network where it is
CLIPPED = 1e3  # the norm of a gradient at most: a draw far out has an enormous one
RISING = 0.01  # nats per parameter by which the bound may still rise in the last tenth


class Factorised(eqx.Module):
    """A Gaussian with independent components. Weights are in units of their prior: those trained elsewhere may have any."""

    mean: Float[Array, " q"]
    log_width: Float[Array, " q"]

    def __call__(self, noise: Float[Array, " q"]) -> Float[Array, " q"]:
        return self.mean + jnp.exp(self.log_width) * noise


State = tuple[Factorised, Any]  # with what Adam remembers


class VariationalSampler(Sampler):
    """The index is one standard normal number for each parameter."""

    mean: Solution
    width: Solution  # only its parameters

    def index(self, key: PRNGKeyArray) -> Float[Array, " p"]:
        return jax.random.normal(key, (sum(leaf.size for leaf in jax.tree.leaves(self.width)),))

    def solution(self, index: Float[Array, " p"]) -> Solution:
        mean, rest = trainable(self.mean)
        drawn = jax.tree.map(lambda m, w, z: m + w * z, mean, self.width, unraveller(mean)(index))
        found: Solution = eqx.combine(drawn, rest)
        return found


@final
@dataclass(frozen=True)
class ViMethod(Method):
    """Settings: the width of the prior on the weights (that of the base PINN if it is not given), the sigma that exact
    conditions are allowed at least, steps of Adam, their learning rate, and the draws that a gradient is averaged over."""

    name: ClassVar[str] = "vi"
    summary: ClassVar[str] = "Variational inference: independent Gaussians for all weights and unknowns"

    prior_sd: float | None = None
    tolerance: float = 0.01
    steps: int = 4_000
    learning_rate: float = 1e-2
    draws: int = 4

    def __post_init__(self) -> None:
        check_positive("vi.prior_sd", self.prior_sd)
        check_positive("vi.tolerance", self.tolerance)
        if min(self.steps, self.draws) < 1 or not self.learning_rate > 0:
            raise InputError("vi.steps and vi.draws must be at least 1, vi.learning_rate positive.")

    @property
    def traits(self) -> Traits:
        return Traits(moves_the_network=True, uses_sigma=True, prior_sd=self.prior_sd, tolerance=self.tolerance)

    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        started = time.perf_counter()
        targets = posteriors_of(pinns, prior_width(self.prior_sd, pinns[0]), self.tolerance)

        def advance(state: State, done: int, count: int) -> Call[State]:
            state, bound = _advance(self, targets, state, keys, jnp.asarray(done))
            return Call(state, bound, {"bound": float(np.mean(bound))})

        driven = drive(
            self.name,
            self.steps,
            advance,
            like=_begin(self, targets, stack([pinn.solution for pinn in pinns])),
            per_call=STEPS_PER_CALL,
            progress=progress,
            started=started,
        )
        seconds, bounds = driven.seconds / len(pinns), np.stack(driven.records, axis=1)
        found = zip(pinns, unstack((targets, driven.state[0]), len(pinns)), bounds, strict=True)
        return [self._posterior(pinn, target, gaussian, bound, seconds) for pinn, (target, gaussian), bound in found]

    def _posterior(self, pinn: Pinn, target: Target, gaussian: Factorised, bounds: np.ndarray, seconds: float) -> Posterior:
        """The last tenth of the bounds against the tenth before says whether it still rises."""
        tenth = max(1, len(bounds) // 10)
        last, before = bounds[-tenth:], bounds[-2 * tenth : -tenth]
        units = _units(target)
        mean, width = target.position(units * gaussian.mean), target.position(units * jnp.exp(gaussian.log_width))
        diagnostics: dict[str, Any] = {"bound": float(last.mean())}
        found = {name: float(np.exp(mu + width.log_sigma[name] ** 2)) for name, mu in mean.log_sigma.items()}
        sigmas = pinn.sigmas_outside(found)
        rise = float(last.mean() - before.mean()) if len(before) else np.inf
        warnings: tuple[str, ...] = ()
        if rise > RISING * gaussian.mean.size:
            much = f"by {rise:.0f} in the last tenth" if len(before) else "after so few steps nobody knows how much"
            warnings = (f"the variational bound still rises ({much}); try more ViMethod(steps=...).",)
            diagnostics["doubt"] = warnings[0]
        failure = None if np.all(np.isfinite(gaussian.mean)) else "vi ran away: try a smaller ViMethod(learning_rate=...)."
        sampler = VariationalSampler(target.solution(mean), width.parameters)
        return Posterior(sampler, pinn.problem, self.name, diagnostics, warnings, failure, seconds, sigmas=sigmas)


def _adam(method: ViMethod) -> optax.GradientTransformation:
    schedule = optax.cosine_decay_schedule(method.learning_rate, max(1, method.steps), alpha=1e-2)
    return optax.chain(optax.clip_by_global_norm(CLIPPED), optax.adam(schedule))


def _units(target: Target) -> Float[Array, " q"]:
    """What a number of 1 means for every parameter; unknowns and noise are dimensionless already."""
    ones: Position = jax.tree.map(jnp.ones_like, target.spread)
    units: Position = eqx.tree_at(lambda one: one.parameters.network, ones, target.spread.parameters.network)
    return ravel_pytree(units)[0]


@eqx.filter_jit
def _begin(method: ViMethod, targets: Target, solution: Solution) -> State:
    def one(target: Target, mean: Float[Array, " q"]) -> State:
        units = _units(target)
        width = FIRST_WIDTH * ravel_pytree(target.spread)[0] / units
        gaussian = Factorised(mean / units, jnp.log(width))
        return gaussian, _adam(method).init(gaussian)

    return over_seeds(one, targets, trained(targets, solution))


@eqx.filter_jit
def _advance(method: ViMethod, targets: Target, state: State, keys: Keys, done: Array) -> tuple[State, Array]:
    """Some steps of every seed, and the mean bound on the way."""

    def one(target: Target, state: State, key: PRNGKeyArray) -> tuple[State, Array]:
        units = _units(target)

        def loss(gaussian: Factorised, key: PRNGKeyArray) -> Array:
            noise = jax.random.normal(key, (method.draws, gaussian.mean.size))
            return -jnp.mean(jax.vmap(lambda n: target(units * gaussian(n)))(noise)) - jnp.sum(gaussian.log_width)

        def step(state: State, i: Array) -> tuple[State, Array]:
            gaussian, memory = state
            value, slope = jax.value_and_grad(loss)(gaussian, jax.random.fold_in(key, done + i))
            change, memory = _adam(method).update(slope, memory, gaussian)
            return (optax.apply_updates(gaussian, change), memory), -value

        state, bounds = jax.lax.scan(step, state, jnp.arange(STEPS_PER_CALL))
        return state, jnp.mean(bounds)

    return over_seeds(one, targets, state, keys)
