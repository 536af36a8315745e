"""Training of one base PINN: what `epinn.fit` is. It is here, since it knows the method that comes next."""

from jaxtyping import PRNGKeyArray

from ..errors import Diverged, InputError, shown, warn
from ..problem.mistakes import check_together
from ..problem.problem import Problem
from ..progress import Progress
from ..solve.config import Base
from ..solve.fit import fit_seeds
from ..solve.optimise.adam import Weights
from ..solve.pinn import Pinn
from .method import Method, check
from .registry import configured


def fit(
    problem: Problem,
    *,
    key: PRNGKeyArray | int = 0,
    base: Base = Base(),
    weights: Weights = Weights(),
    method: str | Method | None = None,
    progress: Progress | None = None,
) -> Pinn:
    """Train a base PINN on a problem.

    With the `method` that is going to be attached, by name or as an object, a problem that is too large for it, or lacks what
    it needs, is refused before the training. A PINN that has not found the solution says so in its `warnings`, and there is an
    `EpinnWarning`.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"epinn.fit takes an epinn.Problem, not {shown(problem)}.")
    check_together(problem)
    if method is not None:
        check(configured(method), problem, *base.size(problem))
    (pinn,) = fit_seeds([problem], keys=[key], base=base, weights=weights, progress=progress)
    if pinn.failure:
        raise Diverged(pinn.failure)
    warn(pinn.warnings)
    return pinn
