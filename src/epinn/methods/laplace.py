"""Laplace: the Gaussian posterior of the problem linearised around the trained PINN. Nothing is trained.

The rows of all channels, in units of their noise, and the prior N(0, 1) on all weights make a linear-Gaussian model of small
changes of the parameters (the generalised Gauss-Newton approximation), and its posterior is sampled exactly, in the smaller
of its two spaces: rows or parameters. A draw is the PINN plus its derivative in the direction of the change. Unknown
parameters change along with the weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax
from jaxtyping import Array, Int

from ..derivatives import memory
from ..derivatives.network import Solution
from ..errors import InputError
from ..posterior.linearised import ExactDraws, changed, posterior_changes, size_of_posterior
from ..posterior.posterior import Posterior
from ..posterior.sampler import FiniteSampler, leading_axis
from ..progress import Progress
from ..solve.pinn import Pinn
from ..solve.seeds import Keys
from .method import Method, Traits, check_positive, memory_of_changes, prior_width

MOST, FEWEST = 2_000, 256  # changes that are drawn: the scatter in the width of a band is 1.6% and 4.4%


class LinearisedMembers(FiniteSampler):
    """Changes of the parameters that are all equally likely."""

    base: Solution
    changes: Any  # like the base's parameters, every array with a leading axis

    @property
    def members(self) -> int:
        return leading_axis(self.changes)

    def solution(self, index: Int[Array, ""] | int) -> Solution:
        return changed(self.base, jax.tree.map(lambda leaf: leaf[index], self.changes))


@final
@dataclass(frozen=True)
class LaplaceMethod(Method):
    """Settings: the width of the prior on the weights (that of the base PINN if it is not given), how many changes are drawn
    (2,000 if it is not given, or as many as fit into memory), and whether the error of the network itself is estimated where
    nothing is noisy."""

    name: ClassVar[str] = "laplace"
    summary: ClassVar[str] = "Laplace: the Gaussian posterior around the trained PINN, without training"

    prior_sd: float | None = None
    samples: int | None = None
    own_error: bool = True

    def __post_init__(self) -> None:
        check_positive("laplace.prior_sd", self.prior_sd)
        if self.samples is not None and self.samples < 2:
            raise InputError("laplace.samples must be at least 2.")

    @property
    def traits(self) -> Traits:
        needs = memory_of_changes(self.samples or FEWEST, "laplace.samples")
        return Traits(uses_sigma=True, is_linearised=True, prior_sd=self.prior_sd, memory=needs)

    def number(self, pinns: Sequence[Pinn]) -> int:
        """How many changes are drawn for each of some PINNs."""
        if self.samples is not None:
            return self.samples
        size = size_of_posterior(pinns[0].problem, *pinns[0].size)
        for_one = memory_of_changes(1, "").bytes(*size, seeds=len(pinns))
        return max(FEWEST, min(MOST, memory.available() // for_one))

    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        progress(self.name, 0, 1, {})
        width, number = prior_width(self.prior_sd, pinns[0]), self.number(pinns)
        if self.samples is None and number < MOST:
            progress.note(f"laplace draws {number} changes rather than {MOST}: more would not fit into memory.")
        changes, seconds = posterior_changes(pinns, keys, ExactDraws(number), width, own_error=self.own_error)
        progress(self.name, 1, 1, {})
        return [
            Posterior(
                LinearisedMembers(found.base, found.members),
                pinn.problem,
                self.name,
                found.diagnostics,
                seconds=seconds / len(pinns),
            )
            for pinn, found in zip(pinns, changes, strict=True)
        ]
