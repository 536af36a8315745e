"""E-PINN: something small with a random index, added to a frozen base PINN. Two kinds, by what is asked of it:
`calibrated.py`, linear in the base's own derivatives, and `paper.py`, the paper's small network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from ...derivatives.network import check_architecture
from ...errors import InputError, unknown_name
from ...posterior.posterior import Posterior
from ...progress import Progress
from ...solve.optimise.adam import Descent
from ...solve.pinn import Pinn
from ...solve.seeds import Keys
from ..method import Memory, Method, Traits, check_positive, memory_of_changes, prior_width
from . import calibrated, paper

BASES = ("all", "physics")
INDEX_DIM = {"calibrated": 256, "paper": 8}  # 256 directions have 4% of scatter in the width of the band, 8 have 25%


@final
@dataclass(frozen=True)
class EpinetMethod(Method):
    """Settings: the objective (`calibrated` or `paper`), and the dimension of z, by default 256 and 8.

    Of the calibrated kind: the width of the prior on the weights, and whether the error of the network itself is estimated
    where nothing is noisy. Of the paper's: sizes of the learnable and the prior network,
    prior scale alpha, training, indices per step.
    At most `newton` Gauss-Newton steps follow the epochs, on `newton_indices` indices that stay the same.
    `base` says what the base PINN has been trained on: `all` conditions, or the `physics` alone, in which case the epinet
    is the first to see the measurements.
    """

    name: ClassVar[str] = "epinet"
    summary: ClassVar[str] = (
        "E-PINN: a random index added to the trained PINN; calibrated, or as in the paper (objective=paper)"
    )

    prior_sd: float | None = None
    objective: str = "calibrated"
    index_dim: int | None = None
    own_error: bool = True
    hidden: tuple[int, ...] = (32, 32, 32)
    prior_hidden: tuple[int, ...] = (5, 5)
    alpha: float = 0.05
    prior_initialisation: str = "xavier"
    epochs: int = 10_000
    learning_rate: float = 1e-3
    schedule: str = "constant"
    indices_per_step: int = 1
    newton: int = 0
    newton_indices: int = 16
    train_base: bool = False
    base: str = "all"

    def __post_init__(self) -> None:
        check_positive("epinet.prior_sd", self.prior_sd)
        if self.base not in BASES:
            raise unknown_name("base of an epinet", self.base, BASES)
        check_architecture(self.hidden)
        check_architecture(self.prior_hidden, initialisation=self.prior_initialisation)
        if self.objective not in INDEX_DIM:
            raise unknown_name("objective of an epinet", self.objective, INDEX_DIM)
        if min(self.dimensions, self.indices_per_step, self.newton_indices) < 1 or not math.isfinite(self.alpha):
            raise InputError(
                "epinet.index_dim, epinet.indices_per_step and epinet.newton_indices must be at least 1, epinet.alpha a number."
            )
        if self.newton < 0 or (self.newton and self.train_base):
            raise InputError("epinet.newton must not be negative, and needs a frozen base: set epinet.train_base=false.")
        _ = self.descent  # checks its part of the settings

    @property
    def dimensions(self) -> int:
        """Of z."""
        return INDEX_DIM[self.objective] if self.index_dim is None else self.index_dim

    @property
    def traits(self) -> Traits:
        linear = self.objective == "calibrated"
        return Traits(
            base_sees_data=self.base == "all",
            moves_the_network=self.train_base,
            uses_sigma=linear,
            is_linearised=linear,
            prior_sd=self.prior_sd,
            memory=memory_of_changes(self.dimensions, "epinet.index_dim") if linear else Memory(),
        )

    @property
    def shape(self) -> paper.Shape:
        """Of the paper's kind."""
        return paper.Shape(self.dimensions, self.hidden, self.prior_hidden, self.prior_initialisation, self.alpha)

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.learning_rate, self.schedule)

    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        if self.objective == "calibrated":
            width = prior_width(self.prior_sd, pinns[0])
            return calibrated.solve(pinns, keys, self.dimensions, width, self.own_error, progress)
        training = paper.Training(self.descent, self.indices_per_step, self.newton, self.newton_indices, joint=self.train_base)
        return paper.train(pinns, keys, self.shape, training, progress)
