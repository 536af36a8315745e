"""From untrained solutions to fitted ones: epochs, Gauss-Newton in rounds, further attempts."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from ..derivatives.network import Solution, trainable
from ..problem.channel import Channel, residuals
from ..problem.precision import Exact, UnknownNoise
from ..problem.problem import Problem
from ..progress import Progress
from .adam import Descent, Objective, Outcome, Redraw, Weights, minimise
from .config import Base, fold_in
from .gauss_newton import gauss_newton
from .misfit import Goodness
from .noise import estimated, first_guess
from .seeds import chosen, unstack
from .whitened import Prior

ROUNDS = {UnknownNoise: 4, Exact: 2}  # sigma that nobody gave is estimated from what a fit leaves over, the fit repeated


class PinnObjective(Objective):
    """The residuals of a candidate solution."""

    rest: Solution

    def residuals(self, parameters: Solution, channels: Sequence[Channel], prepared: None, key: PRNGKeyArray) -> list[Array]:
        return residuals(channels, eqx.combine(parameters, self.rest))


def train_solution(
    solution: Solution,
    channels: Sequence[Channel],
    problem: Problem,
    *,
    objective: Callable[[Solution], Objective] = PinnObjective,
    **options: Any,
) -> tuple[Outcome, Solution]:
    """Minimise over all parameters of a (stacked) solution."""
    parameters, rest = trainable(solution)
    outcome = minimise(objective(rest), parameters, channels, redraw=redraw(problem), **options)
    return outcome, eqx.combine(outcome.parameters, rest)


def redraw(problem: Problem) -> Redraw | None:
    return Redraw(problem.channels, problem.points.resample) if problem.points.resample else None


@dataclass(frozen=True, eq=False)
class Fit:
    """One seed after all stages of training."""

    solution: Solution
    channels: tuple[Channel, ...]
    steps: list[int]
    losses: np.ndarray
    seconds: float
    failure: str | None
    misfits: list[str]
    distance: float  # from the conditions, in units of their noise

    def ranks_before(self, other: "Fit") -> bool:
        return (self.failure is not None, self.distance) < (other.failure is not None, other.distance)


Start = Callable[[Sequence[int], int], Solution]  # seeds, attempt -> where they begin, stacked


def descend(
    base: Base,
    problems: Sequence[Problem],
    start: Start,
    channels: tuple[Channel, ...],
    elsewhere: tuple[Channel, ...],
    prior: Prior | None,
    keys: PRNGKeyArray,
    weights: Weights,
    progress: Progress,
) -> list[Fit]:
    """All seeds, those that have not found the solution again from other weights, the better attempt kept.

    A fit is judged by the same conditions `elsewhere`: at other points, or without what perturbed them.
    """
    everyone = list(range(len(problems)))
    fits = _descend(base, problems, start(everyone, 0), channels, elsewhere, prior, keys, weights, progress)
    for attempt in range(1, base.restarts + 1):
        lost = [i for i, found in enumerate(fits) if found.misfits or found.failure]
        if not lost:
            break
        tried = _descend(
            base,
            [problems[i] for i in lost],
            start(lost, attempt),
            chosen(channels, lost),
            chosen(elsewhere, lost),
            chosen(prior, lost),
            fold_in(keys[np.asarray(lost)], attempt),
            weights,
            progress,
            f", restart {attempt}",
        )
        for i, new in zip(lost, tried, strict=True):
            better = new if new.ranks_before(fits[i]) else fits[i]
            fits[i] = dataclasses.replace(better, seconds=fits[i].seconds + new.seconds)
    return fits


def _descend(
    base: Base,
    problems: Sequence[Problem],
    solution: Solution,
    channels: tuple[Channel, ...],
    elsewhere: tuple[Channel, ...],
    prior: Prior | None,
    train_keys: PRNGKeyArray,
    weights: Weights,
    progress: Progress,
    suffix: str = "",
) -> list[Fit]:
    """All seeds from their first weights to their last: epochs, L-BFGS, Gauss-Newton."""
    size = len(problems)
    stages = {"training": base.descent} | ({"polish": Descent(base.polish, optimizer="lbfgs")} if base.polish else {})
    outcomes = []
    for stage, descent in stages.items():
        outcome, solution = train_solution(
            solution,
            channels,
            problems[0],
            keys=train_keys,
            descent=descent,
            weights=weights,
            progress=progress,
            stage=stage + suffix,
        )
        outcomes.append(outcome)
    settling, judges = first_guess(channels, solution), first_guess(elsewhere, solution)
    rounds = _rounds(channels) if base.newton else 0
    for i in range(rounds):
        if i > 0:
            found = estimated(settling, elsewhere, solution, PinnObjective, prior)
            settling = found if i == 1 else _with_tolerances(settling, found)
        parameters, rest = trainable(solution)
        outcome = gauss_newton(
            PinnObjective(rest),
            parameters,
            settling,
            keys=train_keys,
            steps=base.newton,
            prior=prior,
            work=base.work,
            to_the_mode=prior is not None and i == rounds - 1,
            progress=progress,
            stage="newton" + (f" {i + 1}" if rounds > 1 else "") + suffix,
        )
        solution = eqx.combine(outcome.parameters, rest)
        outcomes.append(outcome)
    final = _final(settling, estimated(settling, elsewhere, solution, PinnObjective, prior), rounds)
    goodness = Goodness.of(judges, solution)
    return [
        Fit(
            solution=found,
            channels=one if base.trains else before,
            steps=outcomes[0].steps,
            losses=outcomes[0].losses[:, i],
            seconds=sum(outcome.seconds for outcome in outcomes) / size,
            failure=next((outcome.failures[i] for outcome in outcomes if outcome.failures[i]), None),
            misfits=goodness.misfits(i, channels) if base.trains else [],
            distance=float(goodness.total[i]),
        )
        for i, (found, one, before) in enumerate(
            zip(unstack(solution, size), unstack(final, size), unstack(channels, size), strict=True)
        )
    ]


def is_noisy(channels: Sequence[Channel]) -> bool:
    return any(not isinstance(channel.precision, Exact) for channel in channels)


def _rounds(channels: Sequence[Channel]) -> int:
    """How often Gauss-Newton runs. Without noise the solution is the same whatever the tolerance is."""
    if not is_noisy(channels):
        return 1
    return max(1 if c.precision.is_settled else ROUNDS[type(c.precision)] for c in channels)


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
