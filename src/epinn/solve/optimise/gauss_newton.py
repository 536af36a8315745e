"""Gauss-Newton with Levenberg-Marquardt damping on the whitened residuals r / sigma, in float64.

A step solves (J'J + damping) step = -J'r in the smaller of its two forms: with as many unknowns as there are parameters, or,
by the identity J'(JJ' + damping)^-1, with as many as there are rows. Where J is formed, the curvature of the residuals along
the step bends it (geodesic acceleration): with the same factor at hand this costs little, and a third of the steps do. Above a
few thousand of both a step is solved by conjugate gradients, without ever forming J. Hundreds of such steps do what takes a
first-order method a hundred thousand.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.scipy.sparse.linalg import cg
from jaxtyping import Array, Bool, Float, Int

from ...problem.channel import Channel
from ...progress import Progress
from ..double import cast_like, in_double
from ..seeds import Keys, one_of, over_seeds, seeds_at_once
from .driver import Call, Driven, drive
from .objective import Objective, Outcome, medians, recorded
from .smaller_space import Gram, is_dense
from .whitened import Prior, System

BYTES = 32  # that a seed needs for every entry of its Jacobian, in all
FIRST_STEPS = 5  # of the first compiled call, before it is known how long a step takes
SMALL = 1000  # the side of a matrix up to which several are worked on at once
CG_STEPS = 100
CG_TOLERANCE = 1e-4  # a step need not be more precise than the model it is a step of
FACTORS = (0.3, 0.03, 1.0, 3.0)  # dampings that are tried at once, in parts of the current one
AHEAD = 0.1  # of a step, where its curvature is looked at: exact enough, and cheaper than derivatives of derivatives
BENT = 0.75  # a step may be bent by this part of its length; if it would be more, the curvature is not to be trusted
GROWTH = 27.0  # of the damping when none of them lowers the loss
FIRST_DAMPING = 1e-3  # in parts of the mean diagonal of JJ'
LEAST_DAMPING, MOST_DAMPING = 1e-14, 1e8
STALLED = 1e-3  # a relative decrease of the loss per step that is not worth the step
NEGLIGIBLE = 0.01  # nor is this decrease of a log posterior: the mode is then known to a small part of its own width
CROSSING = 1e-7  # the same as long as the solution is hardly better than u = 0: a plateau is crossed slowly
SETTLED = 0.05  # the loss, in parts of that of u = 0, below which it has left the plateau
PATIENCE = 20  # such steps in a row end it
SOLVED = 1e-4  # a loss this small, per row: residuals are a hundred times below what their tolerance asks for


class State(eqx.Module):
    """One seed on its way down."""

    parameters: Float[Array, " p"]  # in units of the prior's width
    loss: Float[Array, ""]
    damping: Float[Array, ""]
    step: Int[Array, ""]
    idle: Int[Array, ""]  # steps in a row that brought next to nothing
    loss_of_zero: Float[Array, ""]  # of the network whose parameters are all zero, and u with them


def gauss_newton(
    objective: Objective,
    parameters: Any,
    channels: Sequence[Channel],
    *,
    keys: Keys,
    steps: int,
    prior: Prior | None = None,
    work: float = math.inf,
    to_the_mode: bool = False,
    progress: Progress | None = None,
    stage: str = "newton",
) -> Outcome:
    """Minimise the sum of squared whitened residuals (r / sigma)^2, and of squared distances from the prior's center.

    At most so many `steps` and floating-point operations (`work`) are made per seed. A seed stops when its loss hardly falls
    any more; with `to_the_mode`, when what it still falls by is nothing beside the width of the posterior. All arrays have a
    leading seed axis. An objective that draws something draws the same at every step. The parameters come back in the
    precision that they had.
    """
    started = time.perf_counter()

    def solve(objective: Objective, channels: tuple[Channel, ...], parameters: Any, prior: Prior | None) -> Any:
        systems = System(objective, channels, keys, prior, one_of(parameters))
        first, rows = _start(systems, parameters)
        plan = Plan.of(rows, first.parameters.shape[1], to_the_mode)
        total = int(min(steps, work // plan.operations))
        driven = _drive(systems, first, plan, total, progress, stage, started)
        done = int(np.max(np.asarray(driven.state.step), initial=0)) * plan.operations
        return driven, done, _trees(systems, driven.state), ~_is_done(driven.state, rows), driven.state.idle >= PATIENCE

    rows, size = sum(channel.target[0].size for channel in channels), int(optax.tree.size(parameters)) // len(keys)
    driven, work, found, *ends = in_double(solve, objective, tuple(channels), parameters, prior, side=min(rows, size))
    losses = recorded(driven, len(keys), len(channels))
    unfinished, stalled = (np.asarray(end).tolist() for end in ends)
    trained = cast_like(found, parameters)
    return Outcome(trained, driven.steps, losses, driven.seconds, [None] * len(keys), unfinished, stalled, work)


def _drive(
    systems: System, first: State, plan: "Plan", total: int, progress: Progress | None, stage: str, started: float
) -> Driven[State]:
    """All steps of all seeds from their first state."""
    names = [channel.name for channel in systems.channels]

    def advance(state: State, done: int, count: int) -> Call[State]:
        state, losses = _advance(state, systems, jnp.asarray(done + count), plan)
        return Call(state, losses, medians(names, losses))

    return drive(
        stage,
        total,
        advance,
        like=first,
        per_call=FIRST_STEPS,
        unit=1,
        finished=lambda state: bool(np.all(_is_done(state, plan.rows))),
        progress=progress,
        started=started,
    )


@dataclass(frozen=True)
class Plan:
    """How the steps are computed. It is decided before they are compiled, so that another memory limit is another program."""

    rows: int  # whitened residuals of one seed
    parameters: int
    dense: bool  # whether the Jacobian is formed
    at_once: int  # seeds that are computed together
    to_the_mode: bool

    @classmethod
    def of(cls, rows: int, parameters: int, to_the_mode: bool) -> "Plan":
        return cls(rows, parameters, is_dense(rows, parameters), seeds_at_once(BYTES * rows * parameters), to_the_mode)

    @property
    def together(self) -> int:
        """Steps that are tried side by side rather than one after the other: small ones keep no machine busy alone."""
        return 2 * len(FACTORS) if min(self.rows, self.parameters) <= SMALL else 1

    @property
    def operations(self) -> float:
        """Floating-point operations of one step, but for the passes through the network where a matrix dominates them."""
        small = min(self.rows, self.parameters)
        if self.dense:
            return 3.0 * self.rows * self.parameters * small + len(FACTORS) * small**3
        return 50.0 * CG_STEPS * self.rows * self.parameters


def _is_done(state: State, rows: int) -> Bool[Array, "..."]:
    """Whether nothing more is to be gained."""
    return (state.idle >= PATIENCE) | (state.loss <= SOLVED * jnp.minimum(rows, state.loss_of_zero))


@eqx.filter_jit
def _start(systems: System, parameters: Any) -> tuple[State, int]:
    """Where all seeds begin, and how many rows each has."""

    def one(system: System, tree: Any) -> tuple[State, int]:
        vector, zero = system.vector(tree), jnp.zeros((), int)
        state = State(vector, system.loss(vector), jnp.full((), -1.0, float), zero, zero, system.loss(jnp.zeros_like(vector)))
        return state, jax.eval_shape(system.rows, vector).size

    return over_seeds(one, systems, parameters)


@eqx.filter_jit
def _advance(state: State, systems: System, until: Int[Array, ""], plan: Plan) -> tuple[State, Float[Array, "seeds channels"]]:
    """Steps of every seed until it is done, and its mean squared residuals by channel."""

    def one(state: State, system: System) -> tuple[State, Float[Array, " channels"]]:
        goes_on = lambda s: (s.step < until) & ~_is_done(s, plan.rows)  # noqa: E731
        state = jax.lax.while_loop(goes_on, lambda s: _step(s, system, plan), state)
        return state, system.mean_squares(state.parameters)

    return over_seeds(one, state, systems, at_once=plan.at_once)


@eqx.filter_jit
def _trees(systems: System, state: State) -> Any:
    """The parameters of all seeds in their own units."""
    return over_seeds(lambda system, state: system.tree(state.parameters), systems, state)


def _step(state: State, system: System, plan: Plan) -> State:
    """The best of a few dampings; if none lowers the loss, stay and damp more."""
    size, step_for = (_dense if plan.dense else _free)(system, state.parameters)
    damping = jnp.where(state.damping < 0, FIRST_DAMPING * size, state.damping)
    tried = damping * jnp.asarray(FACTORS if plan.dense else FACTORS[:1])  # without a matrix every damping costs the same again
    moved = state.parameters + jax.lax.map(step_for, tried, batch_size=plan.together)
    several = moved.shape[1]  # for each damping
    moved = moved.reshape(-1, plan.parameters)
    losses = jax.lax.map(system.loss, moved, batch_size=plan.together)
    losses = jnp.where(jnp.isfinite(losses), losses, jnp.inf)
    best = jnp.argmin(losses)
    better = losses[best] < state.loss
    enough = jnp.where(state.loss < SETTLED * state.loss_of_zero, STALLED, CROSSING)
    worth = jnp.minimum(enough * state.loss, NEGLIGIBLE) if plan.to_the_mode else enough * state.loss
    return State(
        parameters=jnp.where(better, moved[best], state.parameters),
        loss=jnp.where(better, losses[best], state.loss),
        damping=jnp.clip(
            jnp.where(better, tried[best // several], damping * GROWTH), LEAST_DAMPING * size, MOST_DAMPING * size
        ),
        step=state.step + 1,
        idle=jnp.where(better & (state.loss - losses[best] > worth), 0, state.idle + 1),
        loss_of_zero=state.loss_of_zero,
    )


Solve = tuple[Float[Array, ""], Callable[[Float[Array, ""]], Float[Array, "several p"]]]


def _dense(system: System, parameters: Float[Array, " p"]) -> Solve:
    """The mean diagonal of JJ', and the damped step by Cholesky in the smaller space, straight and bent."""
    gram, rows = Gram.of(system.jacobian(parameters)), system.rows(parameters)
    pull = system.ridge * system.from_center(parameters)

    def step_for(damping: Float[Array, ""]) -> Float[Array, "2 p"]:
        solve = gram.solver(damping + system.ridge)
        straight = -solve(rows, pull)
        ahead = (system.rows(parameters + AHEAD * straight) - rows) / AHEAD
        curvature = 2 * (ahead - gram.jacobian @ straight) / AHEAD
        bend = -0.5 * solve(curvature, jnp.zeros_like(pull))
        trusted = 2 * jnp.linalg.norm(bend) <= BENT * jnp.linalg.norm(straight)
        return jnp.stack([straight, straight + jnp.where(trusted, bend, 0.0)])

    return gram.mean_square, step_for


def _free(system: System, parameters: Float[Array, " p"]) -> Solve:
    """The same by conjugate gradients on J'J, whose products cost two passes each."""
    rows, forward = jax.linearize(system.rows, parameters)
    backward = jax.linear_transpose(forward, parameters)
    ridge = system.ridge
    side = backward(rows)[0] + ridge * system.from_center(parameters)

    def step_for(damping: Float[Array, ""]) -> Float[Array, "1 p"]:
        product = lambda v: backward(forward(v))[0] + (damping + ridge) * v  # noqa: E731
        step: Float[Array, " p"] = cg(product, side, maxiter=CG_STEPS, tol=CG_TOLERANCE)[0]  # type: ignore[no-untyped-call]
        return -step[None]

    along = side / jnp.maximum(jnp.linalg.norm(side), 1e-300)
    return jnp.sum(forward(along) ** 2) / 10, step_for
