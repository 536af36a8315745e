"""Laplace: the Gaussian posterior of the problem linearised around the trained PINN. Nothing is trained.

The rows of all channels, in units of their noise, and the prior N(0, 1) on all weights make a linear-Gaussian model of small
changes of the parameters (the generalised Gauss-Newton approximation), and its posterior is sampled exactly, in the smaller
of its two spaces: rows or parameters. A draw is the PINN plus its derivative in the direction of the change. Unknown
parameters change along with the weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from ..derivatives.network import Solution
from ..errors import InputError
from ..posterior.linearised import ExactDraws, bytes_of_changes, changed, check_size, posterior_changes
from ..posterior.posterior import Posterior
from ..posterior.sampler import Sampler
from ..problem.problem import Problem
from ..progress import Progress
from ..solve.pinn import Pinn
from .bayesian import PriorMethod


class LinearisedMembers(Sampler):
    """Changes of the parameters that are all equally likely."""

    base: Solution
    changes: Any  # like the base's parameters, every array with a leading axis

    @property
    def members(self) -> int:
        return jax.tree.leaves(self.changes)[0].shape[0]

    def index(self, key: PRNGKeyArray) -> Int[Array, ""]:
        return jax.random.randint(key, (), 0, self.members)

    def solution(self, index: Int[Array, ""]) -> Solution:
        return changed(self.base, jax.tree.map(lambda leaf: leaf[index], self.changes))


@dataclass(frozen=True)
class LaplaceMethod(PriorMethod):
    """Settings: how many changes are drawn, and the width of the prior on the weights."""

    name: ClassVar[str] = "laplace"
    summary: ClassVar[str] = "Laplace: the Gaussian posterior around the trained PINN, without training"

    samples: int = 2_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 2:
            raise InputError("laplace.samples must be at least 2.")

    def needs(self, rows: int, parameters: int) -> tuple[int, str]:
        return bytes_of_changes(self.samples, rows, parameters), "laplace.samples"

    def check(self, problem: Problem, rows: int, parameters: int) -> None:
        super().check(problem, rows, parameters)
        check_size(rows, parameters)

    @property
    def is_linearised(self) -> bool:
        return True

    @property
    def uses_sigma(self) -> bool:
        return True

    def attach(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        progress(self.name, 0, 1, {})
        changes, seconds = posterior_changes(pinns, keys, ExactDraws(self.samples), self.prior_width(pinns[0]))
        progress(self.name, 1, 1, {})
        return [
            Posterior(LinearisedMembers(pinn.solution, change), pinn.problem, self.name, seconds=seconds / len(pinns))
            for pinn, found in zip(pinns, changes, strict=True)
            for change in [jax.tree.map(jnp.add, found.drawn, found.common)]
        ]
