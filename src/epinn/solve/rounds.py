"""Gauss-Newton in rounds: where the problem gives no sigma, the fit of a round gives the estimate for the next."""

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..derivatives.network import Solution, trainable
from ..problem.channel import Channel
from ..problem.precision import Exact, KnownNoise, Precision, UnknownNoise
from .misfit import Misfit
from .noise import broad, estimate_sigma, first_guess
from .optimise.gauss_newton import gauss_newton
from .optimise.objective import Outcome, PinnObjective
from .task import Task

ROUNDS = {UnknownNoise: 4, Exact: 2}  # sigma that nobody gave is estimated from what a fit leaves over, the fit repeated
AGAIN = 2  # with noise of known size that was broad at first
LOOSE = (100.0, 10.0)  # times its tolerance an exact condition may be missed at first, where measurements come first
BRIEFLY = 1 / 6  # of all steps, for each of these
PAID = 0.05  # squared residuals in units of the tolerance that a compromise may cost: the measurements gain as little by it
AT_ONCE = 3.0  # tolerances become tighter by this factor,
TIGHTER = 0.1  # until they are this part of what a first fit leaves,
GIVEN_UP = 1.0  # or the squared residuals of the measurements, in units of the noise, grow by more than that

T = TypeVar("T")


def in_rounds(task: Task, solution: Solution) -> tuple[list[Outcome], Solution, tuple[Channel, ...]]:
    """All rounds of a task.

    In further attempts the measurements count more than the equations at first: from where these are met, there may be no way
    to those. The prior waits until they are tight: beside loose ones it would make all weights zero, a point that nothing leads
    away from. Student's t noise is broad in the first round. Returns how the rounds went, the solution, and the channels with
    the sigma to go on with.
    """
    settling, outcomes = broad(_tighter(first_guess(task.channels, solution), task.tightness)), []
    rounds = number_of_rounds(task.channels) if task.base.newton else 0
    anew = task.attempt and not task.goes_on
    for looseness in LOOSE if anew and rounds and is_noisy(task.channels) else ():
        looser = tuple(c.with_sigma(looseness * c.sigma) if isinstance(c.precision, Exact) else c for c in settling)
        stage = f"newton, equations {looseness:g} times as loose"
        outcome, solution = one_run(dataclasses.replace(task, prior=None), looser, solution, stage, share=BRIEFLY)
        outcomes.append(outcome)
    for i in range(rounds):
        stage = f"newton {i + 1}" if rounds > 1 else "newton"
        found = _estimated(task, settling, solution) if i > 0 else settling
        if i == 1:
            more, solution, settling = _tightened(task, settling, found, solution, stage, is_last=rounds == 2)
            outcomes += more
            continue
        settling = _with_tolerances(settling, found)
        outcome, solution = one_run(task, settling, solution, stage, is_last=i == rounds - 1)
        outcomes.append(outcome)
    return outcomes, solution, _final(settling, _estimated(task, settling, solution), rounds)


def _estimated(task: Task, channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
    """The channels with sigma as the problem gives it, or else as a fit with `channels` leaves over."""
    found = estimate_sigma(channels, task.elsewhere, solution, PinnObjective, task.prior)
    return tuple(own if isinstance(own.precision, KnownNoise) else new for own, new in zip(task.channels, found, strict=True))


def _tighter(channels: tuple[Channel, ...], factor: float) -> tuple[Channel, ...]:
    return tuple(c if _is_told(c) else c.with_sigma(factor * c.sigma) for c in channels)


def one_run(
    task: Task, channels: tuple[Channel, ...], solution: Solution, stage: str, *, share: float = 1.0, is_last: bool = False
) -> tuple[Outcome, Solution]:
    """One run of it with a share of the steps, and the solution after it."""
    parameters, rest = trainable(solution)
    outcome = gauss_newton(
        PinnObjective(rest),
        parameters,
        channels,
        keys=task.keys,
        steps=int(share * task.base.newton),
        prior=task.prior,
        work=share * task.base.work,
        to_the_mode=task.prior is not None and is_last,
        progress=task.progress,
        stage=task.stage(stage),
    )
    task.account.spend(outcome.work)
    return outcome, eqx.combine(outcome.parameters, rest)


def is_noisy(channels: Sequence[Channel]) -> bool:
    return any(not isinstance(channel.precision, Exact) for channel in channels)


def number_of_rounds(channels: Sequence[Channel]) -> int:
    """How often Gauss-Newton runs. Without noise the solution is the same whatever the tolerance is."""
    if not is_noisy(channels):
        return 1
    return max(_rounds(c.precision) for c in channels)


def _rounds(precision: Precision) -> int:
    if precision.is_settled:
        return 1 if precision.is_gaussian else AGAIN
    return ROUNDS[type(precision)]


def _tightened(
    task: Task, used: tuple[Channel, ...], found: tuple[Channel, ...], solution: Solution, stage: str, *, is_last: bool
) -> tuple[list[Outcome], Solution, tuple[Channel, ...]]:
    """Fits whose exact conditions are to be met better than in a first one: what that leaves of them is a compromise with the
    measurements, rather than all that the network can do.

    Step by step, for as long as a fit can follow: asked for all of it at once, it gives up the measurements, and may not find
    back to them along a valley that has become too narrow.
    """
    least = [c.sigma if _is_told(c) else TIGHTER * c.sigma for c in found]
    settling = _at_least(found, _uncompromising(used, solution), least)
    outcome, solution = one_run(task, settling, solution, f"{stage}, tighter", share=BRIEFLY)
    outcomes, follows = [outcome], np.ones(len(task.problems), bool)
    while np.any(follows & _is_above(settling, least)):
        tighter = _at_least(settling, [c.sigma / AT_ONCE for c in settling], least)
        outcome, then = one_run(task, tighter, solution, f"{stage}, tighter {len(outcomes) + 1}", share=BRIEFLY)
        outcomes.append(outcome)
        given_up = _squares_of_measurements(settling, then) - _squares_of_measurements(settling, solution)
        follows &= ~np.asarray(outcome.unfinished) | (given_up < GIVEN_UP)
        solution, settling = _where(follows, (then, tighter), (solution, settling))
    outcome, solution = one_run(task, settling, solution, stage, is_last=is_last)
    return [*outcomes, outcome], solution, settling


def _squares_of_measurements(channels: tuple[Channel, ...], solution: Solution) -> Float[np.ndarray, " seeds"]:
    """The sum of squared residuals of all that is not exact, in units of the noise."""
    noisy = np.asarray([not isinstance(channel.precision, Exact) for channel in channels])
    return np.asarray(np.sum(Misfit.of(channels, solution).in_all(channels)[:, noisy], axis=1))


def _is_above(channels: Sequence[Channel], least: Sequence[Array]) -> Bool[np.ndarray, " seeds"]:
    """Which seeds have a tolerance that can still become tighter."""
    above = [np.any(np.asarray(c.sigma) > 1.001 * np.asarray(low), axis=1) for c, low in zip(channels, least, strict=True)]
    return np.asarray(np.any(above, axis=0))


def _where(seeds: Bool[np.ndarray, " seeds"], new: T, old: T) -> T:
    """The arrays of some seeds from one tree and those of the others from another."""
    choose = lambda a, b: jnp.where(seeds.reshape(-1, *[1] * (a.ndim - 1)), a, b) if eqx.is_array(a) else a  # noqa: E731
    chosen: T = jax.tree.map(choose, new, old)
    return chosen


def _is_told(channel: Channel) -> bool:
    """Whether its sigma is not ours to choose."""
    return channel.precision.is_settled or isinstance(channel.precision, UnknownNoise)


def _at_least(channels: Sequence[Channel], sigmas: Sequence[Array], least: Sequence[Array]) -> tuple[Channel, ...]:
    """Channels with the given tolerances, or the least ones if these are larger."""
    return tuple(
        c if _is_told(c) else c.with_sigma(jnp.maximum(sigma, low))
        for c, sigma, low in zip(channels, sigmas, least, strict=True)
    )


def _uncompromising(channels: tuple[Channel, ...], solution: Solution) -> list[Array]:
    """Tolerances that are tight enough to leave next to nothing of a compromise. A force that bends a condition by r at the
    tolerance s bends it by r (c / s)^2 at the tolerance c, so that the squares of r / c fall with those of c."""
    paid = Misfit.of(channels, solution).in_all(channels)
    return [c.sigma * jnp.sqrt(PAID / jnp.maximum(paid[:, i, None], PAID)) for i, c in enumerate(channels)]


def _with_tolerances(of: tuple[Channel, ...], channels: tuple[Channel, ...]) -> tuple[Channel, ...]:
    """Channels with the tolerances of others where they are exact."""
    return tuple(old if isinstance(new.precision, Exact) else new for old, new in zip(of, channels, strict=True))


def _final(used: tuple[Channel, ...], left: tuple[Channel, ...], rounds: int) -> tuple[Channel, ...]:
    """The sigma to go on with. An exact condition among noisy ones keeps the tolerance that the last fit was made with, unless
    that was out of reach: a fit follows whatever it is told, and would be told less every time."""
    if rounds < ROUNDS[Exact]:
        return left
    return tuple(
        new.with_sigma(jnp.maximum(new.sigma, old.sigma)) if isinstance(new.precision, Exact) else new
        for old, new in zip(used, left, strict=True)
    )
