"""The trained network below all stages: for new data, and for methods that move weights.

A solution that was found without training has none. It is trained when somebody needs it, once for each PINN.
"""

import dataclasses
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from ..derivatives.staged import is_untrained
from ..problem.problem import Problem
from ..progress import Progress
from .fit import fit_seeds
from .pinn import Pinn

_trained: WeakKeyDictionary[Pinn, Pinn] = WeakKeyDictionary()


def first_stages(pinns: Sequence[Pinn], progress: Progress | None = None) -> list[Pinn]:
    """The same PINNs without what was added to their networks."""
    missing = [pinn for pinn in pinns if is_untrained(pinn.solution.network) and pinn not in _trained]
    if missing:
        first, listener = missing[0], progress or Progress()
        listener.note("the solution was found without training: its network is trained now, which this method needs.")
        base, keys = dataclasses.replace(first.base, stages=1), [pinn.points_key for pinn in missing]
        found = fit_seeds([pinn.problem for pinn in missing], keys=keys, base=base, weights=first.weights, progress=progress)
        _trained.update(zip(missing, found, strict=True))
    return [_trained[pinn] if is_untrained(pinn.solution.network) else pinn.first_stage() for pinn in pinns]


def facing(pinn: Pinn, problem: Problem) -> Pinn:
    """The same network before another problem (with more data, say), at the points that it was trained at."""
    (trained,) = first_stages([pinn])
    return trained.facing(problem)
