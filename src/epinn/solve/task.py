"""What is to be fitted, for several seeds at once, and what comes of it."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..derivatives.network import Solution
from ..problem.channel import Channel
from ..problem.precision import UnknownNoise
from ..problem.problem import Problem
from ..progress import Progress
from .config import Base, fold_in
from .explanations import Modes
from .optimise.adam import Weights
from .optimise.whitened import Prior
from .refine import Moved
from .seeds import Keys, chosen

IN_ALL = 8  # times the work that one run of Gauss-Newton may do: what a fit may do, with all its attempts
SUSPICIOUS = 0.3  # of the variation of measurements: if more is called noise, other explanations are looked for


@dataclass(frozen=True, eq=False)
class Fit:
    """One seed after all stages of training."""

    solution: Solution
    channels: tuple[Channel, ...]
    steps: list[int]
    losses: np.ndarray
    seconds: float
    failure: str | None
    complaints: list[str]
    misfit: float  # the mean squared residual in units of the noise
    largest: float  # residual of an exact condition, in parts of the size of its terms
    regularised: bool  # whether the prior took part in it
    may_go_on: bool = False  # it was well on its way when its steps were used up
    stalled: bool = True  # more steps of the same kind would change next to nothing
    moved: Moved | None = None  # where its points are, if not where they began
    modes: Modes | None = None  # what further starts have found, if there were any

    @property
    def noise(self) -> float:
        """The largest part of any measurements' variation that the fit calls noise, where it was free to."""
        return max(map(called_noise, self.channels), default=0.0)

    @property
    def is_found(self) -> bool:
        """Whether there is no reason to look for another solution."""
        return not self.complaints and self.failure is None and self.noise < SUSPICIOUS


@dataclass(eq=False)
class Account:
    """The floating-point operations that Gauss-Newton may still use in one fit, with all its attempts, points and windows: what
    cannot be solved at all would take hours otherwise, since every part of it is given what a whole fit may need."""

    left: float = math.inf

    @classmethod
    def of(cls, base: Base, share: float = 1.0) -> "Account":
        """A share of what a fit with these settings may do."""
        return cls(share * IN_ALL * base.work)

    def spend(self, work: float) -> None:
        self.left -= work

    @property
    def is_empty(self) -> bool:
        return self.left < 0

    def in_words(self, base: Base) -> str:
        """A sentence where it is empty, with how to have more done; nothing where it is not."""
        more = f"Base(newton_work={10 * base.work:.0e}) allows ten times as much"
        return f" The work that a fit may do was used up: {more}." if self.is_empty else ""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be fitted, and how, for several seeds at once: all arrays have a leading seed axis.

    A fit is judged by the same conditions `elsewhere`: at other points, or without what perturbed them.
    """

    base: Base
    problems: Sequence[Problem]
    channels: tuple[Channel, ...]
    elsewhere: tuple[Channel, ...]
    prior: Prior | None
    keys: Keys
    weights: Weights
    progress: Progress
    attempt: int = 0
    goes_on: bool = False  # from what an attempt before has found
    tightness: float = 1.0  # factor of the tolerances that exact conditions are fitted with
    label: str = ""  # of a part of the training, in front of its stages
    candidates: Callable[[int], tuple[Channel, ...]] | None = None  # points to choose from when some are needed elsewhere
    round: int = 0  # how often that was done
    marches: bool = False  # what is not solved soon is solved in shorter stretches of time
    grown: bool = False  # whether there are more of them by now
    account: Account = dataclasses.field(default_factory=Account)  # one for all that becomes of this task
    is_trial: bool = False  # something else comes next if it is not solved, so that nobody asks why

    def again(self, seeds: Sequence[int], attempt: int, *, goes_on: bool = False) -> "Task":
        """A further attempt of some of the seeds, from elsewhere or from where the one before had to end."""
        candidates, base = self.candidates, self.base
        return dataclasses.replace(
            self,
            base=dataclasses.replace(base, epochs=0, polish=0) if goes_on else base,
            problems=[self.problems[i] for i in seeds],
            channels=chosen(self.channels, seeds),
            elsewhere=chosen(self.elsewhere, seeds),
            prior=chosen(self.prior, seeds),
            keys=fold_in(self.keys[np.asarray(seeds)], attempt),
            attempt=attempt,
            goes_on=goes_on,
            candidates=candidates and (lambda number: chosen(candidates(number), seeds)),
        )

    def stage(self, name: str) -> str:
        """What a stage is called in this attempt."""
        named = f"{self.label}, {name}" if self.label else name
        named = f"{named}, points {self.round + 1}" if self.round else named
        again = f"{'tighter' if self.tightness < 1 else 'continued' if self.goes_on else 'restart'} {self.attempt}"
        return f"{named}, {again}" if self.attempt else named


def called_noise(channel: Channel) -> float:
    """The part of some measurements' variation that is called noise, where that is unknown."""
    is_unknown = isinstance(channel.precision, UnknownNoise)
    return float(np.max(channel.sigma)) / float(np.std(channel.target) + 1e-30) if is_unknown else 0.0
