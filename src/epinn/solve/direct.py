"""Solutions without any training: sums of random units on a network that is left as it was made, solved for at once.

Where all conditions are exact, the coefficients of random units are a matter of linear algebra, in double precision, and of a
few Newton steps where the equation is not linear. On a smooth solution that takes seconds, and leaves a thousandth of what a
trained network does. A long time is taken in windows, each as long as its units can follow; what the sum of all of them may
still be wrong by is followed from window to window, so that it grows as errors do.

What is too steep for random units is left to a network that is trained.
"""

import dataclasses
import itertools
import math
import time
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.composed import Pieces
from ..derivatives.network import MLP, AbstractNetwork, Frozen, Solution, double
from ..derivatives.random_units import RandomUnits
from ..derivatives.staged import Stage, Staged
from ..problem.domain import CLEAR
from ..problem.problem import Problem
from ..problem.region import TIME
from ..problem.scales import Scales
from .config import WIDTH, create_solutions
from .error_equation import Estimate, estimates, probes_of
from .misfit import SOLVED, Misfit
from .noise import first_guess
from .pinn import Pinn
from .second_stage import KEPT, LEAST, added, of_seed
from .seeds import Keys, stack, unstack
from .stretch import Stretch, ends
from .task import Fit, Task
from .windows import FIRST, boxes

ENOUGH = 1e-4  # of the scale of a field: a window that is off by less is done,
EASY = 1e-6  # and if it is off by less than that, the next one may be longer
LONGER, CAREFULLY, BOLDER = (
    1.6,
    1.15,
    1.1,
)  # times as long, the second one after one that was too long; and how that grows again
SHORTER = 0.6  # times as long as that
MOST = 200  # windows, with those that were too long
STRICT = 0.01  # times the tolerance that training would begin with: what is given holds, and leads the way from there
MANY = 16  # Jacobians: a window begins far from its solution, and each of them is small
SHORTEST, IN_SPACE = (
    1 << 14,
    32,
)  # windows, if all were as long as the shortest one; the latter where there is space as well, in
# which shorter times make nothing finer
BRINGS = 0.7  # of the error, or less, a shorter window must be off by
LEAST_TICKS = 8  # of a window: all time has as many as a power of two, so that where windows end is not rounded in single
# precision either
LEAST_CLEAR = 16  # times what points keep away from where windows meet: a window is longer, and so is what is left for the next
ASIDE = 1e-8  # of all time: so near a jump, nobody asks on which side of it a point is
PART = 0.5  # of the units that there would be for all time: a window has less to say
RIPPLE = 0.01  # of an untrained network is left where a window begins with what the one before ended with: something to improve
THROUGH = 2.0  # half a side of the box, squared
WORK = 240  # operations for every unit, cubed, that a window takes: factors of six Jacobians or so


def as_made(task: Task, solution: Solution) -> list[Fit]:
    """Fits that nothing was done for: untrained networks, and the tolerances that training would begin with."""
    channels = first_guess(task.channels, solution)
    size, nothing = len(task.problems), np.zeros((0, len(channels)))
    return [
        Fit(one, own, [], nothing, 0.0, None, [], misfit=np.inf, largest=np.inf, regularised=False)
        for one, own in zip(unstack(solution, size), unstack(channels, size), strict=True)
    ]


@dataclasses.dataclass(frozen=True, eq=False)
class _Window:
    """A stretch of time that was solved, of all seeds."""

    begin: float
    end: float
    networks: Solution  # untrained
    found: Estimate
    solution: Solution  # both together


def solved_in_windows(task: Task, scales: Sequence[Scales], point_keys: Keys, network_keys: Keys) -> list[Pinn] | None:
    """All seeds through all time in the same windows; None where that leads nowhere."""
    began = time.perf_counter()
    first, last = ends(task.problems[0])
    jumps, aside = scales[0].ends, ASIDE * (last - first)
    begin, in_space, last_off = first, task.problems[0].domain.dimension > 1, np.inf
    scales = [dataclasses.replace(one.soft(), breaks={}) for one in scales]
    early, shortest = (last - first) / FIRST, (last - first) / (IN_SPACE if in_space else SHORTEST)
    for fan in scales[0].fans if scales[0].has_directions else ():  # first as long as it takes diffusion to get through the box
        early = min(early, (last - first) * THROUGH / fan.by) if fan.in_time else early
    shortest = max(min(shortest, early / LEAST_TICKS), LEAST_CLEAR * CLEAR * (last - first))
    early = max(early, shortest)
    tick = (last - first) / 2 ** math.ceil(math.log2(LEAST_TICKS * (last - first) / shortest))
    length, growth = early, LONGER
    small = dataclasses.replace(task.base, hidden=(WIDTH,))
    networks, windows = create_solutions(small, task.problems, network_keys, scales), list[_Window]()
    for _ in range(MOST):
        until = min((jump for jump in jumps if jump > begin), default=last)
        end = until if until - begin < 1.25 * length else first + tick * round((begin + length - first) / tick)
        task.progress(f"window from {TIME} = {begin:.3g}", 0, 1, {})
        if task.account.is_empty:
            return None
        own = Stretch(task.problems, scales, begin + aside * (begin in jumps), end - aside * (end in jumps), point_keys)
        window = _solved(task, own, windows[-1].solution if windows else None, networks, network_keys)
        task.account.spend(WORK * float(np.prod(window.found.outer.shape[-2:])) ** 3 * len(task.problems))
        off = float(np.max(np.where(window.found.left < KEPT, np.max(window.found.remains, axis=-1), np.inf)))
        task.progress(f"window from {TIME} = {begin:.3g}", 1, 1, {"off by": off})
        if not off < ENOUGH:
            length, growth = SHORTER * (end - begin), CAREFULLY
            in_vain = in_space and np.isfinite(off) and off > BRINGS * last_off  # it is space that is too fine
            if length < shortest or in_vain:
                return None
            last_off = off
            continue
        windows.append(window)
        last_off = np.inf
        begin, length = end, (end - begin) * (growth if off < EASY else 1.0)
        growth = min(LONGER, growth * BOLDER)
        if begin in jumps:
            length, growth = early, LONGER
        if begin >= last:
            joined = _joined(task, scales, windows, point_keys, time.perf_counter() - began)
            missed = any(max(float(np.max(c.sigma)) for c in pinn.channels) > SOLVED for pinn in joined)
            return None if missed else joined
    return None


def _solved(task: Task, own: Stretch, before: Solution | None, networks: Solution, keys: Keys) -> _Window:
    """What begins with the end of the window before, if there is one, on the same untrained networks."""
    size = len(own.problems)
    alone = list(zip(own.problems, unstack(networks, size), own.scales, strict=True))
    begun = [_with_own_directions(one.network, scales) for _, one, scales in alone]
    if before is not None and own.problems[0].domain.dimension == 1:
        begun = [_from_the_end(network, solution) for network, solution in zip(begun, unstack(before, size), strict=True)]
    made_of = zip(own.problems, begun, own.scales, strict=True)
    untrained = stack([problem.solution(network, scales.units) for problem, network, scales in made_of])
    with jax.enable_x64(True):  # what a window ends with is known to more digits than single precision has
        guessed = first_guess(own.channels(before), untrained)
        channels = unstack(tuple(c if c.kind == "equation" else c.with_sigma(STRICT * c.sigma) for c in guessed), size)
        parts = zip(own.problems, unstack(untrained, size), channels, own.keys, strict=True)
        pinns = [Pinn(one, problem, made, points_key=key, base=task.base) for problem, one, made, key in parts]
        made = lambda round: unstack(own.candidates(before, round), size)  # noqa: E731
        probes = stack([_at_the_end(probes_of(pinn), pinn.problem) for pinn in pinns])
        found = estimates(pinns, keys, jacobians=MANY, part=PART, candidates=made, probes=probes, from_afar=True)
    together = [added(pinn.solution, of_seed(found, i), alone=True) for i, pinn in enumerate(pinns)]
    return _Window(own.begin, own.end, untrained, found, stack(together))


def _with_own_directions(network: AbstractNetwork, scales: Scales) -> AbstractNetwork:
    """The network with what a window has of directions from corners: how far diffusion goes is a matter of its length."""
    if scales.directions is None:
        return network
    made: AbstractNetwork = eqx.tree_at(lambda n: n.directions.by, network, scales.directions.by)
    return made


def _from_the_end(network: AbstractNetwork, before: Solution) -> AbstractNetwork:
    """The network close to what the window before has ended with, in problems in time alone: from anywhere else, Newton's
    method hardly finds what comes to rest much faster than a window is long."""
    if not isinstance(network, MLP):
        return network
    with jax.enable_x64(True):
        last = np.asarray(double(before).network(jnp.ones(1)))
    weights, bias = RIPPLE * network.weights[-1], jnp.asarray(last / network.output_scale, network.biases[-1].dtype)
    made: AbstractNetwork = eqx.tree_at(lambda n: (n.weights[-1], n.biases[-1]), network, (weights, bias))
    return made


def _at_the_end(points: Float[Array, "n d"], problem: Problem) -> Float[Array, "n d"]:
    """Points of a network when time ends: there an error counts, which the next window begins with."""
    return points.at[:, problem.domain.axis(TIME)].set(1.0)


def _joined(task: Task, scales: Sequence[Scales], windows: Sequence[_Window], point_keys: Keys, seconds: float) -> list[Pinn]:
    """One solution for all time, of every seed, and what it may be wrong by."""
    size, breaks = len(task.problems), tuple((one.end + other.begin) / 2 for one, other in itertools.pairwise(windows))
    every = [unstack(window.networks, size) for window in windows]
    pinns = []
    for i, (problem, one) in enumerate(zip(task.problems, scales, strict=True)):
        pieces = Pieces.of([networks[i].network for networks in every], *boxes(problem.domain, windows), breaks)
        found = [of_seed(window.found, i) for window in windows]
        weights, biases = (np.concatenate([getattr(f.units, name) for f in found]) for name in ("weights", "biases"))
        units = RandomUnits(jnp.asarray(weights), jnp.asarray(biases), local=True)
        outer, left = np.concatenate([f.outer for f in found], axis=-1), max(float(f.left) for f in found)
        extent = np.max([f.extent for f in found], axis=0)
        stage = Stage.of(pieces, units, outer, left, _followed(windows, found), extent, alone=True)
        whole = dataclasses.replace(one, breaks={TIME: breaks})
        solution = problem.solution(Staged(pieces, Frozen(stage)), one.units)
        channels = task.base.channels(problem, point_keys[i], whole)
        pinn = Pinn(solution, problem, channels, points_key=point_keys[i], base=task.base, seconds=seconds / size)
        pinns.append(_with_tolerances(pinn))
    return pinns


def _followed(windows: Sequence[_Window], found: Sequence[Estimate]) -> Float[np.ndarray, " fields"]:
    """The error over all time, a root mean square by field: at the end of each window what that one leaves, and what it makes
    of the errors that it begins with. These have nothing to do with each other, so that their squares add up."""
    before, total = np.zeros_like(np.asarray(found[0].remains)), 0.0
    for window, one in zip(windows, found, strict=True):
        before = np.asarray(one.remains) ** 2 + np.asarray(one.carried) ** 2 @ before
        total = total + before * (window.end - window.begin)
    return np.asarray(np.sqrt(total / (windows[-1].end - windows[0].begin)))


def _with_tolerances(pinn: Pinn) -> Pinn:
    left = Misfit.of(stack([pinn.channels]), stack([pinn.solution])).rms[0]
    channels = tuple(c.with_sigma(max(float(own), LEAST)) for c, own in zip(pinn.channels, left, strict=True))
    return dataclasses.replace(pinn, channels=channels)
