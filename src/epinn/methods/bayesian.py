"""What methods have in common that look for the posterior of a Bayesian PINN: its prior, and what they take as known."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..posterior.log_density import tolerant
from ..problem.channel import Channel
from ..solve.pinn import Pinn
from .method import Method


@dataclass(frozen=True)
class PriorMethod(Method):
    """`prior_sd` is the width of the Gaussian prior on all weights: that of the base PINN if it is not given."""

    prior_sd: float | None = None

    def __post_init__(self) -> None:
        if self.prior_sd is not None and not 0 < self.prior_sd < math.inf:
            raise InputError(f"{self.name}.prior_sd must be a positive number.")

    def prior_width(self, pinn: Pinn) -> float:
        return pinn.base.prior if self.prior_sd is None else self.prior_sd


@dataclass(frozen=True)
class BayesianMethod(PriorMethod):
    """`tolerance` is the standard deviation that conditions said to be exact are allowed at least."""

    tolerance: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.tolerance < math.inf:
            raise InputError(f"{self.name}.tolerance must be a positive number.")

    def reads(self, channel: Channel) -> Channel:
        read = tolerant(channel, self.tolerance)
        wider = bool(np.any(read.sigma > channel.sigma))
        return replace(read, estimated=channel.estimated and not wider)

    @property
    def moves_the_network(self) -> bool:
        return True

    @property
    def uses_sigma(self) -> bool:
        return True
