"""Gauss-Newton with Levenberg-Marquardt damping on the whitened residuals r / sigma, in float64.

A step solves (J'J + damping) step = -J'r in the smaller of its two forms: with as many unknowns as there are parameters, or,
by the identity J'(JJ' + damping)^-1, with as many as there are rows. Above a few thousand of both it is solved by conjugate
gradients, without ever forming J. Hundreds of such steps do what takes a first-order method a hundred thousand.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..derivatives import memory
from ..problem.channel import Channel
from ..progress import Progress
from .adam import Objective, Outcome, medians
from .driver import Call, drive
from .seeds import one_of, over_seeds
from .whitened import Prior, System, double, is_dense

BYTES = 32  # that a seed needs for every entry of its Jacobian, in all
FIRST_STEPS = 5  # of the first compiled call, before it is known how long a step takes
CG_STEPS = 100
CG_TOLERANCE = 1e-4  # a step need not be more precise than the model it is a step of
FACTORS = (0.3, 1.0, 3.0)  # dampings that are tried at once, in parts of the current one
GROWTH = 27.0  # of the damping when none of them lowers the loss
FIRST_DAMPING = 1e-3  # in parts of the mean diagonal of JJ'
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e8
STALLED = 1e-3  # a relative decrease of the loss per step that is not worth the step
NEGLIGIBLE = 0.01  # nor is this decrease of a log posterior: the mode is then known to a small part of its own width
CROSSING = 1e-7  # the same as long as the solution is hardly better than u = 0: a plateau is crossed slowly
SETTLED = 0.05  # the loss, in parts of that of u = 0, below which it has left the plateau
PATIENCE = 20  # such steps in a row end it
SOLVED = 1e-3  # a loss this small, per row: residuals are thirty times below what their tolerance asks for


class State(eqx.Module):
    """One seed on its way down."""

    parameters: Float[Array, " p"]  # in units of the prior's width
    loss: Float[Array, ""]
    damping: Float[Array, ""]
    step: Int[Array, ""]
    idle: Int[Array, ""]  # steps in a row that brought next to nothing
    of_nothing: Float[Array, ""]  # the loss of u = 0


def gauss_newton(
    objective: Objective,
    parameters: Any,
    channels: Sequence[Channel],
    *,
    keys: PRNGKeyArray,
    steps: int,
    prior: Prior | None = None,
    work: float = math.inf,
    to_the_mode: bool = False,
    progress: Progress | None = None,
    stage: str = "newton",
) -> Outcome:
    """Minimise the sum of (r / sigma)^2 in at most this many steps, and at most this many floating-point operations per seed.

    All arrays have a leading seed axis. A seed stops when its loss hardly falls any more; with `to_the_mode`, when what it
    still falls by is nothing beside the width of the posterior. An objective that draws something draws the same at every
    step. The parameters come back in the precision that they had.
    """
    started = time.perf_counter()
    names, dtypes = [channel.name for channel in channels], jax.tree.map(lambda leaf: leaf.dtype, parameters)
    with jax.enable_x64(True):
        exact_objective, exact_channels, exact, prior = double((objective, tuple(channels), parameters, prior))
        like = one_of(exact)
        first, rows = _start_seeds(exact, like, exact_objective, exact_channels, keys, prior)

        def advance(state: State, done: int, count: int) -> Call[State]:
            until = jnp.asarray(done + count)
            state, losses = _advance(state, until, like, exact_objective, exact_channels, keys, prior, rows, to_the_mode)
            return Call(state, losses, medians(names, losses))

        driven = drive(
            stage,
            int(min(steps, work // _operations(rows, first.parameters.shape[1]))),
            advance,
            like=first,
            per_call=FIRST_STEPS,
            unit=1,
            finished=lambda state: bool(np.all(_done(state, rows))),
            progress=progress,
            started=started,
        )
        trained = jax.tree.map(np.asarray, _trees(driven.state, like, exact_objective, exact_channels, keys, prior))
    losses = np.stack(driven.records) if driven.records else np.zeros((0, len(keys), len(names)))
    trained = jax.tree.map(jnp.asarray, trained, dtypes)
    return Outcome(trained, driven.steps, losses, driven.seconds, [None] * len(keys))


def _operations(rows: int, parameters: int) -> float:
    """Floating-point operations of one step, but for the passes through the network where a matrix dominates them."""
    small = min(rows, parameters)
    return 2.0 * rows * parameters * small + small**3 if is_dense(rows, parameters) else 50.0 * CG_STEPS * rows * parameters


def _done(state: State, rows: int) -> Bool[Array, "..."]:
    """Whether nothing more is to be gained."""
    return (state.idle >= PATIENCE) | (state.loss <= SOLVED * jnp.minimum(rows, state.of_nothing))


@eqx.filter_jit
def _start_seeds(
    parameters: Any,
    like: Any,
    objective: Objective,
    channels: tuple[Channel, ...],
    keys: PRNGKeyArray,
    prior: Prior | None,
) -> tuple[State, int]:
    """Where all seeds begin, and how many rows each has."""
    sizes = []

    def one(tree: Any, objective: Objective, channels: tuple[Channel, ...], key: PRNGKeyArray, prior: Prior | None) -> State:
        system = System(objective, channels, key, prior, like)
        vector = system.vector(tree)
        sizes.append(jax.eval_shape(system.rows, vector).size)
        zero = jnp.zeros((), int)
        return State(vector, system.loss(vector), jnp.full((), -1.0, float), zero, zero, system.loss(jnp.zeros_like(vector)))

    return over_seeds(one, parameters, objective, channels, keys, prior), sizes[0]


@eqx.filter_jit
def _advance(
    state: State,
    until: Int[Array, ""],
    like: Any,
    objective: Objective,
    channels: tuple[Channel, ...],
    keys: PRNGKeyArray,
    prior: Prior | None,
    rows: int,
    to_the_mode: bool,
) -> tuple[State, Float[Array, "seeds channels"]]:
    """Steps of every seed: one seed after the other on a CPU, as many as fit into memory at once elsewhere."""

    def one_seed(
        state: State, objective: Objective, channels: tuple[Channel, ...], key: PRNGKeyArray, prior: Prior | None
    ) -> tuple[State, Array]:
        system = System(objective, channels, key, prior, like, to_the_mode)
        state = jax.lax.while_loop(lambda s: (s.step < until) & ~_done(s, rows), lambda s: _step(s, system, rows), state)
        return state, system.mean_squares(state.parameters)

    fit = max(1, memory.available() // (BYTES * rows * state.parameters.shape[1]))
    at_once = 1 if jax.default_backend() == "cpu" else min(fit, len(keys))
    dynamic, static = eqx.partition((state, objective, channels, keys, prior), eqx.is_array)
    return jax.lax.map(lambda arrays: one_seed(*eqx.combine(arrays, static)), dynamic, batch_size=at_once)


@eqx.filter_jit
def _trees(
    state: State,
    like: Any,
    objective: Objective,
    channels: tuple[Channel, ...],
    keys: PRNGKeyArray,
    prior: Prior | None,
) -> Any:
    """The parameters of all seeds in their own units."""

    def one(state: State, objective: Objective, channels: tuple[Channel, ...], key: PRNGKeyArray, prior: Prior | None) -> Any:
        return System(objective, channels, key, prior, like).tree(state.parameters)

    return eqx.filter_vmap(one)(state, objective, channels, keys, prior)


def _step(state: State, system: System, rows: int) -> State:
    """The best of a few dampings; if none lowers the loss, stay and damp more."""
    dense = is_dense(rows, state.parameters.size)
    size, step_for = (_dense if dense else _free)(system, state.parameters)
    damping = jnp.where(state.damping < 0, FIRST_DAMPING * size, state.damping)
    tried = damping * jnp.asarray(FACTORS if dense else FACTORS[:1])  # without a matrix every damping costs the same again
    moved = jax.lax.map(lambda d: state.parameters - step_for(d), tried)
    losses = jax.lax.map(system.loss, moved)
    losses = jnp.where(jnp.isfinite(losses), losses, jnp.inf)
    best = jnp.argmin(losses)
    better = losses[best] < state.loss
    enough = jnp.where(state.loss < SETTLED * state.of_nothing, STALLED, CROSSING)
    worth = jnp.minimum(enough * state.loss, NEGLIGIBLE) if system.to_the_mode else enough * state.loss
    return State(
        parameters=jnp.where(better, moved[best], state.parameters),
        loss=jnp.where(better, losses[best], state.loss),
        damping=jnp.clip(jnp.where(better, tried[best], damping * GROWTH), LEAST_DAMPING * size, MOST_DAMPING * size),
        step=state.step + 1,
        idle=jnp.where(better & (state.loss - losses[best] > worth), 0, state.idle + 1),
        of_nothing=state.of_nothing,
    )


Solve = tuple[Float[Array, ""], Callable[[Float[Array, ""]], Float[Array, " p"]]]


def _dense(system: System, parameters: Float[Array, " p"]) -> Solve:
    """The mean diagonal of JJ', and the damped step by Cholesky in the smaller space."""
    jacobian, rows = system.jacobian(parameters), system.rows(parameters)
    m, p = jacobian.shape
    ridge, away = system.ridge, system.from_center(parameters)
    gram = jacobian @ jacobian.T if m <= p else jacobian.T @ jacobian
    eye = jnp.eye(len(gram))

    def step_for(damping: Float[Array, ""]) -> Float[Array, " p"]:
        factor = jax.scipy.linalg.cho_factor(gram + (damping + ridge) * eye)
        if m > p:
            return jax.scipy.linalg.cho_solve(factor, jacobian.T @ rows + ridge * away)
        shift = ridge / (damping + ridge) * away  # the prior's pull, as far as the rows do not know better
        return shift + jacobian.T @ jax.scipy.linalg.cho_solve(factor, rows - jacobian @ shift)

    return jnp.trace(gram) / m, step_for


def _free(system: System, parameters: Float[Array, " p"]) -> Solve:
    """The same by conjugate gradients on J'J, whose products cost two passes each."""
    rows, forward = jax.linearize(system.rows, parameters)
    backward = jax.linear_transpose(forward, parameters)
    ridge = system.ridge
    side = backward(rows)[0] + ridge * system.from_center(parameters)

    def step_for(damping: Float[Array, ""]) -> Float[Array, " p"]:
        product = lambda v: backward(forward(v))[0] + (damping + ridge) * v  # noqa: E731
        return jax.scipy.sparse.linalg.cg(product, side, maxiter=CG_STEPS, tol=CG_TOLERANCE)[0]

    along = side / jnp.maximum(jnp.linalg.norm(side), 1e-300)
    return jnp.sum(forward(along) ** 2) / 10, step_for
