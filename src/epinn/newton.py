"""Gauss-Newton with Levenberg-Marquardt damping on the weighted residuals, in float64.

A step solves (J'J + damping) step = -J'r in the smaller of its two forms: with as many unknowns as there are parameters, or,
by the identity J'(JJ' + damping)^-1, with as many as there are rows. Above a few thousand of both it is solved by conjugate
gradients, without ever forming J. Hundreds of such steps do what takes a first-order method a hundred thousand.
"""

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from .batch import one_of, unravel_seeds, unraveller
from .channel import Channel, residuals
from .jet import Jet
from .network import Solution, trainable
from .train import CALL_SECONDS, Outcome, Progress, Weights

DENSE = 4000  # rows or parameters up to which J is formed and factorised
CG_STEPS = 200
FACTORS = (0.3, 1.0, 3.0)  # dampings that are tried at once, in parts of the current one
GROWTH = 27.0  # of the damping when none of them lowers the loss
FIRST_DAMPING = 1e-3  # in parts of the mean diagonal of JJ'
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e8
MEMORY = 2**32  # bytes for the matrices J of the seeds that run at once
STALLED = 1e-3  # a relative decrease of the loss per step that is not worth the step
CROSSING = 1e-7  # the same as long as the solution is hardly better than u = 0: a plateau is crossed slowly
SETTLED = 0.05  # the loss, in parts of that of u = 0, below which it has left the plateau
PATIENCE = 20  # such steps in a row end it
SOLVED = 1e-11  # a loss this small, in parts of that of u = 0, is more than single precision can show


class State(eqx.Module):
    """One seed on its way down."""

    parameters: Float[Array, " p"]
    loss: Float[Array, ""]
    damping: Float[Array, ""]
    step: Int[Array, ""]
    idle: Int[Array, ""]  # steps in a row that brought next to nothing
    of_nothing: Float[Array, ""]  # the loss of u = 0


def gauss_newton(
    solution: Solution,
    channels: Sequence[Channel],
    *,
    steps: int,
    weights: Weights,
    progress: Progress | None = None,
    stage: str = "newton",
) -> tuple[Outcome, Solution]:
    """Minimise the weighted mean squares from where a (stacked) solution is, in at most this many steps.

    All arrays have a leading seed axis. A seed stops when its loss does not fall any more. The solution comes back in the
    precision that it had.
    """
    report, started = progress or Progress(), time.perf_counter()
    names, channel_weights = [channel.name for channel in channels], weights.of(channels)
    dtypes = jax.tree.map(lambda leaf: leaf.dtype, trainable(solution)[0])
    with jax.enable_x64(True):
        exact_solution, exact_channels = _double(solution), tuple(_double(list(channels)))
        parameters, rest = trainable(exact_solution)
        like = one_of(parameters)
        state = _start_seeds(parameters, like, rest, exact_channels, channel_weights)
        if (kept := report.recall(stage, (state, np.zeros(())))) is not None:
            state, started = kept[0], started - float(kept[1])
        marks: list[int] = []
        losses: list[np.ndarray] = []
        done, call, fresh = int(np.max(np.asarray(state.step))), 5, True
        report(stage, done, steps, {})
        while done < steps and not np.all(_done(state)):
            call = min(call, steps - done)
            tick = time.perf_counter()
            state = _advance(state, jnp.asarray(call), like, rest, exact_channels, channel_weights)
            losses.append(np.asarray(_mean_squares(state, like, rest, exact_channels)))
            took, done = time.perf_counter() - tick, done + call
            marks.append(done)
            report(stage, done, steps, dict(zip(names, np.median(losses[-1], axis=0).tolist(), strict=True)))
            report.keep(stage, functools.partial(_to_keep, state, started))
            if not fresh:
                call = max(1, int(call * min(4.0, CALL_SECONDS / max(took, 1e-6))))
            fresh = False
        report(stage, steps, steps, {})
        trained = jax.tree.map(np.asarray, unravel_seeds(state.parameters, like))
    trained = jax.tree.map(jnp.asarray, trained, dtypes)
    size = len(np.asarray(state.loss))
    record = np.stack(losses) if losses else np.zeros((0, size, len(names)))
    outcome = Outcome(trained, marks, record, time.perf_counter() - started, [None] * size)
    return outcome, eqx.combine(trained, trainable(solution)[1])


def _double(tree: Any) -> Any:
    """The tree with all its real arrays in double precision."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf), jnp.float64) if eqx.is_inexact_array(leaf) else leaf, tree)


def _done(state: State) -> Bool[Array, "..."]:
    """Whether nothing more is to be gained."""
    return (state.idle >= PATIENCE) | (state.loss <= SOLVED * state.of_nothing)


def _to_keep(state: State, started: float) -> tuple[State, np.ndarray]:
    """All that is needed to go on, the seconds spent so far included."""
    return state, np.asarray(time.perf_counter() - started)


class System(eqx.Module):
    """The residuals of one seed as a function of one vector, each row scaled so that the loss is their squared length."""

    channels: tuple[Channel, ...]
    rest: Solution
    like: Any = eqx.field(static=True)
    weights: tuple[float, ...] = eqx.field(static=True)

    def solution(self, parameters: Float[Array, " p"]) -> Solution:
        return eqx.combine(unraveller(self.like)(parameters), self.rest)

    def rows(self, parameters: Float[Array, " p"]) -> Float[Array, " m"]:
        found = residuals(self.channels, self.solution(parameters))
        return jnp.concatenate([scale * row.ravel() for scale, row in zip(self._scales, found, strict=True)])

    def jacobian(self, parameters: Float[Array, " p"]) -> Float[Array, "m p"]:
        """Row by row: every point sees the parameters on its own, so that a row costs one point and not all of them."""
        parts = []
        for scale, channel in zip(self._scales, self.channels, strict=True):
            part = jax.vmap(jax.jacrev(self._row), in_axes=(None, None, 0))(parameters, channel, _Point.of(channel))
            part = part - jnp.mean(part, axis=0) if channel.centred else part
            parts.append(scale * part.reshape(-1, part.shape[-1]))
        return jnp.concatenate(parts)

    @property
    def _scales(self) -> list[float]:
        return [(weight / len(c.points)) ** 0.5 for weight, c in zip(self.weights, self.channels, strict=True)]

    def _row(self, parameters: Float[Array, " p"], channel: Channel, point: "_Point") -> Float[Array, " k"]:
        solution = self.solution(parameters)

        def at(x: Float[Array, " d"]) -> Float[Array, " k"]:
            jet = cast(Jet, solution.network(Jet.variable(x, channel.operator.orders)))
            return channel.operator(jet, x, solution.unknowns, point.given)

        return at(point.x) if point.partner is None else at(point.x) - at(point.partner)


class _Point(eqx.Module):
    """What a channel knows at one of its points."""

    x: Float[Array, "*n d"]
    given: dict[str, Array]
    partner: Float[Array, "*n d"] | None

    @classmethod
    def of(cls, channel: Channel) -> "_Point":
        return cls(channel.points, dict(channel.given), channel.partner)


@eqx.filter_jit
def _start_seeds(parameters: Any, like: Any, rest: Solution, channels: tuple[Channel, ...], weights: tuple) -> State:
    def one(tree: Any, rest: Solution, channels: tuple[Channel, ...]) -> State:
        vector = ravel_pytree(tree)[0]
        system = System(channels, rest, like, weights)
        loss, of_nothing = (jnp.sum(system.rows(v) ** 2) for v in (vector, jnp.zeros_like(vector)))
        zero = jnp.zeros((), int)
        return State(vector, loss, jnp.full((), -1.0), zero, zero, of_nothing)

    return eqx.filter_vmap(one)(parameters, rest, channels)


@eqx.filter_jit
def _mean_squares(state: State, like: Any, rest: Solution, channels: tuple[Channel, ...]) -> Float[Array, "seeds channels"]:
    def one(state: State, rest: Solution, channels: tuple[Channel, ...]) -> Array:
        found = residuals(channels, eqx.combine(unraveller(like)(state.parameters), rest))
        return jnp.stack([jnp.mean(jnp.sum(row**2, axis=-1)) for row in found])

    return eqx.filter_vmap(one)(state, rest, channels)


@eqx.filter_jit
def _advance(
    state: State, count: Int[Array, ""], like: Any, rest: Solution, channels: tuple[Channel, ...], weights: tuple
) -> State:
    """Some steps of every seed: one seed after the other on a CPU, as many as fit into memory at once elsewhere."""

    def one_seed(state: State, rest: Solution, channels: tuple[Channel, ...]) -> State:
        system = System(channels, rest, like, weights)
        return jax.lax.fori_loop(0, count, lambda _, s: _step(s, system), state)

    rows = sum(channel.target.shape[1] * channel.target.shape[2] for channel in channels)
    fit = max(1, MEMORY // (8 * rows * state.parameters.shape[1]))
    at_once = 1 if jax.default_backend() == "cpu" else min(fit, len(state.loss))
    dynamic, static = eqx.partition((state, rest, channels), eqx.is_array)
    return jax.lax.map(lambda arrays: one_seed(*eqx.combine(arrays, static)), dynamic, batch_size=at_once)


def _step(state: State, system: System) -> State:
    """The best of a few dampings; if none lowers the loss, stay and damp more."""
    rows = jax.eval_shape(system.rows, state.parameters).shape[0]
    solve = _dense(system, state.parameters) if min(rows, state.parameters.size) <= DENSE else _free(system, state.parameters)
    size, step_for = solve
    damping = jnp.where(state.damping < 0, FIRST_DAMPING * size, state.damping)
    tried = damping * jnp.asarray(FACTORS)
    moved = jax.lax.map(lambda d: state.parameters - step_for(d), tried)
    losses = jax.lax.map(lambda p: jnp.sum(system.rows(p) ** 2), moved)
    losses = jnp.where(jnp.isfinite(losses), losses, jnp.inf)
    best = jnp.argmin(losses)
    better = losses[best] < state.loss
    enough = jnp.where(state.loss < SETTLED * state.of_nothing, STALLED, CROSSING)
    gain = (state.loss - losses[best]) / jnp.maximum(state.loss, 1e-300)
    new = State(
        parameters=jnp.where(better, moved[best], state.parameters),
        loss=jnp.where(better, losses[best], state.loss),
        damping=jnp.clip(jnp.where(better, tried[best], damping * GROWTH), LEAST_DAMPING * size, MOST_DAMPING * size),
        step=state.step + 1,
        idle=jnp.where(better & (gain > enough), 0, state.idle + 1),
        of_nothing=state.of_nothing,
    )
    done = _done(state)
    return jax.tree.map(lambda old, new: jnp.where(done, old, new), state, new)


Solve = tuple[Float[Array, ""], Callable[[Float[Array, ""]], Float[Array, " p"]]]


def _dense(system: System, parameters: Float[Array, " p"]) -> Solve:
    """The mean diagonal of JJ', and the damped step by Cholesky in the smaller space."""
    jacobian, rows = system.jacobian(parameters), system.rows(parameters)
    m, p = jacobian.shape
    dual = m <= p
    gram = jacobian @ jacobian.T if dual else jacobian.T @ jacobian
    side = rows if dual else jacobian.T @ rows
    eye = jnp.eye(len(gram))

    def step_for(damping: Float[Array, ""]) -> Float[Array, " p"]:
        solved = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(gram + damping * eye), side)
        return jacobian.T @ solved if dual else solved

    return jnp.trace(gram) / m, step_for


def _free(system: System, parameters: Float[Array, " p"]) -> Solve:
    """The same by conjugate gradients on J'J, whose products cost two passes each."""
    rows, forward = jax.linearize(system.rows, parameters)
    backward = jax.linear_transpose(forward, parameters)
    side = backward(rows)[0]

    def step_for(damping: Float[Array, ""]) -> Float[Array, " p"]:
        product = lambda v: backward(forward(v))[0] + damping * v  # noqa: E731
        return jax.scipy.sparse.linalg.cg(product, side, maxiter=CG_STEPS, tol=1e-8)[0]

    along = side / jnp.maximum(jnp.linalg.norm(side), 1e-300)
    return jnp.sum(forward(along) ** 2), step_for
