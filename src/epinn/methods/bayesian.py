"""What methods have in common that look for the posterior of a Bayesian PINN: its prior, and what they take as known."""

import math
from dataclasses import dataclass

from ..bayes import tolerant
from ..channel import Channel
from ..errors import InputError
from .method import Method


@dataclass(frozen=True)
class BayesianMethod(Method):
    """`prior_sd` is the width of the prior on all weights, `tolerance` the standard deviation that conditions said to be exact
    are allowed at least."""

    prior_sd: float = 1.0
    tolerance: float = 0.01

    def __post_init__(self) -> None:
        if not 0 < self.prior_sd < math.inf or not 0 < self.tolerance < math.inf:
            raise InputError(f"{self.name}.prior_sd and {self.name}.tolerance must be positive numbers.")

    def reads(self, channel: Channel) -> Channel:
        return tolerant(channel, self.tolerance)

    @property
    def moves_the_network(self) -> bool:
        return True

    @property
    def uses_sigma(self) -> bool:
        return True
