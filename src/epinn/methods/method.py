"""What a method is: settings, what it needs, and a way from trained base PINNs to posteriors."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..derivatives import memory
from ..errors import InputError
from ..posterior.held_out import noise_is_known
from ..posterior.linearised import size_of_posterior
from ..posterior.log_density import tolerant
from ..posterior.posterior import Posterior
from ..problem.channel import Channel
from ..problem.problem import Problem
from ..progress import Progress
from ..solve.pinn import Pinn
from ..solve.seeds import Keys


@dataclass(frozen=True)
class Memory:
    """Bytes that a method cannot have in chunks, for each row and each parameter.

    The first two are taken once, however many seeds there are; those that are kept, by every seed. `settings` names what to
    make smaller. With `matrix`, all rows and parameters are in one matrix, or what takes their place.
    """

    rows: int = 0
    parameters: int = 0
    kept_rows: int = 0
    kept_parameters: int = 0
    settings: str = ""
    matrix: bool = False

    def bytes(self, rows: int, parameters: int, seeds: int = 1) -> int:
        return rows * (self.rows + seeds * self.kept_rows) + parameters * (self.parameters + seeds * self.kept_parameters)


def memory_of_changes(number: int, settings: str) -> Memory:
    """What so many draws of changes of the parameters take, with all that is computed on the way, in double precision."""
    return Memory(rows=32 * number, parameters=24 * number, kept_parameters=8 * number, settings=settings, matrix=True)


@dataclass(frozen=True)
class Traits:
    """What a method makes of the base PINN and of the conditions, and what it needs."""

    uses_base: bool = True  # the trained base PINN matters, not only its problem and shape
    base_sees_data: bool = True  # the base PINN is trained on the measurements too, not on the physics alone
    retrains: bool = False  # it trains networks of its own
    moves_the_network: bool = False  # the mean of its band may differ from the base PINN
    uses_sigma: bool = False  # conditions count by their sigma, not by loss weights
    is_linearised: bool = (
        False  # its spread is that of a linearised posterior: other methods are compared with the one of theirs
    )
    prior_sd: float | None = None  # width of the prior on the weights, where that is not the base PINN's
    tolerance: float | None = None  # exact conditions count as known to this sigma at best
    held_out: int = 0  # measurements that must be held out: they decide the width of the band, and so cannot judge it
    memory: Memory = Memory()

    def reads(self, channel: Channel) -> Channel:
        """The channel with the sigma that the method takes it to have."""
        if self.tolerance is None:
            return channel
        read = tolerant(channel, self.tolerance)
        return read.settled() if np.any(read.sigma > channel.sigma) else read


@dataclass(frozen=True)
class Method(ABC):
    """A frozen dataclass whose fields are the method's settings. Its subclasses are abstract or final."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @property
    @abstractmethod
    def traits(self) -> Traits:
        """What the method needs with these settings."""

    @abstractmethod
    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        """One posterior for each base PINN (one per seed, all of one shape); `keys` has one key for each."""


def check(method: Method, problem: Problem, rows: int, parameters: int, seeds: int = 1) -> None:
    """Refuse a problem that the method cannot do, for its size or for what it lacks, before anything is trained."""
    needs = method.traits
    if needs.memory.matrix:
        rows, parameters = size_of_posterior(problem, rows, parameters)
    needed = needs.memory.bytes(rows, parameters, seeds)
    if needed > memory.available():
        fewer = ", fewer seeds at once" if seeds > 1 else ""
        raise InputError(
            f"{method.name} would need {needed / 2**30:.2g} GiB, and may use {memory.available() / 2**30:.2g}: "
            f"take a smaller {needs.memory.settings}{fewer}, or allow more memory: epinn.limited_to(GIBIBYTES)."
        )
    number = sum(channel.target.size for channel in problem.held_out())
    if number < needs.held_out:
        raise InputError(
            f"{method.name} needs at least {needs.held_out} held-out measurements for this level, not {number}: "
            "mark some with Data(..., held_out=True), or hold out a share with problem.holding_out(0.5, key=0)."
        )
    if needs.held_out and not noise_is_known(problem):
        raise InputError("nothing is known about the noise of the held-out measurements: give their Data a sigma.")


def prior_width(prior_sd: float | None, pinn: Pinn) -> float:
    """The width of the prior on the weights: that of the base PINN where a method has none of its own."""
    return pinn.base.prior if prior_sd is None else prior_sd


def check_positive(name: str, value: float | None) -> None:
    """Refuse a setting that must be a positive number, if it is given."""
    if value is not None and not 0 < value < math.inf:
        raise InputError(f"{name} must be a positive number.")
