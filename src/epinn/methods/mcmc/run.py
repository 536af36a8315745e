"""Chains of a sampler on the posteriors of many seeds at once. The samplers and the adaptation of their step are blackjax's."""

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ...posterior.log_density import Target
from ...progress import Progress
from ...solve.optimise.driver import Call, Driven, drive
from ...solve.seeds import Keys, over_seeds
from .preconditioner import Chart, can_be_charted, charts

# blackjax is imported inside functions: it takes a fifth of a second, which no other method should wait for.

STORED_PER_CALL = 10  # samples per compiled call, times `thin`
ACCEPTED = 0.85  # acceptance that an adapted step size aims at
LENGTHS = 1_000_000  # what is folded into a chain's key for the lengths of its trajectories; samples use `split`

Density = Callable[[Float[Array, " q"]], Float[Array, ""]]


class Kernel(eqx.Module):
    """One transition of a sampler."""

    @abstractmethod
    def init(self, density: Density, position: Float[Array, " q"], key: PRNGKeyArray) -> Any:
        """The state of the sampler at a position; `key` is for what the state itself may draw from."""

    @abstractmethod
    def __call__(self, density: Density, state: Any, key: PRNGKeyArray, step_size: Array) -> tuple[Any, Array, Array]:
        """The next state, the acceptance on the way to it, and whether the integration ran away."""


@dataclass(frozen=True)
class Schedule:
    """How long and how: `samples` count those after `burn_in`, per chain; every `thin`-th is stored.

    With `precondition` the chains move in charts, made where they begin and again in the middle of the burn-in. With `adapt`,
    the step size of every chain is found by dual averaging during burn-in, from the beginning again in new charts.
    """

    burn_in: int
    samples: int
    chains: int
    thin: int
    step_size: float
    adapt: bool
    precondition: bool

    @property
    def per_call(self) -> int:
        return STORED_PER_CALL * self.thin

    @property
    def burn_calls(self) -> int:
        """Whole calls, so at least as many samples as asked for."""
        return -(-self.burn_in // self.per_call)

    @property
    def calls(self) -> int:
        return self.burn_calls - (-self.samples // self.per_call)


class Trace(eqx.Module):
    """Samples after burn-in: axes are seeds, chains, samples."""

    stored: Float[np.ndarray, "seeds chains stored q"]
    field: Float[np.ndarray, "seeds chains samples values"]
    acceptance: Float[np.ndarray, "seeds chains samples"]
    divergent: Bool[np.ndarray, "seeds chains samples"]
    step_size: Float[np.ndarray, "seeds chains"]
    seconds: float


class _State(eqx.Module):
    """Where the chains are: coordinates, the positions that their charts were made at, their step sizes, and what dual
    averaging knows of these."""

    eta: Float[Array, "seeds chains q"]
    origin: Float[Array, "seeds chains q"]
    step_size: Float[Array, "seeds chains"]
    averaging: Any


# longer than forty lines: burn-in, adaptation and sampling share all they work on
def sample(
    kernel: Kernel,
    schedule: Schedule,
    targets: Target,
    begin: Callable[[], Float[Array, "seeds chains q"]],
    shape: tuple[int, int, int],
    keys: Keys,
    progress: Progress,
    stage: str,
) -> Trace:
    """Run all chains of all seeds from where `begin` says; `shape` is that of what it returns."""
    started = time.perf_counter()
    charted = schedule.precondition and can_be_charted(targets)
    blank, sizes = jnp.zeros(shape), jnp.full(shape[:2], schedule.step_size)
    first = _State(blank, blank, sizes, _begin_averaging(sizes))
    chart: Chart | None = None

    def advance(state: _State, done: int, count: int) -> Call[_State]:
        nonlocal chart
        call, burn = done // count, schedule.burn_calls
        if charted and chart is None:  # at the beginning, or where an earlier session was interrupted
            chart = charts(targets, state.origin)
        if chart is not None and call == burn // 2 > 0:
            state = _adapted(schedule, _moved_in(state, _places(chart, state.eta), charted))
            chart = charts(targets, state.origin)
        state, record = _advance(kernel, schedule, targets, chart, state, keys, jnp.asarray(call), jnp.asarray(call < burn))
        state = _adapted(schedule, state) if call == burn - 1 else state
        accepted = float(np.nan_to_num(np.asarray(record[2])).mean())
        return Call(state, list(record) if call >= burn else None, {"acceptance": accepted})

    driven = drive(
        stage,
        schedule.calls * schedule.per_call,
        advance,
        like=first,
        begin=lambda: _moved_in(first, begin(), charted),
        per_call=schedule.per_call,
        empty=[np.zeros(0)] * 4,
        progress=progress,
        started=started,
    )
    return _trace(schedule, driven)


def _trace(schedule: Schedule, driven: Driven[_State]) -> Trace:
    """What the calls after burn-in have recorded, without what they made beyond what was asked for."""
    limits = [schedule.samples // schedule.thin or 1, *[schedule.samples] * 3]
    joined = (np.concatenate(parts, axis=2) for parts in zip(*driven.records, strict=True))
    stored, field, acceptance, divergent = (part[:, :, :n] for part, n in zip(joined, limits, strict=True))
    return Trace(stored, field, acceptance, divergent, np.asarray(driven.state.step_size), driven.seconds)


def _moved_in(state: _State, vectors: Float[Array, "seeds chains q"], charted: bool) -> _State:
    """The same state with the chains at these positions: the origins of charts, or their own coordinates."""
    eta = jnp.zeros_like(vectors) if charted else vectors
    moved: _State = eqx.tree_at(lambda s: (s.eta, s.origin), state, (eta, vectors))
    return moved


@jax.jit
def _begin_averaging(sizes: Float[Array, "seeds chains"]) -> Any:
    from blackjax.adaptation.step_size import dual_averaging_adaptation

    init, _, _ = dual_averaging_adaptation(ACCEPTED)
    return jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf, sizes.dtype), sizes.shape), init(sizes))


def _adapted(schedule: Schedule, state: _State) -> _State:
    """The state with the step sizes that dual averaging has found, and dual averaging beginning again from these."""
    if not schedule.adapt:
        return state
    sizes = jnp.exp(state.averaging.log_step_size_avg)
    adapted: _State = eqx.tree_at(lambda s: (s.step_size, s.averaging), state, (sizes, _begin_averaging(sizes)))
    return adapted


@eqx.filter_jit
def _places(charts: Chart, eta: Float[Array, "seeds chains q"]) -> Float[Array, "seeds chains q"]:
    places: Array = jax.vmap(jax.vmap(lambda chart, point: chart(point)))(charts, eta)
    return places


@eqx.filter_jit
def _advance(
    kernel: Kernel,
    schedule: Schedule,
    targets: Target,
    charts: Chart | None,
    state: _State,
    keys: Keys,
    call: Array,
    burning: Bool[Array, ""],
) -> tuple[_State, tuple[Array, ...]]:
    """A few samples of every chain of every seed."""

    def one_seed(
        target: Target, charts: Any, etas: Array, sizes: Array, averaging: Any, key: PRNGKeyArray
    ) -> tuple[tuple[Array, Any], tuple[Array, ...]]:
        each = jax.random.split(jax.random.fold_in(key, call), schedule.chains)
        walk = _Walk(kernel, target, schedule, burning)
        return jax.vmap(walk)(charts, etas, sizes, averaging, each)

    (eta, averaging), record = over_seeds(one_seed, targets, charts, state.eta, state.step_size, state.averaging, keys)
    return eqx.tree_at(lambda s: (s.eta, s.averaging), state, (eta, averaging)), record


class _Walk(eqx.Module):
    """One chain for a few samples. While it is `burning` in, dual averaging chooses the size of every step."""

    kernel: Kernel
    target: Target
    schedule: Schedule = eqx.field(static=True)
    burning: Bool[Array, ""]

    def __call__(
        self, chart: Chart | None, eta: Float[Array, " q"], step_size: Array, averaging: Any, key: PRNGKeyArray
    ) -> tuple[tuple[Array, Any], tuple[Array, ...]]:
        place = (lambda point: point) if chart is None else chart

        def density(point: Float[Array, " q"]) -> Float[Array, ""]:
            return self.target(place(point))

        def one_sample(carry: tuple[Any, Any], key: PRNGKeyArray) -> tuple[tuple[Any, Any], tuple[Array, ...]]:
            state, averaging = carry
            state, acceptance, divergent = self.kernel(
                density, state, key, _step(self.schedule, self.burning, step_size, averaging)
            )
            averaging = _updated(self.schedule, self.burning, averaging, acceptance)
            return (state, averaging), (self.target.field(place(state.position)), acceptance, divergent)

        def thinned(carry: tuple[Any, Any], keys: Keys) -> tuple[tuple[Any, Any], tuple[Array, ...]]:
            carry, watched = jax.lax.scan(one_sample, carry, keys)
            return carry, (place(carry[0].position), *watched)

        draws = jax.random.split(key, (STORED_PER_CALL, self.schedule.thin))
        first = self.kernel.init(density, eta, jax.random.fold_in(key, LENGTHS)), averaging
        (state, averaging), (stored, *watched) = jax.lax.scan(thinned, first, draws)
        return (state.position, averaging), (stored, *(w.reshape(-1, *w.shape[2:]) for w in watched))


def _step(schedule: Schedule, burning: Bool[Array, ""], step_size: Float[Array, ""], averaging: Any) -> Float[Array, ""]:
    """The size of the next step."""
    if not schedule.adapt:
        return step_size
    return jnp.where(burning, jnp.exp(averaging.log_step_size), step_size)


def _updated(schedule: Schedule, burning: Bool[Array, ""], averaging: Any, acceptance: Float[Array, ""]) -> Any:
    """What dual averaging knows after a step; it learns in burn-in only."""
    from blackjax.adaptation.step_size import dual_averaging_adaptation

    if not schedule.adapt:
        return averaging
    _, update, _ = dual_averaging_adaptation(ACCEPTED)
    updated = update(averaging, jnp.nan_to_num(acceptance))
    return jax.tree.map(lambda new, old: jnp.where(burning, new, old).astype(old.dtype), updated, averaging)
