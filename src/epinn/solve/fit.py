"""From problems to fitted PINNs, several seeds at once."""

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from ..derivatives.network import Solution
from ..derivatives.program_cache import keep_compiled_programs
from ..problem.channel import Channel
from ..problem.precision import Exact
from ..problem.problem import Problem, as_key
from ..problem.sameness import check_same_equations
from ..problem.scales import Scales, alike
from ..progress import Progress
from .config import Base, create_solutions, fold_in, purposes
from .direct import as_made, solved_in_windows
from .error_equation import can_be_estimated
from .misfit import SOLVED
from .noise import estimate_sigma
from .optimise.adam import Weights
from .optimise.objective import PinnObjective
from .pinn import Pinn, scales_for
from .prior import bayesian_prior
from .refine import candidates_of
from .rounds import is_noisy
from .second_stage import AT_STEEP, at_first, is_accurate, is_near, with_further_stages
from .seeds import Keys, stack, unstack
from .stages import fit_from, fit_once, fit_with_restarts, go_on
from .starts import with_other_explanations
from .stretch import can_march
from .task import Account, Fit, Task
from .windows import briefly, fit_in_windows, nearer

RESTART = "normal"  # wider weights leave the plateau around u = 0 on which others may get stuck
AT_ONCE = 0.5  # of the work that a fit may do, where windows may follow, which then have as much as any fit
STAGES, AT_FIRST, UNTRAINED = 1000, 2000, 3000  # what the keys of stages are folded with: more than there are attempts


def fit_seeds(
    problems: Sequence[Problem],
    *,
    keys: Sequence[PRNGKeyArray | int],
    base: Base = Base(),
    weights: Weights = Weights(),
    progress: Progress | None = None,
) -> list[Pinn]:
    """Train one base PINN per seed, all at once. The problems may differ in their data, not in their equations.

    A seed that diverges says so in `failure`; the others go on.
    """
    keep_compiled_programs()
    for other in problems[1:]:
        check_same_equations(problems[0], other)
    scales = alike([base.scales(p) for p in problems])
    points, networks, train = purposes(jnp.stack([as_key(key) for key in keys]), 3)
    asked = _Asked(problems, base, weights, progress or Progress(), points, networks, train, scales, Account.of(base))
    task, everyone, tell = asked.task(scales), range(len(problems)), base.stages is not None
    begun: list[Fit] = []
    if base.further_stages and task.candidates is not None and _may_have_stages(task, asked.start(everyone, 0)):
        if not (pinns := _without_training(asked, task)):
            begun, pinns = _after_little_training(asked, task)
        if pinns:
            further = base.further_stages - 1
            return with_further_stages(pinns, fold_in(asked.train_keys, STAGES), further, asked.report, tell=tell)
    if asked.marches:
        brief = dataclasses.replace(task, base=briefly(base), marches=True, account=Account.of(base, AT_ONCE))
        fits = go_on(brief, fit_from(brief, asked.start, begun))
        if any(found.largest > SOLVED for found in fits):
            marched = fit_in_windows(task, asked.known, asked.point_keys, asked.network_keys)
            fits = [nearer(*pair, task.account.in_words(base)) for pair in zip(fits, marched, strict=True)]
    else:
        fits = with_other_explanations(task, fit_with_restarts(task, asked.start, begun))
    pinns = asked.finished(fits)
    return with_further_stages(pinns, fold_in(asked.train_keys, STAGES), base.further_stages, asked.report, tell=tell)


@dataclasses.dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked for, with keys for points, networks and training, and what makes it dimensionless."""

    problems: Sequence[Problem]
    base: Base
    weights: Weights
    report: Progress
    point_keys: Keys
    network_keys: Keys
    train_keys: Keys
    scales: Sequence[Scales | None]
    account: Account

    @property
    def known(self) -> list[Scales]:
        return [found for found in self.scales if found is not None]

    @property
    def marches(self) -> bool:
        return bool(self.base.newton and self.known and can_march(self.problems[0], self.known[0].breaks))

    def task(self, scales: Sequence[Scales | None]) -> Task:
        """All of it, made dimensionless by these."""
        parts = list(zip(self.problems, self.point_keys, scales, strict=True))
        channels, elsewhere = (
            tuple(stack([self.base.channels(*made, elsewhere=other) for made in parts])) for other in (False, True)
        )
        noisy = is_noisy(channels)
        prior = bayesian_prior(self.problems, self.start(range(len(parts)), 0), self.base.prior) if noisy else None
        task = Task(
            self.base,
            self.problems,
            channels,
            elsewhere,
            prior,
            self.train_keys,
            self.weights,
            self.report,
            account=self.account,
        )
        if noisy or not self.known or self.problems[0].points.resample:
            return task
        return dataclasses.replace(
            task, candidates=lambda round: tuple(stack([candidates_of(self.base, *part, round) for part in parts]))
        )

    def start(self, seeds: Sequence[int], attempt: int) -> Solution:
        """Where an attempt of some seeds begins."""
        some, keys = [self.problems[i] for i in seeds], self.network_keys[np.asarray(seeds)]
        theirs = [self.scales[i] for i in seeds]
        if attempt == 0:
            return create_solutions(self.base, some, keys, theirs)
        wider = dataclasses.replace(self.base, initialisation=RESTART)
        return create_solutions(wider, some, fold_in(keys, attempt), theirs)

    def finished(self, fits: Sequence[Fit]) -> list[Pinn]:
        found = zip(fits, self.problems, self.point_keys, self.scales, strict=True)
        base = self.base
        return [_pinn(_with_corners(fit, base, one, key, own), one, key, base, self.weights) for fit, one, key, own in found]


def _without_training(asked: _Asked, task: Task) -> list[Pinn]:
    """Solutions of untrained networks; first of those that are shown directions from corners, if there are any, and last of
    those that are shown distances from walls, if fields may be steep there; none where they leave too much."""
    if all(one.fans for one in asked.known) and (pinns := _shown_more(asked)):
        return pinns
    pinns, done = _at_once_or_in_windows(asked, task, asked.start(range(len(asked.problems)), 0), asked.known)
    if not done and all(one.layers for one in asked.known):
        return _shown_more(asked)
    return pinns if done else []


def _shown_more(asked: _Asked) -> list[Pinn]:
    """Of networks that are shown directions or distances; none where these leave too much even for what no network is trained
    at."""
    shown = [one.with_directions() for one in asked.known]
    solution = create_solutions(asked.base, asked.problems, asked.network_keys, shown)
    pinns, done = _at_once_or_in_windows(asked, asked.task(shown), solution, shown)
    return pinns if done or (pinns and all(is_accurate(pinn, AT_STEEP) for pinn in pinns)) else []


def _at_once_or_in_windows(asked: _Asked, task: Task, solution: Solution, scales: Sequence[Scales]) -> tuple[list[Pinn], bool]:
    """Solutions without training, and whether they are done: what windows may be off by, no training makes less."""
    pinns = list[Pinn]()
    if not (asked.marches and scales[0].ends):  # where something happens on the way, time can be solved in windows only
        made = asked.finished(as_made(task, solution))
        pinns = with_further_stages(made, fold_in(asked.train_keys, UNTRAINED), 1, asked.report, tell=False, alone=True)
        if all(map(is_accurate, pinns)) or not asked.marches:
            return pinns, all(map(is_accurate, pinns))
    in_windows = solved_in_windows(task, scales, asked.point_keys, asked.network_keys)
    return in_windows or pinns, in_windows is not None


def _after_little_training(asked: _Asked, task: Task) -> tuple[list[Fit], list[Pinn]]:
    """Fits after a few steps, where these led to anything, and what a stage makes of them, if they are near enough to be done
    with it."""
    found = fit_once(at_first(task), asked.start(range(len(asked.problems)), 0))
    if any(fit.failure is not None for fit in found):
        return [], []  # nothing to go on from
    if not all(map(is_near, found)):
        return found, []
    keys = fold_in(asked.train_keys, AT_FIRST)
    pinns = with_further_stages(asked.finished(found), keys, 1, asked.report, tell=False)
    return found, pinns if all(map(is_accurate, pinns)) else []


def _may_have_stages(task: Task, solution: Solution) -> bool:
    """Whether a further stage is possible for fits like these."""
    some = zip(task.problems, unstack(solution, len(task.problems)), unstack(task.channels, len(task.problems)), strict=True)
    return can_be_estimated([Pinn(one, problem, channels, base=task.base) for problem, one, channels in some])


def _with_corners(found: Fit, base: Base, problem: Problem, key: PRNGKeyArray, scales: Scales | None) -> Fit:
    """A fit whose given values have the tolerances of all places, next to corners too, where nothing was asked of it. What an
    equation leaves there counts for nothing: slopes have no limit, but next to no room either."""
    if scales is None or not scales.corners or found.solution.network.directions is not None:
        return found
    own = scales_for(found.solution, problem)
    assert own is not None  # it has units, as the scales have
    everywhere = base.channels(problem, key, own.everywhere(), elsewhere=True)
    some = [tuple(stack([one])) for one in (found.channels, everywhere)]
    (left,) = unstack(estimate_sigma(some[0], some[1], stack([found.solution]), PinnObjective, None), 1)
    pairs = zip(found.channels, left, strict=True)
    return dataclasses.replace(found, channels=tuple(new if _is_value(old) else old for old, new in pairs))


def _is_value(channel: Channel) -> bool:
    return channel.kind != "equation" and isinstance(channel.precision, Exact)


def _pinn(found: Fit, problem: Problem, key: PRNGKeyArray, base: Base, weights: Weights) -> Pinn:
    return Pinn(
        solution=found.solution,
        problem=problem,
        channels=found.channels,
        points_key=key,
        moved=found.moved,
        base=base,
        weights=weights,
        steps=found.steps,
        losses=found.losses,
        seconds=found.seconds,
        failure=found.failure,
        warnings=found.complaints,
        regularised=found.regularised,
        modes=found.modes,
    )
