"""Chains of a sampler on the posteriors of many seeds at once, and whether they have mixed.

The samplers and their diagnostics are blackjax's. Acceptance, R-hat and effective sample size are reported for the *field*
at probe points, since weights may be exchanged freely without changing it.
"""

import functools
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ...posterior.log_density import Target
from ...progress import Progress
from ...solve.seeds import over_seeds
from .preconditioner import Chart, can_be_charted, charts

STORED_PER_CALL = 10  # samples per compiled call, times `thin`
ACCEPTED = 0.85  # acceptance that an adapted step size aims at
LEAST_GAIN = 0.3  # of the adaptation, which gets calmer from call to call
MIXED = 1.1  # an R-hat above this is reported as not mixed


class Kernel(eqx.Module):
    """One transition of a sampler."""

    @abstractmethod
    def __call__(self, density: Callable, state: Any, key: PRNGKeyArray, step_size: Array) -> tuple[Any, Array, Array]:
        """The next state, the acceptance on the way to it, and whether the integration ran away."""


@dataclass(frozen=True)
class Schedule:
    """How long and how: `samples` count those after `burn_in`, per chain; every `thin`-th is stored.

    With `precondition` the chains move in charts, made where they begin and again in the middle of the burn-in.
    """

    burn_in: int
    samples: int
    chains: int
    thin: int
    step_size: float
    adapt: bool
    precondition: bool


class Trace(eqx.Module):
    """Samples after burn-in: axes are seeds, chains, samples."""

    stored: Float[np.ndarray, "seeds chains stored q"]
    field: Float[np.ndarray, "seeds chains samples values"]
    acceptance: Float[np.ndarray, "seeds chains samples"]
    divergent: Bool[np.ndarray, "seeds chains samples"]
    step_size: Float[np.ndarray, "seeds chains"]
    seconds: float


class _State(eqx.Module):
    """Where the chains are: coordinates, the positions that their charts were made at, and how far they have come."""

    eta: Float[Array, "seeds chains q"]
    origin: Float[Array, "seeds chains q"]
    step_size: Float[np.ndarray, "seeds chains"]
    call: np.ndarray
    seconds: np.ndarray


def sample(
    kernel: Kernel,
    schedule: Schedule,
    targets: Target,
    begin: Callable[[], Float[Array, "seeds chains q"]],
    shape: tuple[int, int, int],
    keys: PRNGKeyArray,
    progress: Progress,
    stage: str,
) -> Trace:
    """Run all chains of all seeds from where `begin` says; `shape` is that of what it returns."""
    started, per_call = time.perf_counter(), STORED_PER_CALL * schedule.thin
    burn, keep = (-(-n // per_call) for n in (schedule.burn_in, schedule.samples))  # whole calls, so at least what was asked
    charted = schedule.precondition and can_be_charted(targets)
    nothing, blank = [np.zeros(0)] * 4, jnp.zeros(shape)
    first = _State(blank, blank, np.full(shape[:2], schedule.step_size), np.asarray(0), np.zeros(()))
    kept: list[Any] = []
    if (recalled := progress.recall(stage, (first, nothing))) is not None:
        state, started = recalled[0], started - float(recalled[0].seconds)
        kept = [recalled[1]] if int(state.call) > burn else []
    else:
        state = _moved_in(first, begin(), charted)
    chart = charts(targets, state.origin) if charted else None
    progress(stage, int(state.call) * per_call, (burn + keep) * per_call, {})
    for call in range(int(state.call), burn + keep):
        if chart is not None and call == burn // 2 > 0:
            state = _moved_in(state, _places(chart, state.eta), charted)
            chart = charts(targets, state.origin)
        sizes = jnp.asarray(state.step_size, float)
        eta, record = _advance(kernel, schedule, targets, chart, state.eta, keys, jnp.asarray(call), sizes)
        accepted = np.nan_to_num(np.asarray(record[2])).mean(axis=2)
        if call >= burn:
            kept.append(jax.tree.map(np.asarray, list(record)))
        step_size = _adapted(schedule, state.step_size, accepted, call, burn)
        state = _State(eta, state.origin, step_size, np.asarray(call + 1), np.asarray(time.perf_counter() - started))
        progress(stage, (call + 1) * per_call, (burn + keep) * per_call, {"acceptance": float(accepted.mean())})
        progress.keep(stage, functools.partial(_to_keep, state, kept, nothing))
    limits = [schedule.samples // schedule.thin or 1, *[schedule.samples] * 3]
    stored, field, acceptance, divergent = (part[:, :, :n] for part, n in zip(_joined(kept), limits, strict=True))
    return Trace(stored, field, acceptance, divergent, state.step_size, time.perf_counter() - started)


def _moved_in(state: _State, vectors: Float[Array, "seeds chains q"], charted: bool) -> _State:
    """The same state with the chains at these positions: the origins of charts, or their own coordinates."""
    eta = jnp.zeros_like(vectors) if charted else vectors
    return eqx.tree_at(lambda s: (s.eta, s.origin), state, (eta, vectors))


def _adapted(schedule: Schedule, step_size: np.ndarray, accepted: np.ndarray, call: int, burn: int) -> np.ndarray:
    """Step sizes after a call, changed only during burn-in, at first boldly; the new charts are a new beginning."""
    if not schedule.adapt or call >= burn:
        return step_size
    calls = call if call < burn // 2 else call - burn // 2
    return step_size * np.exp(max(LEAST_GAIN, (1 + calls) ** -0.5) * (accepted - ACCEPTED) / (1 - ACCEPTED) ** 0.5)


def _to_keep(state: _State, records: Sequence[Any], nothing: Any) -> tuple:
    return state, _joined(records) if records else nothing


def _joined(records: Sequence[Any]) -> Any:
    """The records of several calls as one."""
    return jax.tree.map(lambda *parts: np.concatenate(parts, axis=2), *records)


@eqx.filter_jit
def _places(charts: Chart, eta: Float[Array, "seeds chains q"]) -> Float[Array, "seeds chains q"]:
    return jax.vmap(jax.vmap(lambda chart, point: chart(point)))(charts, eta)


@eqx.filter_jit
def _advance(
    kernel: Kernel,
    schedule: Schedule,
    targets: Target,
    charts: Chart | None,
    etas: Float[Array, "seeds chains q"],
    keys: PRNGKeyArray,
    call: Array,
    step_sizes: Float[Array, "seeds chains"],
) -> tuple[Array, tuple]:
    """A few samples of every chain of every seed."""
    import blackjax  # imported here, as elsewhere: it costs a fifth of a second that other methods need not wait

    def one_chain(target: Target, chart: Chart | None, eta: Array, key: PRNGKeyArray, step_size: Array) -> tuple[Array, tuple]:
        place = (lambda point: point) if chart is None else chart
        density = lambda point: target(place(point))  # noqa: E731

        def one_sample(state: Any, key: PRNGKeyArray) -> tuple[Any, tuple]:
            state, acceptance, divergent = kernel(density, state, key, step_size)
            return state, (target.field(place(state.position)), acceptance, divergent)

        def thinned(state: Any, keys: PRNGKeyArray) -> tuple[Any, tuple]:
            state, watched = jax.lax.scan(one_sample, state, keys)
            return state, (place(state.position), *watched)

        draws = jax.random.split(key, (STORED_PER_CALL, schedule.thin))
        state, (stored, *watched) = jax.lax.scan(thinned, blackjax.hmc.init(eta, density), draws)
        return state.position, (stored, *(w.reshape(-1, *w.shape[2:]) for w in watched))

    def one_seed(target: Target, charts: Any, etas: Array, key: PRNGKeyArray, step_sizes: Array) -> tuple[Array, tuple]:
        each = jax.random.split(jax.random.fold_in(key, call), schedule.chains)
        return jax.vmap(lambda *chain: one_chain(target, *chain))(charts, etas, each, step_sizes)

    return over_seeds(one_seed, targets, charts, etas, keys, step_sizes)


@jax.jit
def _rhat_and_ess(chains: Float[Array, "chains samples values"]) -> tuple[Array, Array]:
    from blackjax.diagnostics import effective_sample_size, potential_scale_reduction

    return potential_scale_reduction(chains), effective_sample_size(chains)


def diagnose(trace: Trace, seed: int) -> dict[str, Any]:
    """Split R-hat and effective sample size of the field, worst and median over the probes."""
    field = trace.field[seed]
    half = field.shape[1] // 2
    halves = jnp.asarray(np.concatenate([field[:, :half], field[:, half : 2 * half]]))
    summary: dict[str, Any] = {
        "acceptance": float(trace.acceptance[seed].mean()),
        "divergent": int(trace.divergent[seed].sum()),
        "chains": field.shape[0],
        "samples": field.shape[1],
        "step_size": float(trace.step_size[seed].mean()),
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


def complaints(diagnostics: dict[str, Any], name: str, step_size: float, remedy: str) -> tuple[str, ...]:
    """Sentences for whoever might trust chains that have not mixed, with a remedy."""
    if diagnostics["samples"] < 4:
        return (
            f"{diagnostics['samples']} samples are too few to tell whether the chains have mixed: try more {name}.samples.",
        )
    if diagnostics["rhat"] is None or diagnostics["acceptance"] < 0.05:
        return (
            f"the chains hardly moved (acceptance {diagnostics['acceptance']:.2f}); "
            f"try {name}.step_size below {step_size:g}, or more {name}.samples.",
        )
    if not diagnostics["rhat"] < MIXED:
        return (
            f"the chains have not mixed (R-hat of the field {diagnostics['rhat']:.2f}, effective samples "
            f"{diagnostics['ess']:.0f}): do not trust this band; try {remedy}.",
        )
    return ()
