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
from .second_stage import AT_CORNERS, at_first, is_accurate, is_near, with_further_stages
from .seeds import stack, unstack
from .stages import fit_from, fit_once, fit_with_restarts, go_on
from .starts import with_other_explanations
from .task import Account, Fit, Task
from .windows import briefly, can_march, fit_in_windows, nearer

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
    problem, report = problems[0], progress or Progress()
    for other in problems[1:]:
        check_same_equations(problem, other)
    point_keys, network_keys, train_keys = purposes(jnp.stack([as_key(key) for key in keys]), 3)
    scales = alike([base.scales(p) for p in problems])
    known = [found for found in scales if found is not None]
    account = Account.of(base)

    def posed(scales: Sequence[Scales | None]) -> Task:
        parts = list(zip(problems, point_keys, scales, strict=True))
        channels, elsewhere = (
            tuple(stack([base.channels(*made, elsewhere=other) for made in parts])) for other in (False, True)
        )
        task = Task(base, problems, channels, elsewhere, None, train_keys, weights, report, account=account)
        if not known or is_noisy(channels) or problem.points.resample:
            return task
        return dataclasses.replace(
            task, candidates=lambda round: tuple(stack([candidates_of(base, *part, round) for part in parts]))
        )

    task = posed(scales)

    def start(seeds: Sequence[int], attempt: int) -> Solution:
        some, keys = [problems[i] for i in seeds], network_keys[np.asarray(seeds)]
        theirs = [scales[i] for i in seeds]
        if attempt == 0:
            return create_solutions(base, some, keys, theirs)
        return create_solutions(dataclasses.replace(base, initialisation=RESTART), some, fold_in(keys, attempt), theirs)

    if is_noisy(task.channels):
        task = dataclasses.replace(task, prior=bayesian_prior(problems, start(range(len(problems)), 0), base.prior))

    def finished(fits: Sequence[Fit]) -> list[Pinn]:
        found = zip(fits, problems, point_keys, scales, strict=True)
        return [_pinn(_with_corners(fit, base, one, key, own), one, key, base, weights) for fit, one, key, own in found]

    begun: list[Fit] = []
    everyone, tell = range(len(problems)), base.stages is not None
    marches = bool(base.newton and known and can_march(problem, known[0].breaks))
    if base.further_stages and task.candidates is not None and _may_have_stages(task, start(everyone, 0)):

        def untrained(task: Task, solution: Solution) -> list[Pinn]:
            made = finished(as_made(task, solution))
            return with_further_stages(made, fold_in(train_keys, UNTRAINED), 1, report, tell=False, alone=True)

        def at_once_or_in_windows(task: Task, solution: Solution, scales: Sequence[Scales]) -> tuple[list[Pinn], bool]:
            pinns = untrained(task, solution)
            if all(map(is_accurate, pinns)) or not marches or scales[0].breaks:
                return pinns, all(map(is_accurate, pinns))
            in_windows = solved_in_windows(task, scales, point_keys, network_keys)
            return in_windows or pinns, in_windows is not None  # what these may be off by, no training makes less

        pinns, done = list[Pinn](), False
        if all(one.fans for one in known):
            shown = [one.with_directions() for one in known]
            solution = create_solutions(base, problems, network_keys, shown)
            pinns, done = at_once_or_in_windows(posed(shown), solution, shown)
            done = done or all(is_accurate(pinn, AT_CORNERS) for pinn in pinns)
        if not done:
            pinns, done = at_once_or_in_windows(task, start(everyone, 0), known)
        if done:
            return with_further_stages(pinns, fold_in(train_keys, STAGES), base.further_stages - 1, report, tell=tell)
        begun = fit_once(at_first(task), start(everyone, 0))
        if any(found.failure is not None for found in begun):  # nothing to go on from
            begun = []
        near = bool(begun) and all(map(is_near, begun))
        pinns = with_further_stages(finished(begun), fold_in(train_keys, AT_FIRST), 1, report, tell=False) if near else []
        if near and all(map(is_accurate, pinns)):
            return with_further_stages(pinns, fold_in(train_keys, STAGES), base.further_stages - 1, report, tell=tell)
    if marches:
        brief = dataclasses.replace(task, base=briefly(base), marches=True, account=Account.of(base, AT_ONCE))
        fits = go_on(brief, fit_from(brief, start, begun))
        if any(found.largest > SOLVED for found in fits):
            marched = fit_in_windows(task, known, point_keys, network_keys)
            fits = [nearer(*pair, task.account.in_words(base)) for pair in zip(fits, marched, strict=True)]
    else:
        fits = with_other_explanations(task, fit_with_restarts(task, start, begun))
    return with_further_stages(finished(fits), fold_in(train_keys, STAGES), base.further_stages, report, tell=tell)


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
