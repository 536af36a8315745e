"""Further starts from other guesses of the unknowns: whether something else explains the measurements as well.

A start holds the unknowns at other values and lets the network of the fit follow them, as far as the equations go; then it sets
them free, with the measurements. So it costs a tenth of a fit or so: it has a network already, and ends at loose tolerances.
Only where it ends with other unknowns that explain the measurements as well is it followed further.

What is compared is the likelihood of the measurements and what the user stated of the unknowns, not the evidence: that counts
the weights too, and says that one of two identical curves is the better one if a network has it more easily.
"""

import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.compiled import runs_once
from ..derivatives.network import Solution
from ..problem.channel import Channel
from ..problem.precision import Exact
from ..problem.problem import Problem
from .config import fold_in
from .evidence import spread_of_unknowns
from .explanations import Explanation, Modes
from .misfit import Misfit
from .noise import first_guess
from .optimise.gauss_newton import Plan
from .optimise.whitened import Prior
from .prior import raw_prior
from .rounds import number_of_rounds, one_run
from .seeds import Keys, chosen, stack, unstack
from .stages import fit_once
from .task import Account, Fit, Task

MOST = 4  # starts, where nobody says how many
SHARE = 0.5  # of the work of the fit, that they may take in all
EPOCH = 0.1  # of a step of Gauss-Newton is about what an epoch costs
HELD, FREED, FOLLOWED = 0.1, 0.2, 0.2  # of the steps of a fit: with unknowns held, set free, and for what seems to be another
LEAST = 100  # steps that a fit must be allowed, or these are too few to arrive anywhere
TIGHTLY = 1e-4  # of its unit, as the width of a prior: what holds an unknown
IGNORED = 1e3  # times its noise, where a measurement is to count for nothing
TIGHTER = 0.1  # of the first tolerances, where what seems to be another explanation is followed
FACTOR = 5.0  # between a positive unknown and where a start begins, as one standard deviation
AROUND = (1.0, 3.0)  # the same for one that may have any sign, in parts of its size: for the first two starts, and for others
OF_ONE_SIZE = 10.0  # guesses of two unknowns that may change places differ by less than this factor
CLEAR = 5.0  # of a log likelihood: what is worse by more explains the measurements less well
PROMISING = 20.0  # and what is worse by more after a start is not followed
APART = 0.1  # of an unknown: what is nearer is the same,
SPREADS = 5.0  # and what is no more standard deviations away
STARTS = 3000  # what the keys of starts are folded with: more than there are attempts and stages


def with_other_explanations(task: Task, fits: list[Fit]) -> list[Fit]:
    """The fits, each with what further starts have found; one that explains its measurements clearly less well than another
    explanation gives way to it."""
    if not _looks_further(task, fits):
        return fits
    began, most = time.perf_counter(), MOST if task.base.starts is None else task.base.starts
    account = _account(task)
    search = _Search(dataclasses.replace(task, account=account), fits)
    made = 0
    while made < most and not account.is_empty:
        search.start(made)
        made += 1
    parts = zip(fits, task.problems, search.found, strict=True)
    found = [_with_modes(fit, problem, own, made) for fit, problem, own in parts]
    if any(_gives_way(own) for own in search.found):
        found = _with_the_better(task, found, search, made)
    seconds = (time.perf_counter() - began) / len(fits)
    return [dataclasses.replace(one, seconds=one.seconds + seconds) for one in found]


def _looks_further(task: Task, fits: Sequence[Fit]) -> bool:
    """Whether there are unknowns to be found from measurements, a fit that nothing is wrong with, and steps enough."""
    problem, base = task.problems[0], task.base
    if not problem.parameters or task.prior is None or base.starts == 0 or not any(map(_is_good, fits)):
        return False
    return bool(min(base.newton, base.work // _step(task)) >= LEAST)


def _is_good(fit: Fit) -> bool:
    return fit.failure is None and not fit.complaints


def _step(task: Task) -> float:
    """The floating-point operations of a step of Gauss-Newton."""
    rows, parameters = task.base.size(task.problems[0])
    return Plan.of(rows, parameters, to_the_mode=False).operations


def _account(task: Task) -> Account:
    """What starts may use: counted, not timed, so that their number is the same whenever the fit is."""
    if task.base.starts is not None:
        return Account()
    spent = Account.of(task.base).left - task.account.left + EPOCH * task.base.epochs * _step(task)
    return Account(min(SHARE * spent, task.account.left))


@dataclass(frozen=True, eq=False)
class _Found:
    """An explanation of one seed: the fit itself, or where a start has ended."""

    solution: Solution
    channels: tuple[Channel, ...]
    prior: Prior
    squares: float  # -2 log likelihood of the measurements, and of what the user stated of the unknowns
    starts: int = 0

    @functools.cached_property
    def raw(self) -> dict[str, float]:
        return _raw(self.solution)

    @functools.cached_property
    def spread(self) -> dict[str, float]:
        return spread_of_unknowns(self.channels, self.solution, self.prior) or {}

    def is_at(self, raw: Mapping[str, float]) -> bool:
        """Whether other values of the unknowns are the same beside how well they are known."""
        away = {name: abs(value - raw[name]) for name, value in self.raw.items()}
        logs = self.solution.positive
        far = [n for n, d in away.items() if d > APART * (1.0 if n in logs else max(abs(self.raw[n]), abs(raw[n])))]
        return not any(away[name] > SPREADS * self.spread.get(name, 0.0) for name in far)


class _Search:
    """The starts of all seeds at once, so that they run the programs that the fit has compiled, and what they have found: for
    each seed its fit, then other explanations."""

    def __init__(self, task: Task, fits: Sequence[Fit]):
        assert task.prior is not None
        self._task, self._prior, self._fits = task, task.prior, fits
        self._solution = stack([fit.solution for fit in fits])
        loose = first_guess(task.channels, self._solution)
        final = stack([fit.channels for fit in fits])
        self._loose = tuple(a if isinstance(a.precision, Exact) else b for a, b in zip(loose, final, strict=True))
        self._tight = tuple(c if _is_told(c) else c.with_sigma(TIGHTER * c.sigma) for c in self._loose)
        self._loose_squares = self._squares(self._loose, self._solution)
        self.found = [[one] for one in self._explained(self._solution)]

    def start(self, number: int) -> None:
        """One more start for every seed."""
        task = dataclasses.replace(self._task, label=f"start {number + 1}")
        solution = _freed(task, self._loose, self._held(task, number))
        squares = self._squares(self._loose, solution)
        elsewhere = [
            _is_good(fit) and bool(squares[i] < self._loose_squares[i] + 2 * PROMISING) and not self._counted(i, _raw(own))
            for i, (fit, own) in enumerate(zip(self._fits, unstack(solution, len(self._fits)), strict=True))
        ]
        if any(elsewhere):
            self._follow(task, solution, elsewhere)

    def _counted(self, seed: int, raw: Mapping[str, float]) -> bool:
        """Whether a start has ended at what is known already, which is then counted."""
        for which, one in enumerate(self.found[seed]):
            if one.is_at(raw):
                self.found[seed][which] = dataclasses.replace(one, starts=one.starts + 1)
                return True
        return False

    def _held(self, task: Task, number: int) -> Solution:
        """The network with other values of the unknowns, as far as the equations go: measurements count for nothing."""
        raw = _begins(task, self._solution, number)
        widths = {name: jnp.full_like(value, TIGHTLY) for name, value in raw.items()}
        center, spread = (
            dataclasses.replace(tree, raw=own) for tree, own in ((self._prior.center, raw), (self._prior.spread, widths))
        )
        channels = tuple(c if isinstance(c.precision, Exact) else c.with_sigma(IGNORED * c.sigma) for c in self._loose)
        held = dataclasses.replace(task, prior=Prior(center, spread))
        begin = dataclasses.replace(self._solution, raw=raw)
        return one_run(held, channels, begin, "unknowns held", share=HELD, is_last=_is_only(channels))[1]

    def _follow(self, task: Task, solution: Solution, elsewhere: Sequence[bool]) -> None:
        """Take what seems to be another explanation to tighter tolerances, and keep it if it is one."""
        outcome, solution = one_run(task, self._tight, solution, "tighter", share=FOLLOWED, is_last=_is_only(self._tight))
        if outcome.unfinished and any(itertools.compress(outcome.unfinished, elsewhere)):
            outcome, solution = one_run(task, self._tight, solution, "tighter 2", share=FOLLOWED, is_last=_is_only(self._tight))
        misfit = Misfit.of(first_guess(task.elsewhere, solution), solution)
        for i, one in enumerate(self._explained(solution)):
            ended = not (outcome.unfinished and outcome.unfinished[i]) and not misfit.complaints(i, task.channels)
            if elsewhere[i] and ended and not self._counted(i, one.raw) and one.squares < self.found[i][0].squares + 2 * CLEAR:
                self.found[i].append(dataclasses.replace(one, starts=1))

    def _explained(self, solution: Solution) -> list[_Found]:
        size, squares = len(self._fits), self._squares(self._tight, solution)
        parts = zip(unstack(solution, size), unstack(self._tight, size), squares.tolist(), strict=True)
        return [_Found(own, channels, chosen(self._prior, [i]), found) for i, (own, channels, found) in enumerate(parts)]

    def _squares(self, channels: tuple[Channel, ...], solution: Solution) -> Float[np.ndarray, " seeds"]:
        """-2 log likelihood, up to a constant."""
        measured = np.sum(Misfit.of(channels, solution).in_all(channels), axis=1)
        alone = unstack(solution, len(self._fits))
        stated = [_stated(problem, own) for problem, own in zip(self._task.problems, alone, strict=True)]
        total = measured + np.asarray(stated)
        return np.where(np.isfinite(total), total, np.inf)


def _is_told(channel: Channel) -> bool:
    return not isinstance(channel.precision, Exact) or channel.precision.is_settled


def _is_only(channels: tuple[Channel, ...]) -> bool:
    """Whether a fit has one round of Gauss-Newton, so that there is no program but that of the last one."""
    return number_of_rounds(channels) == 1


def _freed(task: Task, channels: tuple[Channel, ...], solution: Solution) -> Solution:
    """A solution whose unknowns may go where the measurements want them."""
    return one_run(task, channels, solution, "newton", share=FREED, is_last=_is_only(channels))[1]


def _unit(solution: Solution, name: str) -> float | None:
    return None if solution.units is None else float(solution.units.unknowns[name])


def _raw(solution: Solution) -> dict[str, float]:
    """What stands for the unknowns of one seed."""
    return {name: float(np.asarray(value)) for name, value in solution.raw.items()}


def _stated(problem: Problem, solution: Solution) -> float:
    """The squared distances of unknowns from what the user stated of them, in standard deviations."""
    squares = 0.0
    for name, value in _raw(solution).items():
        if problem.parameters[name].prior is not None:
            mean, sd = raw_prior(problem.parameters[name], _unit(solution, name))
            squares += ((value - mean) / sd) ** 2
    return squares


def _begins(task: Task, solution: Solution, number: int) -> dict[str, Array]:
    """Where the unknowns of all seeds begin: first at what symmetries would make of those found, then at random."""
    alone = unstack(solution, len(task.problems))
    pair = (number - len(_mirrored(task.problems[0], alone[0]))) // 2
    normal = np.asarray(_normal(fold_in(task.keys, STARTS + max(pair, 0)), len(solution.raw)))
    begins = [
        _begin(problem, own, number, dict(zip(own.raw, normal[i].tolist(), strict=True)))
        for i, (problem, own) in enumerate(zip(task.problems, alone, strict=True))
    ]
    return {
        name: jnp.asarray([begin[name] for begin in begins], value.dtype).reshape(value.shape)
        for name, value in solution.raw.items()
    }


@runs_once
def _normal(keys: Keys, number: int) -> Float[Array, "seeds number"]:
    return jax.vmap(lambda key: jax.random.normal(key, (number,)))(keys)


def _begin(problem: Problem, solution: Solution, number: int, normal: Mapping[str, float]) -> dict[str, float]:
    """Where the unknowns of one seed begin. Two starts after each other, around the guess and around what was found, go to
    opposite sides of these."""
    raw, mirrored = _raw(solution), _mirrored(problem, solution)
    if number < len(mirrored):
        return raw | mirrored[number]
    begin, (pair, is_second) = {}, divmod(number - len(mirrored), 2)
    for name, unknown in problem.parameters.items():
        unit = _unit(solution, name)
        guess = unknown.raw(1.0 if unit is None else unit)
        if unknown.prior is not None:
            center, width = raw_prior(unknown, unit)
        else:
            center, size = raw[name] if is_second else guess, max(abs(guess), abs(raw[name])) or 1.0
            width = math.log(FACTOR) if unknown.positive else AROUND[min(pair, 1)] * size
        begin[name] = center + (-width if is_second else width) * normal[name]
    return begin


def _mirrored(problem: Problem, solution: Solution) -> list[dict[str, float]]:
    """What symmetries would make of the unknowns: those that may have any sign with the other one, and two positive ones
    changed for each other, the two whose guesses are nearest to each other, if these are of one size."""
    raw, unknowns = _raw(solution), problem.parameters
    signs = {name: -raw[name] for name, unknown in unknowns.items() if not unknown.positive}
    guesses = {name: math.log(unknown.guess) for name, unknown in unknowns.items() if unknown.positive}
    pairs = {(a, b): abs(guesses[a] - guesses[b]) for a, b in itertools.combinations(guesses, 2)}
    made = [signs] if signs else []
    nearest = [pair for pair, apart in pairs.items() if apart == min(pairs.values()) and apart < math.log(OF_ONE_SIZE)]
    for a, b in nearest[:1]:
        apart = math.log((_unit(solution, a) or 1.0) / (_unit(solution, b) or 1.0))
        made.append({a: raw[b] - apart, b: raw[a] + apart})
    return made


def _with_modes(fit: Fit, problem: Problem, found: Sequence[_Found], made: int) -> Fit:
    """A fit with what starts have found beside it."""
    if not _is_good(fit):
        return fit
    own, *others = found
    said = tuple(_said(other, problem, own.squares) for other in others if other.squares < own.squares + 2 * CLEAR)
    return dataclasses.replace(fit, modes=Modes(made, own.starts, said))


def _said(found: _Found, problem: Problem, squares: float) -> Explanation:
    unknowns = {name: float(np.asarray(found.solution.unknowns[name])) for name in problem.parameters}
    return Explanation(unknowns, found.starts, (found.squares - squares) / 2)


def _best(found: Sequence[_Found]) -> _Found:
    return min(found, key=lambda one: one.squares)


def _gives_way(found: Sequence[_Found]) -> bool:
    return _best(found).squares < found[0].squares - 2 * CLEAR


def _with_the_better(task: Task, fits: Sequence[Fit], search: _Search, made: int) -> list[Fit]:
    """The fits, but for those that explain clearly less: what explains more is fitted as they were, and takes their place."""
    best = [_best(own) if _gives_way(own) else own[0] for own in search.found]
    again = dataclasses.replace(task.again(range(len(fits)), task.base.restarts + 1, goes_on=True), label="another explanation")
    new = fit_once(again, stack([one.solution for one in best]))
    result = []
    for fit, problem, own, one, fresh in zip(fits, task.problems, search.found, best, new, strict=True):
        if one is own[0] or not _is_good(fresh):
            result.append(fit)
            continue
        kept = dataclasses.replace(fresh, steps=fit.steps, losses=fit.losses, seconds=fit.seconds)
        result.append(_with_modes(kept, problem, [one, *(other for other in own if other is not one)], made))
    return result
