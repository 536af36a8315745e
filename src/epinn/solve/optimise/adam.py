"""Minimising weighted residuals: compiled, many steps per call, guarded against divergence, for many seeds at once."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ...derivatives.compiled import runs_once
from ...derivatives.units import Units
from ...errors import InputError, unknown_name
from ...problem.channel import Channel
from ...progress import Progress
from ..seeds import Keys, one_of, over_seeds, unravel_seeds, unraveller
from .driver import Call, drive
from .objective import Objective, Outcome, Residuals, medians, recorded

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
        if not isinstance(self.schedule, str) or self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        if not isinstance(self.optimizer, str) or self.optimizer not in OPTIMIZERS:
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


class Redraw(eqx.Module):
    """New points for the channels that sample theirs, every `every` steps."""

    channels: Callable[[PRNGKeyArray], Sequence[Channel]] = eqx.field(static=True)
    every: int = eqx.field(static=True)
    units: Units | None = None  # of the channels that are in training

    def __call__(self, old: Sequence[Channel], key: PRNGKeyArray, step: Int[Array, ""]) -> tuple[Channel, ...]:
        key = jax.random.fold_in(key, -1 - step // self.every)
        return tuple(self._moved(a, b) if a.sampled else a for a, b in zip(old, self.channels(key), strict=True))

    def _moved(self, old: Channel, new: Channel) -> Channel:
        return old.moved_to(new if self.units is None or old.size is None else new.inside(self.units, old.size))


class State(eqx.Module):
    """One seed in the middle of training. All parameters are one vector: an update is then a handful of operations."""

    parameters: Float[Array, " p"]
    good: Float[Array, " p"]  # the last parameters whose loss was seen to be fine
    optimizer: Any
    attention: tuple[Float[Array, " _"], ...]  # one weight for each point of every channel, if they are self-adaptive
    key: PRNGKeyArray
    step: Int[Array, ""]
    losses: Float[Array, " channels"]
    first_loss: Float[Array, ""]
    stopped: Int[Array, ""]  # the step at which the loss ran away; -1 while all is well


class Training(eqx.Module):
    """All that training needs beside its state, of all seeds: arrays have a leading seed axis."""

    objective: Objective
    channels: tuple[Channel, ...]
    like: Any  # shapes of the parameters, see `one_of`
    descent: Descent = eqx.field(static=True)
    weights: tuple[float, ...] = eqx.field(static=True)
    adaptive: bool = eqx.field(static=True)  # whether points earn weights of their own
    redraw: Redraw | None

    @property
    def block(self) -> int:
        """Steps in a loop of fixed length: a divisor of all epochs, and of those between two changes of points."""
        return math.gcd(self.descent.epochs, self.redraw.every if self.redraw else 0, BLOCK)


def minimise(
    objective: Objective,
    parameters: Any,
    channels: Sequence[Channel],
    *,
    keys: Keys,
    descent: Descent,
    weights: Weights,
    redraw: Redraw | None = None,
    progress: Progress | None = None,
    stage: str = "training",
) -> Outcome:
    """Minimise the weighted mean squares. All arrays have a leading seed axis; `keys` has one key per seed."""
    started, adaptive = time.perf_counter(), weights.mode == "self-adaptive"
    if adaptive and redraw:
        raise InputError("self-adaptive weights belong to fixed points: set points.resample=0.")
    names = [channel.name for channel in channels]
    training = Training(objective, tuple(channels), one_of(parameters), descent, weights.of(channels), adaptive, redraw)
    block = training.block

    def advance(state: State, done: int, count: int) -> Call[State]:
        state = _advance(state, training, jnp.asarray(count // block))  # an array: another number is no other program
        return Call(state, state.losses, medians(names, state.losses))

    driven = drive(
        stage,
        descent.epochs,
        advance,
        like=_start_seeds(training, parameters, keys),
        per_call=block * max(FIRST_STEPS // block, 1),
        unit=block,
        finished=lambda state: bool(np.all(np.asarray(state.stopped) >= 0)),
        progress=progress,
        started=started,
    )
    state, last = driven.state, np.asarray(driven.state.losses)
    failures = [_failure(stage, int(s), names, losses, descent) for s, losses in zip(state.stopped, last, strict=True)]
    trained = unravel_seeds(state.parameters, training.like)
    return Outcome(trained, driven.steps, recorded(driven, len(keys), len(names)), driven.seconds, failures)


@runs_once
def _start_seeds(training: Training, parameters: Any, keys: Keys) -> State:
    return over_seeds(_start, training, parameters, keys)


def _start(training: Training, tree: Any, key: PRNGKeyArray) -> State:
    parameters, channels = ravel_pytree(tree)[0], training.channels
    return State(
        parameters=parameters,
        good=parameters,
        optimizer=training.descent.transformation().init(parameters),
        attention=tuple(jnp.ones(len(channel.points)) for channel in channels) if training.adaptive else (),
        key=key,
        step=jnp.zeros((), int),
        losses=jnp.zeros(len(channels)),
        first_loss=jnp.full((), jnp.inf, float),
        stopped=jnp.full((), -1, int),
    )


@eqx.filter_jit
def _advance(state: State, training: Training, blocks: Int[Array, ""]) -> State:
    """So many blocks of steps of every seed in one compiled call."""

    def one_seed(state: State, training: Training) -> State:
        objective, channels, redraw = training.objective, training.channels, training.redraw
        if redraw is None:
            prepared = objective.prepare(channels)
            state = jax.lax.fori_loop(0, blocks, lambda _, s: _block(s, training, channels, prepared), state)
        else:

            def on_new_points(_: Int[Array, ""], state: State) -> State:
                now = redraw(channels, state.key, state.step)
                return _block(state, training, now, objective.prepare(now))

            state = jax.lax.fori_loop(0, blocks, on_new_points, state)
        return _last_finite(state)

    return over_seeds(one_seed, state, training)


def _block(state: State, training: Training, channels: Sequence[Channel], prepared: Any) -> State:
    """A block of steps on the same points."""
    unravel, optimizer = unraveller(training.like), training.descent.transformation()

    def residuals(parameters: Float[Array, " p"], key: PRNGKeyArray) -> Residuals:
        return training.objective.residuals(unravel(parameters), channels, prepared, key)

    stepped: State = jax.lax.fori_loop(0, training.block, lambda _, s: _step(s, residuals, optimizer, training), state)
    return stepped


def _step(
    state: State,
    residuals: Callable[[Float[Array, " p"], PRNGKeyArray], Residuals],
    optimizer: optax.GradientTransformationExtraArgs,
    training: Training,
) -> State:
    """One step of the optimiser; parameters whose loss has run away are replaced by the last good ones."""
    draw_key = jax.random.fold_in(state.key, state.step)

    def loss(parameters: Float[Array, " p"]) -> tuple[Float[Array, ""], tuple[Float[Array, " channels"], list[Array]]]:
        squares = [jnp.sum(row**2, axis=-1) for row in residuals(parameters, draw_key)]
        means = jnp.stack([jnp.mean(square) for square in squares])
        weighted = means
        if training.adaptive:
            weighted = jnp.stack([jnp.mean(a**2 * s) for a, s in zip(state.attention, squares, strict=True)])
        return jnp.dot(jnp.asarray(training.weights), weighted), (means, squares)

    (total, (means, squares)), gradient = jax.value_and_grad(loss, has_aux=True)(state.parameters)
    extra = {}
    if training.descent.optimizer == "lbfgs":
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


def _last_finite(state: State) -> State:
    """The last good parameters where those of the last step, whose loss has not been computed yet, are not finite."""
    lost = (state.stopped < 0) & ~jnp.all(jnp.isfinite(state.parameters))
    parameters = jnp.where(lost, state.good, state.parameters)
    stopped = jnp.where(lost, state.step, state.stopped)
    return replace(state, parameters=parameters, stopped=stopped)


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
        f"Try {cure}, or check the equation for division by zero, log or sqrt; a field that cannot be negative is one of "
        "Problem(positive=...)."
    )
