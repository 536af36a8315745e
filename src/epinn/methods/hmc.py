"""B-PINN: Hamiltonian Monte Carlo over weights and unknowns, with Gaussian priors and the channels' likelihoods.

The sampler and its diagnostics are blackjax's. Acceptance, R-hat and effective sample size are reported for the *field*
at probe points, since weights may be exchanged freely without changing it.
"""

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from ..batch import over_seeds, stack, unstack
from ..channel import Channel, log_likelihood, residuals
from ..errors import InputError, unknown_name
from ..network import Solution, trainable
from ..pinn import Pinn, create_solutions, purposes
from ..posterior import Posterior
from ..problem import Problem
from ..sampler import Members
from ..train import Progress
from .method import Method

STARTS = ("trained", "prior", "xavier")
PROBES = 32  # points at which the field is watched
STORED_PER_CALL = 10  # samples per compiled call, times `thin`
ACCEPTED = 0.75  # acceptance that an adapted step size aims at
MIXED = 1.1  # an R-hat above this is reported as not mixed


class Position(eqx.Module):
    """All that is sampled: weights and unknowns, and the noise of channels where it is not known."""

    parameters: PyTree
    log_sigma: dict[str, Float[Array, ""]]


class Target(eqx.Module):
    """The log posterior of one seed."""

    channels: tuple[Channel, ...]
    center: Position  # the prior's means: zero for weights, the guess for unknowns
    spread: Position  # the prior's standard deviations
    probes: Float[Array, "probes d"]
    rest: PyTree

    def __call__(self, position: Position) -> Float[Array, ""]:
        whitened = jax.tree.map(lambda p, c, s: jnp.sum(((p - c) / s) ** 2), position, self.center, self.spread)
        rows = residuals(self.channels, self.solution(position))
        return log_likelihood(self.channels, rows, position.log_sigma) - 0.5 * sum(jax.tree.leaves(whitened))

    def solution(self, position: Position) -> Solution:
        return eqx.combine(position.parameters, self.rest)


class Trace(eqx.Module):
    """Samples after burn-in: axes are seeds, chains, samples."""

    stored: Position  # every `thin`-th
    field: Float[np.ndarray, "seeds chains samples probes"]
    acceptance: Float[np.ndarray, "seeds chains samples"]
    divergent: Bool[np.ndarray, "seeds chains samples"]
    step_size: Float[np.ndarray, " seeds"]
    seconds: float


@dataclass(frozen=True)
class HmcMethod(Method):
    """Settings of the sampler. `samples` counts those after `burn_in`, per chain; every `thin`-th is stored.

    With `adapt`, the step size is changed during burn-in until about three quarters of the proposals are accepted.

    Chains start at the `trained` network, at draws from the `prior`, or at fresh `xavier` initialisations.
    """

    name: ClassVar[str] = "hmc"
    summary: ClassVar[str] = "B-PINN: Hamiltonian Monte Carlo over all weights and unknowns"

    step_size: float = 3e-4
    leapfrog: int = 25
    burn_in: int = 200
    samples: int = 400
    chains: int = 2
    adapt: bool = True
    thin: int = 1
    start: str = "trained"
    prior_sd: float = 1.0

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise unknown_name("start", self.start, STARTS)
        if min(self.leapfrog, self.samples, self.chains, self.thin) < 1 or self.burn_in < 0:
            raise InputError("hmc needs at least one leapfrog step, sample and chain, thin >= 1 and burn_in >= 0.")
        if not self.step_size > 0 or not self.prior_sd > 0:
            raise InputError("hmc.step_size and hmc.prior_sd must be positive.")

    @property
    def uses_base(self) -> bool:
        return self.start == "trained"

    @property
    def uses_sigma(self) -> bool:
        return True

    def attach(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        size = len(pinns)
        start_keys, chain_keys = purposes(keys, 2)
        targets = stack([_target(pinn, self.prior_sd) for pinn in pinns])
        trace = _sample(self, targets, self._start(pinns, targets, start_keys), chain_keys, progress)
        posteriors = []
        for i, (pinn, target) in enumerate(zip(pinns, unstack(targets, size), strict=True)):
            stored = jax.tree.map(lambda leaf, i=i: jnp.asarray(leaf[i].reshape(-1, *leaf.shape[3:])), trace.stored)
            diagnostics = _diagnostics(trace, i) | {"step_size": float(trace.step_size[i])}
            diagnostics |= {f"sigma of {name}": float(np.exp(v).mean()) for name, v in stored.log_sigma.items()}
            posteriors.append(
                Posterior(
                    sampler=_members(target, stored),
                    problem=pinn.problem,
                    method=self.name,
                    diagnostics=diagnostics,
                    warnings=_complaints(diagnostics, self),
                    seconds=trace.seconds / size,
                )
            )
        return posteriors

    def _start(self, pinns: Sequence[Pinn], targets: Target, keys: PRNGKeyArray) -> Position:
        """Where the chains begin; axes seeds, chains."""
        if self.start == "xavier":
            chain_keys = jax.vmap(lambda key: jax.random.split(key, self.chains))(keys)
            problems = [pinn.problem for pinn in pinns]
            per_chain = [create_solutions(pinns[0].base, problems, chain_keys[:, c]) for c in range(self.chains)]
            fresh = jax.tree.map(lambda *leaves: jnp.stack(leaves, axis=1), *(trainable(s)[0] for s in per_chain))
            return eqx.tree_at(lambda p: p.parameters, _repeated(targets.center, self.chains), fresh)
        if self.start == "prior":
            return over_seeds(functools.partial(_from_prior, chains=self.chains), targets, keys)
        return _repeated(stack([_from_trained(pinn) for pinn in pinns]), self.chains)


def _target(pinn: Pinn, prior_sd: float) -> Target:
    parameters, rest = trainable(pinn.solution)
    unknowns = pinn.problem.parameters
    center = eqx.tree_at(
        lambda s: s.raw,
        jax.tree.map(jnp.zeros_like, parameters),
        {name: jnp.full((), unknown.raw, float) for name, unknown in unknowns.items()},
    )
    spread = eqx.tree_at(
        lambda s: s.raw,
        jax.tree.map(lambda leaf: jnp.full_like(leaf, prior_sd), parameters),
        {name: jnp.full((), unknown.scale, float) for name, unknown in unknowns.items()},
    )
    # Where the noise is unknown: a log-normal prior around a tenth of the size of the targets.
    sizes = {c.name: jnp.log(0.1 * jnp.std(c.target) + 1e-6) for c in pinn.channels if c.noise == "unknown"}
    return Target(
        pinn.channels,
        Position(center, sizes),
        Position(spread, {name: jnp.ones(()) for name in sizes}),
        _probes(pinn.problem),
        rest,
    )


def _probes(problem: Problem) -> Float[Array, "probes d"]:
    if problem.domain.dimension == 1:
        return problem.domain.interior(PROBES)
    return problem.domain.points(PROBES, "sobol", key=jax.random.key(0))


def _from_prior(target: Target, key: PRNGKeyArray, chains: int) -> Position:
    leaves, structure = jax.tree.flatten(target.center)
    spreads = jax.tree.leaves(target.spread)
    keys = jax.random.split(key, len(leaves))
    drawn = [c + s * jax.random.normal(k, (chains, *c.shape)) for c, s, k in zip(leaves, spreads, keys, strict=True)]
    return jax.tree.unflatten(structure, drawn)


def _from_trained(pinn: Pinn) -> Position:
    """The trained network, with unknown noise as large as what it leaves over."""
    rows = zip(pinn.channels, residuals(pinn.channels, pinn.solution), strict=True)
    left = {c.name: 0.5 * jnp.log(jnp.mean(row**2) + 1e-12) for c, row in rows if c.noise == "unknown"}
    return Position(trainable(pinn.solution)[0], left)


def _repeated(position: Position, chains: int) -> Position:
    """The same start for every chain, as a second axis."""
    return jax.tree.map(lambda leaf: jnp.repeat(leaf[:, None], chains, axis=1), position)


def _sample(method: HmcMethod, targets: Target, start: Position, keys: PRNGKeyArray, progress: Progress) -> Trace:
    started, per_call = time.perf_counter(), STORED_PER_CALL * method.thin
    burn, keep = (-(-n // per_call) for n in (method.burn_in, method.samples))  # whole calls, so at least what was asked
    done, step_size = 0, np.full(len(keys), method.step_size)
    kept: list[Any] = []
    nothing = (jax.tree.map(lambda _: np.zeros(0), start), *[np.zeros(0)] * 3)
    if (recalled := progress.recall("hmc", (start, step_size, np.asarray(0), np.zeros(()), nothing))) is not None:
        start, step_size, done, started = recalled[0], recalled[1], int(recalled[2]), started - float(recalled[3])
        kept = [recalled[4]] if done > burn else []
    progress("hmc", done * per_call, (burn + keep) * per_call, {})
    for call in range(done, burn + keep):
        start, record = _advance(method, targets, start, keys, jnp.asarray(call), jnp.asarray(step_size, float))
        accepted = np.nan_to_num(np.asarray(record[2])).mean(axis=(1, 2))
        if call >= burn:
            kept.append(jax.tree.map(np.asarray, record))
        elif method.adapt:
            step_size = step_size * np.exp(accepted - ACCEPTED)
        progress("hmc", (call + 1) * per_call, (burn + keep) * per_call, {"acceptance": float(accepted.mean())})
        state = (start, step_size, np.asarray(call + 1), np.asarray(time.perf_counter() - started))
        progress.keep("hmc", functools.partial(_to_keep, state, kept, nothing))
    limits = [method.samples // method.thin or 1, *[method.samples] * 3]
    parts = (jax.tree.map(lambda a, n=n: a[:, :, :n], part) for part, n in zip(_joined(kept), limits, strict=True))
    stored, field, acceptance, divergent = parts
    return Trace(stored, field, acceptance, divergent, step_size, time.perf_counter() - started)


def _to_keep(state: tuple, records: Sequence[Any], nothing: Any) -> tuple:
    return (*state, _joined(records) if records else nothing)


def _joined(records: Sequence[Any]) -> Any:
    """The records of several calls as one."""
    return jax.tree.map(lambda *parts: np.concatenate(parts, axis=2), *records)


@eqx.filter_jit
def _advance(
    method: HmcMethod, targets: Target, positions: Position, keys: PRNGKeyArray, call: Array, step_sizes: Array
) -> tuple[Position, tuple]:
    """A few samples of every chain of every seed."""
    import blackjax  # imported here, as below: it costs a fifth of a second that other methods need not wait

    def one_chain(target: Target, position: Position, key: PRNGKeyArray, step_size: Array) -> tuple[Position, tuple]:
        size = sum(leaf.size for leaf in jax.tree.leaves(target.center))
        kernel = blackjax.hmc(target, step_size, jnp.ones(size), method.leapfrog)

        def sample(state: Any, key: PRNGKeyArray) -> tuple[Any, tuple]:
            state, info = kernel.step(key, state)
            field = target.solution(state.position)(target.probes).ravel()
            return state, (field, info.acceptance_rate, info.is_divergent)

        def thinned(state: Any, keys: PRNGKeyArray) -> tuple[Any, tuple]:
            state, watched = jax.lax.scan(sample, state, keys)
            return state, (state.position, *watched)

        draws = jax.random.split(key, (STORED_PER_CALL, method.thin))
        state, (stored, *watched) = jax.lax.scan(thinned, kernel.init(position), draws)
        return state.position, (stored, *(w.reshape(-1, *w.shape[2:]) for w in watched))

    def one_seed(target: Target, positions: Position, key: PRNGKeyArray, step_size: Array) -> tuple[Position, tuple]:
        keys = jax.random.split(jax.random.fold_in(key, call), method.chains)
        return jax.vmap(lambda p, k: one_chain(target, p, k, step_size))(positions, keys)

    return over_seeds(one_seed, targets, positions, keys, step_sizes)


def _members(target: Target, stored: Position) -> Members:
    count = jax.tree.leaves(stored)[0].shape[0]
    rest = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], count, axis=0) if eqx.is_array(leaf) else leaf, target.rest)
    return Members(eqx.combine(stored.parameters, rest))


@jax.jit
def _rhat_and_ess(chains: Float[Array, "chains samples values"]) -> tuple[Array, Array]:
    from blackjax.diagnostics import effective_sample_size, potential_scale_reduction

    return potential_scale_reduction(chains), effective_sample_size(chains)


def _diagnostics(trace: Trace, seed: int) -> dict[str, Any]:
    """Split R-hat and effective sample size of the field, worst and median over the probes."""
    field = trace.field[seed]
    half = field.shape[1] // 2
    halves = jnp.asarray(np.concatenate([field[:, :half], field[:, half : 2 * half]]))
    acceptance = float(trace.acceptance[seed].mean())
    summary: dict[str, Any] = {
        "acceptance": acceptance,
        "divergent": int(trace.divergent[seed].sum()),
        "chains": field.shape[0],
        "samples": field.shape[1],
    }
    if half < 2 or not np.all(np.ptp(field, axis=(0, 1)) > 0):
        return summary | {"rhat": None, "rhat_median": None, "ess": None, "ess_median": None}
    rhat, ess = (np.asarray(values) for values in _rhat_and_ess(halves))
    return summary | {
        "rhat": float(rhat.max()),
        "rhat_median": float(np.median(rhat)),
        "ess": float(ess.min()),
        "ess_median": float(np.median(ess)),
    }


def _complaints(diagnostics: dict[str, Any], method: HmcMethod) -> tuple[str, ...]:
    if diagnostics["rhat"] is None or diagnostics["acceptance"] < 0.05:
        return (
            f"the chains hardly moved (acceptance {diagnostics['acceptance']:.2f}); "
            f"try hmc.step_size below {method.step_size:g}, or more hmc.samples.",
        )
    if not diagnostics["rhat"] < MIXED:
        return (
            f"the chains have not mixed (R-hat of the field {diagnostics['rhat']:.2f}, effective samples "
            f"{diagnostics['ess']:.0f}): do not trust this band; try more hmc.samples or hmc.start=trained.",
        )
    return ()
