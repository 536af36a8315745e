"""What a method is: settings, and a way from trained base PINNs to posteriors."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import PRNGKeyArray

from ..derivatives import memory
from ..errors import InputError
from ..posterior.posterior import Posterior
from ..problem.channel import Channel
from ..problem.problem import Problem
from ..progress import Progress
from ..solve.pinn import Pinn


@dataclass(frozen=True)
class Method(ABC):
    """A frozen dataclass whose fields are the method's settings."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @property
    def uses_sigma(self) -> bool:
        """Whether the channels' sigma matters, or loss weights take its place."""
        return False

    def reads(self, channel: Channel) -> Channel:
        """The channel with the sigma that the method takes it to have."""
        return channel

    @property
    def uses_base(self) -> bool:
        """Whether the trained base PINN matters, or only its problem and shape."""
        return True

    @property
    def retrains(self) -> bool:
        """Whether it trains networks of its own."""
        return False

    @property
    def moves_the_network(self) -> bool:
        """Whether the middle of its band may be elsewhere than the base PINN."""
        return False

    @property
    def is_linearised(self) -> bool:
        """Whether its spread is that of a linearised posterior; other methods are compared with the one of theirs."""
        return False

    @property
    def uses_held_out(self) -> bool:
        """Whether held-out measurements decide the width of its band, and so cannot judge it."""
        return False

    @property
    def base_sees_data(self) -> bool:
        """Whether the base PINN is trained on the measurements too, or only on the physics."""
        return True

    def needs(self, rows: int, parameters: int) -> tuple[int, str]:
        """Bytes that cannot be had in chunks, and the settings that they depend on."""
        return 0, ""

    def check(self, problem: Problem, rows: int, parameters: int) -> None:
        """Refuse a problem that the method cannot do, for its size or for what it lacks, before anything is trained."""
        needed, settings = self.needs(rows, parameters)
        if needed > memory.available():
            raise InputError(
                f"{self.name} would need {needed / 2**30:.2g} GiB, and compute.memory is {memory.available() / 2**30:.2g}: "
                f"take a smaller {settings}, or allow more memory."
            )

    @abstractmethod
    def attach(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        """One posterior for each base PINN (one per seed, all of one shape); `keys` has one key for each."""
