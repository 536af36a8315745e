"""Time in windows, one after the other: each begins with what the one before has ended with.

A network that is asked for a long time at once may settle for something that solves the equation nearly everywhere and is
wrong: nothing late can be right before all that is early is. A window is a problem of its own, with a network of its own, as
short as it must be to be solved.
"""

import dataclasses
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import equinox as eqx
import numpy as np

from ..derivatives.composed import Pieces
from ..derivatives.network import Solution
from ..derivatives.staged import first_stage
from ..problem.domain import CLEAR
from ..problem.region import TIME, Domain
from ..problem.scales import Scales
from .config import Base, create_solutions, fold_in
from .misfit import LOST, SOLVED, Misfit
from .noise import estimate_sigma, first_guess
from .optimise.objective import PinnObjective
from .seeds import Keys, stack, unstack
from .stages import fit_once, go_on
from .stretch import Stretch, ends
from .task import Fit, Task

FIRST = 4  # windows, if all were as long as the first one
SHORTEST = 1 / 128  # of all time
GROWTH = 1.5  # of the length after a window that was solved
STEPS = 100  # of Gauss-Newton: what takes longer is better done in shorter windows


def windows_of(solution: Solution) -> dict[str, tuple[float, ...]]:
    """The times at which one window of a solution ends and the next begins."""
    network = first_stage(solution.network)
    return {TIME: network.windows} if isinstance(network, Pieces) and network.windows else {}


def briefly(base: Base) -> Base:
    """The settings for a stretch of time that can be made shorter if it is not solved soon."""
    return dataclasses.replace(base, newton=min(base.newton, STEPS))


class Window(eqx.Module):
    """Some seeds in one stretch of time; arrays have a leading seed axis."""

    begin: float = eqx.field(static=True)
    end: float = eqx.field(static=True)
    solution: Solution


def fit_in_windows(task: Task, scales: Sequence[Scales], point_keys: Keys, network_keys: Keys) -> list[Fit]:
    """All seeds through all time, in the same windows; where something jumps, one ends."""
    begin, last = ends(task.problems[0])
    jumps = scales[0].ends
    clear = CLEAR * (last - begin)  # of a jump: in single precision nobody can tell on which side of it a point is
    scales = [dataclasses.replace(one.soft(), breaks={}) for one in scales]
    length, shortest = (last - begin) / FIRST, SHORTEST * (last - begin)
    windows: list[Window] = []
    seconds, number = 0.0, 0
    while begin < last:
        until = min((jump for jump in jumps if jump > begin), default=last)
        end = until if until - begin < 1.25 * length else begin + length
        number += 1
        own = Stretch(task.problems, scales, begin + clear * (begin in jumps), end - clear * (end in jumps), point_keys)
        fits = _fit_window(task, own, windows[-1].solution if windows else None, fold_in(network_keys, number), number)
        seconds += sum(fit.seconds for fit in fits)
        solved = all(fit.largest <= SOLVED and fit.failure is None for fit in fits)
        if not solved and length > 2 * shortest and not task.account.is_empty:
            length = (end - begin) / 2
            continue
        windows.append(Window(begin, end, stack([fit.solution for fit in fits])))
        if not solved:
            break  # what comes after would be built on sand
        begin, length = end, length * GROWTH
        if task.account.is_empty:
            break
    failures = [fit.failure for fit in fits]
    unfinished = _unfinished(windows, begin, task) if begin < last else []
    return _joined(task, scales, windows, point_keys, seconds / len(task.problems), failures, unfinished)


def nearer(at_once: Fit, marched: Fit, used_up: str = "") -> Fit:
    """What was found in windows; if not even the first was solved, the fit of all time at once where that leaves less. It has
    not found the solution either. Both took their time."""
    seconds = at_once.seconds + marched.seconds
    got_somewhere = not marched.complaints or windows_of(marched.solution)
    if got_somewhere or at_once.failure is not None or at_once.misfit > marched.misfit:
        return dataclasses.replace(marched, seconds=seconds)
    said = (
        f"exact conditions are missed by up to {at_once.largest:.2g} of their terms, and solving time in windows did not help: "
        f"{LOST}. Try a shorter time first, or a larger network, Base(hidden=...).{used_up}"
    )
    return dataclasses.replace(at_once, complaints=at_once.complaints or [said], seconds=seconds)


def _fit_window(task: Task, own: Stretch, before: Solution | None, keys: Keys, number: int) -> list[Fit]:
    base, begin = briefly(task.base), create_solutions(task.base, own.problems, keys, own.scales)
    if before is not None:  # what comes next is not unlike what was
        base = dataclasses.replace(base, epochs=0, polish=0)
        begin = eqx.tree_at(lambda solution: solution.network, begin, before.network)
    label = f"window {number} from {TIME} = {own.problems[0].domain.lower[own.problems[0].domain.axis(TIME)]:.3g}"
    window = dataclasses.replace(
        task,
        base=base,
        marches=True,
        problems=own.problems,
        channels=own.channels(before),
        elsewhere=own.channels(before, elsewhere=True),
        label=label,
        candidates=lambda round: own.candidates(before, round),
    )
    return go_on(window, fit_once(window, begin))


def _joined(
    task: Task,
    scales: Sequence[Scales],
    windows: Sequence[Window],
    point_keys: Keys,
    seconds: float,
    failures: Sequence[str | None],
    unfinished: Sequence[str],
) -> list[Fit]:
    """One solution for all time, of every seed."""
    size = len(task.problems)
    breaks = tuple(window.begin for window in windows[1:])
    every = [unstack(window.solution, size) for window in windows]
    solutions = []
    for i, (problem, one) in enumerate(zip(task.problems, scales, strict=True)):
        middle, half = boxes(problem.domain, windows)
        network = Pieces.of([solutions_of[i].network for solutions_of in every], middle, half, breaks)
        solutions.append(problem.solution(network, one.units))
    whole = [dataclasses.replace(one, breaks={TIME: breaks}) for one in scales]
    channels, elsewhere = (
        tuple(
            stack(
                [
                    task.base.channels(problem, key, one, elsewhere=other)
                    for problem, key, one in zip(task.problems, point_keys, whole, strict=True)
                ]
            )
        )
        for other in (False, True)
    )
    stacked = stack(solutions)
    final = estimate_sigma(channels, elsewhere, stacked, PinnObjective, None)
    misfit = Misfit.of(first_guess(elsewhere, stacked), stacked)
    return [
        Fit(
            solution=solution,
            channels=own,
            steps=[],
            losses=np.zeros((0, len(channels))),
            seconds=seconds,
            failure=failures[i],
            complaints=[*unfinished, *misfit.complaints(i, channels)],
            misfit=float(misfit.total[i]),
            largest=misfit.largest(i),
            regularised=False,
        )
        for i, (solution, own) in enumerate(zip(solutions, unstack(final, size), strict=True))
    ]


def _unfinished(windows: Sequence[Window], reached: float, task: Task) -> list[str]:
    """A sentence for a solution that was followed to some time only."""
    more = task.account.in_words(task.base)
    if reached == windows[0].begin:
        short = "" if more else ", however short"
        return [
            f"no stretch of time from {TIME} = {reached:.3g} on was solved{short}: {LOST}. Parts of it may change too fast for "
            f"the rest (stiff equations); leave these out if you can, or begin later.{more}"
        ]
    return [
        f"time was solved to {TIME} = {reached:.3g} and no further: {LOST}, and what it says of later times is worth "
        f"nothing. End the domain there, or take a larger network, Base(hidden=...).{more}"
    ]


@runtime_checkable
class Times(Protocol):
    """A stretch of time."""

    @property
    def begin(self) -> float: ...

    @property
    def end(self) -> float: ...


def boxes(domain: Domain, windows: Sequence[Times]) -> tuple[np.ndarray, np.ndarray]:
    """The windows in the coordinates of a network that sees all time from -1 to 1: the middle of each, and half its sides."""
    axis = domain.axis(TIME)
    low, high = domain.lower[axis], domain.upper[axis]
    ends = np.asarray([[window.begin, window.end] for window in windows])
    inside = (2 * ends - low - high) / (high - low)
    middle, half = np.zeros((len(windows), domain.dimension)), np.ones((len(windows), domain.dimension))
    middle[:, axis], half[:, axis] = inside.mean(axis=1), np.ptp(inside, axis=1) / 2
    return middle, half
