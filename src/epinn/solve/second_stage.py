"""Further stages of a fit: what it is wrong by is estimated, and added to it.

The error equation of a fit that is near the solution is linear in all but name, and its random units are solved for at once and
in double precision, where the weights of a network would have to be trained. Where the units can say what is missing, a few
steps leave a thousandth of it or less; where they cannot (a front that they are too coarse for, an equation that forgets what
it began with), they leave much of the residuals, and an error that looks smaller may be larger: then all stays as it was.
"""

import dataclasses
import time

import jax
import numpy as np

from ..derivatives.lifted import Lifted
from ..derivatives.network import AbstractNetwork, Frozen, Solution
from ..derivatives.staged import Stage, Staged, last_stage
from ..progress import Progress
from .config import fold_in
from .double import in_its_precision
from .error_equation import Estimate, can_be_estimated, estimates, probes_of
from .misfit import SOLVED, Misfit
from .pinn import Pinn
from .seeds import Keys, stack
from .task import Fit, Task

JACOBIANS = 4  # of a stage, at most; it ends when steps bring little
NEAR = 30  # steps of Gauss-Newton, after which a stage is tried for the first time
FAR = 0.5  # of the terms of a condition: what leaves more of it is no solution yet
ACCURATE = 1e-3  # of the scale of a field: if it is off by less, the fit is done,
AT_STEEP = 0.05  # or by this, where there are corners and layers that no network is trained at
KEPT = 0.1  # of the residuals: a stage that leaves more of them is not kept
NEEDED = "conditions that hold exactly, no unknown parameters, fields of all coordinates, and memory"
MEANT = 3.0  # times what it was to leave, at other points
NOTHING = 1e-6  # of its scale: a field that is smaller is zero
LEAST = 1e-12  # least tolerance, in parts of the size of a condition's terms


def at_first(task: Task) -> Task:
    """A fit that is only to be near enough: what its stage can then do need not be done by Gauss-Newton, in many more steps."""
    base = dataclasses.replace(task.base, newton=min(task.base.newton, NEAR))
    return dataclasses.replace(task, base=base, candidates=None, is_trial=True)


def is_near(found: Fit) -> bool:
    """Whether a fit is anywhere near a solution, so that a stage may bring it there."""
    return found.largest < FAR


def is_accurate(pinn: Pinn, within: float = ACCURATE) -> bool:
    """Whether a stage has left so little that there is nothing more to be done."""
    stage = last_stage(pinn.solution.network)
    if stage is None or pinn.warnings or max(float(np.max(c.sigma)) for c in pinn.channels) > SOLVED:
        return False
    return float(np.max(stage.remains)) < within * _extent(pinn)


def _extent(pinn: Pinn) -> float:
    """How large the largest field is in parts of its scale, if it is smaller than that: sources that oscillate have fields
    that are far smaller. Zero is as good as it is in any unit."""
    values = in_its_precision(Solution.dimensionless, pinn.solution, probes_of(pinn))
    size = float(np.max(np.sqrt(np.mean(np.asarray(values) ** 2, axis=0))))
    return min(size, 1.0) if size > NOTHING else 1.0


def with_further_stages(
    pinns: list[Pinn], keys: Keys, number: int, progress: Progress, *, tell: bool = True, alone: bool = False
) -> list[Pinn]:
    """Fits with up to so many stages added to them, for as long as there is something to add; if there is not, why, unless
    nobody has asked (`tell`). They are all `alone` that there is where the networks were not trained."""
    for i in range(number):
        if any(pinn.failure is not None for pinn in pinns):
            break
        if not can_be_estimated(pinns):
            if tell:
                progress.note(f"no further stage: that needs {NEEDED}.")
            break
        progress(f"stage {i + 2}", 0, 1, {})
        started = time.perf_counter()
        found = estimates(pinns, fold_in(keys, i), jacobians=JACOBIANS, from_afar=alone)
        seconds = (time.perf_counter() - started) / len(pinns)
        kept = [float(left) < KEPT for left in found.left]
        progress(f"stage {i + 2}", 1, 1, {"left of the residuals": float(np.max(found.left))})
        if not all(kept):  # seeds that run together have networks alike
            if tell:
                left = f"{np.max(found.left):.2g} of the residuals"
                progress.note(f"a further stage would leave {left}, so the fit stays as it was.")
            break
        pinns = [with_stage(pinn, of_seed(found, seed), seconds, alone=alone) for seed, pinn in enumerate(pinns)]
    return pinns


def of_seed(found: Estimate, seed: int) -> Estimate:
    """That of one seed."""
    one: Estimate = jax.tree.map(lambda leaf: leaf[seed], found)
    return one


def with_stage(pinn: Pinn, found: Estimate, seconds: float, *, alone: bool = False) -> Pinn:
    """A PINN with a stage added to its network, and what that leaves of its conditions as their tolerances."""
    before = Misfit.of(stack([pinn.channels]), stack([pinn.solution]))
    solution = added(pinn.solution, found, alone=alone)
    after = Misfit.of(stack([pinn.channels]), stack([solution]))
    meant = float(found.left) * float(np.linalg.norm(before.rms[0]))
    worse = float(np.linalg.norm(after.rms[0])) / max(meant, 1e-300)
    if worse > MEANT:  # it is not what it was meant to be, once it is stored in single precision
        solution = added(pinn.solution, found, times=worse, alone=alone)
    tolerances = np.maximum(after.rms[0], LEAST)
    channels = tuple(c.with_sigma(tolerance) for c, tolerance in zip(pinn.channels, tolerances, strict=True))
    warnings = [] if after.largest(0) < SOLVED else pinn.warnings
    return dataclasses.replace(pinn, solution=solution, channels=channels, seconds=pinn.seconds + seconds, warnings=warnings)


def added(solution: Solution, found: Estimate, *, times: float = 1.0, alone: bool = False) -> Solution:
    """A solution with a stage in its network, inside what gives its values; it leaves so many times what it was to leave."""
    network = solution.network
    if isinstance(network, Lifted):
        staged: AbstractNetwork = dataclasses.replace(network, network=_staged(network.network, found, times, alone))
    else:
        staged = _staged(network, found, times, alone)
    return dataclasses.replace(solution, network=staged)


def _staged(network: AbstractNetwork, found: Estimate, times: float, alone: bool) -> Staged:
    parts = (np.asarray(found.outer), times * float(found.left), times * np.asarray(found.remains), np.asarray(found.extent))
    return Staged(network, Frozen(Stage.of(network, found.units, *parts, alone=alone)))
