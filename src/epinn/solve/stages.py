"""From untrained solutions to fitted ones: epochs, Gauss-Newton, further attempts."""

import dataclasses
import functools
from collections.abc import Callable, Sequence

import equinox as eqx
import numpy as np
import optax

from ..derivatives.network import Solution, trainable
from ..derivatives.units import Units
from ..problem.channel import Channel
from ..problem.problem import Problem
from ..progress import Progress
from .advice import cures
from .config import Base, fold_in
from .evidence import log_evidence
from .failure import with_place
from .implied import implied_error
from .misfit import SOLVED, Misfit
from .noise import first_guess
from .optimise.adam import Descent, Redraw, Weights, minimise
from .optimise.gauss_newton import Plan
from .optimise.objective import Objective, Outcome, PinnObjective, steps_of
from .optimise.whitened import Prior
from .refine import Moved, Places, where_most_is_left
from .rounds import in_rounds
from .seeds import Keys, chosen, stack, unstack
from .task import Fit, Task, called_noise

ALL_OF_IT = 0.9  # of the variation of measurements: if the fit calls so much of it noise, it is said
FURTHER = 2  # times that a fit goes on, at most, with tolerances
TIGHTER = 0.1  # of those before, while its residuals imply
WELL = 0.01  # or more of the variation of a field as its error
REFINEMENTS = 4  # times that points are moved to where most is left, at most
JUDGES = 100  # the round of candidates that a fit is judged at from then on: none that it has points of
MORE = (4.0, 2.0, 1.5)  # times as many of them, where a fit has learned them by heart: the most
ENOUGH = 30  # with which there is work for so many steps of Gauss-Newton, at once, since every number is another program
HOPELESS = 0.5  # of the size of its terms left of a condition: a shorter stretch of time does more than points
WORTHWHILE = 0.8  # of the largest residual, if moving them has left more than that it is not done again


def train_solution(
    solution: Solution,
    channels: Sequence[Channel],
    problem: Problem,
    *,
    keys: Keys,
    descent: Descent,
    weights: Weights,
    objective: Callable[[Solution], Objective] = PinnObjective,
    progress: Progress | None = None,
    stage: str = "training",
) -> tuple[Outcome, Solution]:
    """Minimise the weighted residuals over all parameters of a (stacked) solution; `objective` is made of what is no parameter.

    Returns how it went, and the trained solution. Where the problem says so, points are drawn anew on the way.
    """
    parameters, rest = trainable(solution)
    outcome = minimise(
        objective(rest),
        parameters,
        channels,
        keys=keys,
        descent=descent,
        weights=weights,
        redraw=redraw(problem, solution.units),
        progress=progress,
        stage=stage,
    )
    return outcome, eqx.combine(outcome.parameters, rest)


def redraw(problem: Problem, units: Units | None) -> Redraw | None:
    return Redraw(problem.channels, problem.points.resample, units) if problem.points.resample else None


Start = Callable[[Sequence[int], int], Solution]  # seeds, attempt -> where they begin, stacked


def fit_from(task: Task, start: Start, begun: Sequence[Fit]) -> list[Fit]:
    """All seeds once, from where they have begun already, or from the start."""
    everyone = range(len(task.problems))
    if not begun:
        return fit_once(task, start(everyone, 0))
    rest = dataclasses.replace(task.again(everyone, 0, goes_on=True), label="further")
    further = fit_once(rest, stack([found.solution for found in begun]))
    return [
        dataclasses.replace(new, steps=old.steps, losses=old.losses, seconds=old.seconds + new.seconds)
        for old, new in zip(begun, further, strict=True)
    ]


def fit_with_restarts(task: Task, start: Start, begun: Sequence[Fit] = ()) -> list[Fit]:
    """All seeds; those that have not found the solution go on if they had to end too early, or begin again from other weights.
    The better attempt is kept."""
    fits = fit_from(task, start, begun)
    for attempt in range(1, task.base.restarts + 1):
        if task.account.is_empty:
            break
        lost = [i for i, found in enumerate(fits) if not found.is_found]
        early = [i for i in lost if fits[i].may_go_on and fits[i].failure is None]
        others = [i for i in lost if i not in early]
        further = (
            list(zip(others, fit_once(task.again(others, attempt), start(others, attempt)), strict=True)) if others else []
        )
        if early:
            begin = stack([fits[i].solution for i in early])
            further += zip(early, fit_once(task.again(early, attempt, goes_on=True), begin), strict=True)
        for i, new in further:
            better = _better(fits[i], new, None if task.prior is None else chosen(task.prior, [i]))
            fits[i] = dataclasses.replace(better, seconds=fits[i].seconds + new.seconds)
    return go_on(task, fits)


def go_on(task: Task, fits: list[Fit]) -> list[Fit]:
    """The fits; those without noise go on with tighter tolerances for as long as that brings something, and what they leave
    implies that a field is off. Where conditions do not even hold to some extent, that says nothing."""
    for attempt in range(1, FURTHER + 1):
        if task.prior is not None or task.account.is_empty or any(found.largest > SOLVED for found in fits):
            break
        if not any(not found.stalled and _is_off(found, task.base) for found in fits):
            break
        tighter = dataclasses.replace(task, tightness=TIGHTER**attempt)
        further = tighter.again(range(len(fits)), attempt, goes_on=True)  # all of them: fewer would be another program
        channels = [found.channels for found in fits]
        stay = all(_sizes(own) == _sizes(channels[0]) for own in channels)
        if stay:  # where they are by now, rather than where they began
            grown = _sizes(channels[0]) != list(_numbers(task))
            further = dataclasses.replace(further, channels=tuple(stack(channels)), grown=grown)
        new = fit_once(further, stack([found.solution for found in fits]))
        fits = [_further(*pair, stay) for pair in zip(fits, new, strict=True)]
    return fits


def _further(old: Fit, new: Fit, stay: bool) -> Fit:
    """The better of a fit and what became of it, with the points of the one before if these were to stay."""
    moved = old.moved if stay and new.moved is None else new.moved
    better = dataclasses.replace(new, moved=moved) if new.failure is None and new.misfit < old.misfit else old
    return dataclasses.replace(better, seconds=old.seconds + new.seconds)


def _is_off(found: Fit, base: Base) -> bool:
    return found.failure is None and implied_error(found.channels, found.solution, base.prior) > WELL


def _sizes(channels: Sequence[Channel]) -> list[int]:
    return [len(channel.points) for channel in channels]


def _better(old: Fit, new: Fit, prior: Prior | None) -> Fit:
    """The one of which there is nothing to complain, then the one with the higher evidence where there is noise, else the one
    that leaves less."""
    if old.failure is not None or new.failure is not None:
        return old if new.failure is not None else new
    if bool(old.complaints) != bool(new.complaints):
        return old if new.complaints else new
    if prior is not None:
        evidence = [log_evidence(fit.channels, fit.solution, prior) for fit in (old, new)]
        if evidence[0] is not None and evidence[1] is not None:
            return new if evidence[1] > evidence[0] else old
    return new if new.misfit < old.misfit else old


def fit_once(task: Task, solution: Solution) -> list[Fit]:
    """All seeds from their first weights to their last: epochs, L-BFGS, Gauss-Newton, and more of it where most is left."""
    size, base = len(task.problems), task.base
    outcomes, solution = _first_order(task, solution)
    judges = first_guess(task.elsewhere, solution)
    newton, solution, final = in_rounds(task, solution)
    places: Places = ()
    misfit, at_points = Misfit.of(judges, solution), Misfit.of(task.channels, solution)
    largest = np.full(size, np.inf)
    for i in range(REFINEMENTS if newton else 0):
        now = np.asarray([misfit.largest(seed) for seed in range(size)])
        if (
            task.candidates is None
            or task.account.is_empty
            or not misfit.is_left_between(at_points)
            or np.all(now > WORTHWHILE * largest)
        ):
            break
        largest = now
        before, by_heart = _numbers(task), misfit.learned_by_heart(at_points)
        hopeless = task.marches and np.any(now > HOPELESS)
        numbers = before if task.grown or hopeless else _more(task, by_heart, solution)
        channels, places = where_most_is_left(task.channels, task.candidates(i + 1), solution, fold_in(task.keys, i), numbers)
        if i == 0:  # what is narrow enough to lie between its points lies between as many others
            task = dataclasses.replace(task, elsewhere=task.candidates(JUDGES))
            judges = first_guess(task.elsewhere, solution)
        further = dataclasses.replace(task, channels=channels, round=i + 1, grown=task.grown or numbers != before)
        more, solution, final = in_rounds(further, solution)
        newton, task = [*newton, *more], further
        misfit, at_points = Misfit.of(judges, solution), Misfit.of(task.channels, solution)
    outcomes = [*outcomes, *newton]

    def advice(seed: int, found: Solution) -> list[str]:
        fresh = unstack(judges, size)[seed]
        return cures(task.problems[seed], fresh, found, misfit, at_points, seed, _longer(base, newton, seed))

    return [
        Fit(
            solution=found,
            channels=one if base.trains else before,
            steps=steps_of(outcomes),
            losses=np.concatenate([outcome.losses[:, i] for outcome in outcomes]),
            seconds=sum(outcome.seconds for outcome in outcomes) / size,
            failure=with_place(
                next((outcome.failures[i] for outcome in outcomes if outcome.failures[i]), None),
                before,
                found,
                task.problems[i].domain.coordinates,
            ),
            complaints=[*misfit.complaints(i, task.channels, functools.partial(advice, i, found)), *_all_noise(one)]
            if base.trains and not task.is_trial
            else [],
            misfit=float(misfit.total[i]),
            largest=misfit.largest(i),
            regularised=task.prior is not None and any(outcome.steps for outcome in newton),
            may_go_on=misfit.is_on_its_way(i) and _is_unfinished(newton, i),
            stalled=_has_stalled(newton, i),
            moved=_moved(task, places, i),
        )
        for i, (found, one, before) in enumerate(
            zip(unstack(solution, size), unstack(final, size), unstack(task.channels, size), strict=True)
        )
    ]


def _numbers(task: Task) -> tuple[int, ...]:
    """How many points every condition has."""
    return tuple(len(channel.points[0]) for channel in task.channels)


def _more(task: Task, by_heart: Sequence[bool], solution: Solution) -> tuple[int, ...]:
    """How many points every condition is to have: more where they were learned by heart, if that leaves enough steps."""
    before = _numbers(task)
    parameters = int(optax.tree.size(trainable(solution)[0])) // len(task.problems)
    for times in MORE if any(by_heart) else ():
        more = tuple(round(times * number) if grows else number for grows, number in zip(by_heart, before, strict=True))
        rows = sum(n * c.target[0].size // len(c.target[0]) for n, c in zip(more, task.channels, strict=True))
        if task.base.work >= ENOUGH * Plan.of(rows, parameters, to_the_mode=False).operations:
            return more
    return before


def _moved(task: Task, places: Places, seed: int) -> Moved | None:
    """Where the points of a seed are, if they were moved."""
    if not places:
        return None
    chosen = {c.name: np.asarray(at[seed]) for c, at in zip(task.channels, places, strict=True) if at is not None}
    return Moved(task.round, chosen)


def _has_stalled(newton: Sequence[Outcome], seed: int) -> bool:
    last = newton[-1].stalled if newton else None
    return last is None or last[seed]


def _is_unfinished(newton: Sequence[Outcome], seed: int) -> bool:
    """Whether Gauss-Newton was still getting better when its steps were used up."""
    last = newton[-1].unfinished if newton else None
    return last is not None and last[seed]


def _longer(base: Base, newton: Sequence[Outcome], seed: int) -> str:
    """The settings for ten times as many steps of Gauss-Newton, and how long they take; nothing if it needs no more."""
    if not _is_unfinished(newton, seed):
        return ""
    seconds = 10 * sum(outcome.seconds for outcome in newton)
    time = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    return f"Base(newton={10 * base.newton}, newton_work={10 * base.work:.0e}), which may take {time}"


def _all_noise(channels: Sequence[Channel]) -> list[str]:
    """A sentence for measurements of which the fit explains nothing."""
    return [
        f"nearly all of {c.name!r} is called noise (sigma {float(np.max(c.sigma_outside)):.2g}): the equations explain nothing "
        "of it. If the noise is smaller than that, say so with sigma=..., and give guesses of the unknowns that are nearer."
        for c in channels
        if c.target.size > 2 and called_noise(c) > ALL_OF_IT
    ]


def _first_order(task: Task, solution: Solution) -> tuple[list[Outcome], Solution]:
    """Epochs, and L-BFGS if it is asked for; how they went, and the solution after them."""
    base, outcomes = task.base, []
    stages = {"training": base.descent} | ({"polish": Descent(base.polish, optimizer="lbfgs")} if base.polish else {})
    for stage, descent in stages.items():
        outcome, solution = train_solution(
            solution,
            task.channels,
            task.problems[0],
            keys=task.keys,
            descent=descent,
            weights=task.weights,
            progress=task.progress,
            stage=task.stage(stage),
        )
        outcomes.append(outcome)
    return outcomes, solution
