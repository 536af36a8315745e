"""Minimising weighted residuals: compiled, many steps per call, guarded against divergence, for many seeds at once."""

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..errors import InputError, unknown_name
from ..problem.channel import Channel
from ..progress import Progress
from .driver import Call, drive
from .seeds import one_of, over_seeds, runs_once, unravel_seeds, unraveller

FIRST_STEPS = 50  # of the first compiled call, before it is known how long a step takes
BLOCK = 100  # steps in a loop of fixed length, after which a GPU need not ask the host whether to go on
EXPLODED = 1e8  # a loss this many times its first value will not come back

SCHEDULES = ("constant", "cosine", "exponential", "warmup")
OPTIMIZERS = ("adam", "lbfgs")
WEIGHTINGS = ("fixed", "self-adaptive")


@dataclass(frozen=True)
class Weights:
    """Loss weights by kind of channel, those of the paper by default.

    The mode `self-adaptive` lets every point earn a weight from its own residual (residual-based attention).
    """

    equation: float = 1.0
    boundary: float = 10.0
    initial: float = 10.0
    data: float = 1.0
    constraint: float = 1.0
    mode: str = "fixed"

    def __post_init__(self) -> None:
        if self.mode not in WEIGHTINGS:
            raise unknown_name("weighting", self.mode, WEIGHTINGS)

    def of(self, channels: Sequence[Channel]) -> tuple[float, ...]:
        return tuple(getattr(self, c.kind) if c.weight is None else c.weight for c in channels)


@dataclass(frozen=True)
class Descent:
    """How to go downhill."""

    epochs: int
    learning_rate: float = 1e-3
    schedule: str = "constant"
    optimizer: str = "adam"

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        if self.optimizer not in OPTIMIZERS:
            raise unknown_name("optimizer", self.optimizer, OPTIMIZERS)
        if self.epochs < 0 or not 0 < self.learning_rate < math.inf:
            raise InputError("epochs must not be negative, and the learning rate must be a positive number.")

    def transformation(self) -> optax.GradientTransformationExtraArgs:
        if self.optimizer == "lbfgs":
            return optax.lbfgs()
        rate, steps = self.learning_rate, max(self.epochs, 1)
        schedules: dict[str, Callable[[], Any]] = {
            "constant": lambda: rate,
            "cosine": lambda: optax.cosine_decay_schedule(rate, steps, alpha=1e-2),
            "exponential": lambda: optax.exponential_decay(rate, steps, 1e-2),
            "warmup": lambda: optax.warmup_cosine_decay_schedule(rate / 100, rate, steps // 20 + 1, steps + 1, rate / 100),
        }
        return optax.with_extra_args_support(optax.adam(schedules[self.schedule]()))


class Objective(eqx.Module):
    """What is minimised: residuals of all channels as a function of the parameters."""

    def prepare(self, channels: Sequence[Channel]) -> Any:
        """What does not change while the points stay the same; computed once and handed to `residuals`."""

    @abstractmethod
    def residuals(
        self, parameters: Any, channels: Sequence[Channel], prepared: Any, key: PRNGKeyArray
    ) -> list[Float[Array, "... n k"]]: ...


class Redraw(eqx.Module):
    """New points for the channels that sample theirs, every `every` steps."""

    channels: Callable[[PRNGKeyArray], Sequence[Channel]] = eqx.field(static=True)
    every: int = eqx.field(static=True)

    def __call__(self, old: Sequence[Channel], key: PRNGKeyArray, step: Int[Array, ""]) -> tuple[Channel, ...]:
        key = jax.random.fold_in(key, -1 - step // self.every)
        return tuple(a.moved_to(b) if a.sampled else a for a, b in zip(old, self.channels(key), strict=True))


class State(eqx.Module):
    """One seed in the middle of training. All parameters are one vector: an update is then a handful of operations."""

    parameters: Float[Array, " p"]
    good: Float[Array, " p"]  # the last parameters whose loss was seen to be fine
    optimizer: Any
    attention: tuple[Float[Array, " n"], ...]
    key: PRNGKeyArray
    step: Int[Array, ""]
    losses: Float[Array, " channels"]
    first_loss: Float[Array, ""]
    stopped: Int[Array, ""]  # the step at which the loss ran away; -1 while all is well


class Outcome(eqx.Module):
    """Trained parameters of all seeds, and how it went."""

    parameters: Any
    steps: list[int]
    losses: Float[np.ndarray, "records seeds channels"]
    seconds: float
    failures: list[str | None]

    def last(self, seed: int, channels: Sequence[Channel]) -> dict[str, float]:
        """The mean squares of a seed at the end, by channel."""
        return {c.name: float(loss) for c, loss in zip(channels, self.losses[-1, seed], strict=True)} if self.steps else {}


def minimise(
    objective: Objective,
    parameters: Any,
    channels: Sequence[Channel],
    *,
    keys: PRNGKeyArray,
    descent: Descent,
    weights: Weights,
    redraw: Redraw | None = None,
    progress: Progress | None = None,
    stage: str = "training",
) -> Outcome:
    """Minimise the weighted mean squares. All arrays have a leading seed axis; `keys` has one key per seed."""
    adaptive = weights.mode == "self-adaptive"
    if adaptive and redraw:
        raise InputError("self-adaptive weights belong to fixed points: set points.resample=0.")
    started, channels = time.perf_counter(), tuple(channels)
    names, channel_weights = [channel.name for channel in channels], weights.of(channels)
    like, first = one_of(parameters), _start_seeds(parameters, channels, keys, descent, adaptive)
    block = math.gcd(descent.epochs, redraw.every if redraw else 0, BLOCK)

    def advance(state: State, done: int, count: int) -> Call[State]:
        blocks = jnp.asarray(count // block)  # an array, so that another number is not another program
        state = _advance(state, like, objective, channels, blocks, block, descent, channel_weights, adaptive, redraw)
        return Call(state, state.losses, medians(names, state.losses))

    driven = drive(
        stage,
        descent.epochs,
        advance,
        like=first,
        per_call=block * max(FIRST_STEPS // block, 1),
        unit=block,
        finished=lambda state: bool(np.all(np.asarray(state.stopped) >= 0)),
        progress=progress,
        started=started,
    )
    state = driven.state
    failures = [
        _failure(stage, int(s), names, last, descent) for s, last in zip(state.stopped, np.asarray(state.losses), strict=True)
    ]
    losses = np.stack(driven.records) if driven.records else np.zeros((0, len(keys), len(names)))
    return Outcome(unravel_seeds(state.parameters, like), driven.steps, losses, driven.seconds, failures)


def medians(names: Sequence[str], losses: Float[Array, "seeds channels"]) -> dict[str, float]:
    """The median over the seeds of the loss of every channel: what a progress bar shows."""
    return dict(zip(names, np.median(np.asarray(losses), axis=0).tolist(), strict=True))


@runs_once
def _start_seeds(parameters: Any, channels: tuple[Channel, ...], keys: Array, descent: Descent, adaptive: bool) -> State:
    return over_seeds(lambda p, c, k: _start(p, c, k, descent, adaptive), parameters, channels, keys)


def _start(tree: Any, channels: Sequence[Channel], key: PRNGKeyArray, descent: Descent, adaptive: bool) -> State:
    optimizer, parameters = descent.transformation(), ravel_pytree(tree)[0]
    attention = tuple(jnp.ones(len(channel.points)) for channel in channels) if adaptive else ()
    return State(
        parameters=parameters,
        good=parameters,
        optimizer=optimizer.init(parameters),
        attention=attention,
        key=key,
        step=jnp.zeros((), int),
        losses=jnp.zeros(len(channels)),
        first_loss=jnp.full((), jnp.inf, float),
        stopped=jnp.full((), -1, int),
    )


@eqx.filter_jit
def _advance(
    state: State,
    like: Any,
    objective: Objective,
    channels: tuple[Channel, ...],
    blocks: Int[Array, ""],
    block: int,
    descent: Descent,
    weights: tuple[float, ...],
    adaptive: bool,
    redraw: Redraw | None,
) -> State:
    """Many steps in one compiled call: so many blocks, with new points (if they are redrawn) when it is time for them."""
    optimizer, unravel = descent.transformation(), unraveller(like)

    def one_seed(state: State, objective: Objective, channels: tuple[Channel, ...]) -> State:
        def some_steps(state: State, now: tuple[Channel, ...], prepared: Any) -> State:
            def residuals(parameters: Float[Array, " p"], key: PRNGKeyArray) -> list[Float[Array, "... n k"]]:
                return objective.residuals(unravel(parameters), now, prepared, key)

            return jax.lax.fori_loop(0, block, lambda _, s: _step(s, residuals, optimizer, weights, adaptive, descent), state)

        if redraw is None:
            prepared = objective.prepare(channels)
            return _sound(jax.lax.fori_loop(0, blocks, lambda _, s: some_steps(s, channels, prepared), state))

        def on_new_points(_: Int[Array, ""], state: State) -> State:
            now = redraw(channels, state.key, state.step)
            return some_steps(state, now, objective.prepare(now))

        return _sound(jax.lax.fori_loop(0, blocks, on_new_points, state))

    return over_seeds(one_seed, state, objective, channels)


def _step(
    state: State,
    residuals: Callable[[Float[Array, " p"], PRNGKeyArray], list[Float[Array, "... n k"]]],
    optimizer: optax.GradientTransformationExtraArgs,
    weights: tuple[float, ...],
    adaptive: bool,
    descent: Descent,
) -> State:
    draw_key = jax.random.fold_in(state.key, state.step)

    def loss(parameters: Float[Array, " p"]) -> tuple[Float[Array, ""], tuple[Float[Array, " channels"], list[Array]]]:
        rows = residuals(parameters, draw_key)
        squares = [jnp.sum(row**2, axis=-1) for row in rows]
        means = jnp.stack([jnp.mean(square) for square in squares])
        if adaptive:
            weighted = jnp.stack([jnp.mean(a**2 * s) for a, s in zip(state.attention, squares, strict=True)])
        else:
            weighted = means
        return jnp.dot(jnp.asarray(weights), weighted), (means, squares)

    (total, (means, squares)), gradient = jax.value_and_grad(loss, has_aux=True)(state.parameters)
    extra = {}
    if descent.optimizer == "lbfgs":
        extra = {"value": total, "grad": gradient, "value_fn": lambda p: loss(p)[0]}
    updates, optimizer_state = optimizer.update(gradient, state.optimizer, state.parameters, **extra)
    first = jnp.where(state.step == 0, total, state.first_loss)
    fine = (state.stopped < 0) & jnp.isfinite(total) & (total <= EXPLODED * first)
    return State(
        parameters=jnp.where(fine, optax.apply_updates(state.parameters, updates), state.good),
        good=jnp.where(fine, state.parameters, state.good),
        optimizer=optimizer_state,
        attention=_attend(state.attention, squares),
        key=state.key,
        step=state.step + 1,
        losses=jnp.where(state.stopped < 0, means, state.losses),  # the losses that show which channel ran away
        first_loss=first,
        stopped=jnp.where(fine | (state.stopped >= 0), state.stopped, state.step),
    )


def _sound(state: State) -> State:
    """The last step may have led out of the numbers without anybody noticing yet."""
    lost = (state.stopped < 0) & ~jnp.all(jnp.isfinite(state.parameters))
    parameters = jnp.where(lost, state.good, state.parameters)
    stopped = jnp.where(lost, state.step, state.stopped)
    return eqx.tree_at(lambda s: (s.parameters, s.stopped), state, (parameters, stopped))


def _attend(attention: tuple[Array, ...], squares: Sequence[Array]) -> tuple[Array, ...]:
    """Residual-based attention: weights decay, and grow where the residual is large (rates of its authors)."""
    sizes = [jnp.sqrt(jnp.mean(s.reshape(-1, s.shape[-1]), axis=0)) for s in squares[: len(attention)]]
    return tuple(0.999 * a + 0.01 * s / (jnp.max(s) + 1e-30) for a, s in zip(attention, sizes, strict=True))


def _failure(stage: str, stopped: int, names: Sequence[str], losses: np.ndarray, descent: Descent) -> str | None:
    """The sentence for a run that ran away: which channel, at which step, what to try."""
    if stopped < 0:
        return None
    bad = [name for name, loss in zip(names, losses, strict=True) if not np.isfinite(loss)]
    worst = bad[0] if bad else names[int(np.argmax(losses))]
    how = "or its gradient became NaN or infinite" if bad or max(losses) < EXPLODED else "exploded"
    cure = "the optimizer adam" if descent.optimizer == "lbfgs" else f"a learning rate below {descent.learning_rate:g}"
    return (
        f"the {stage} loss of the channel {worst!r} {how} at step {stopped}; the last good weights are kept. "
        f"Try {cure}, or check the equation for division by zero, log or sqrt."
    )
