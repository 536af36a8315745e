"""What is minimised, by whichever method, and what a minimisation leaves behind."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, final

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ...derivatives.network import Solution
from ...problem.channel import Channel, residuals
from .driver import Driven

Residuals = list[Float[Array, "... n k"]]  # of every channel, perhaps of several draws


class Objective(eqx.Module):
    """What is minimised: residuals of all channels as a function of the parameters."""

    @abstractmethod
    def prepare(self, channels: Sequence[Channel]) -> Any:
        """What does not change while the points stay the same; computed once and handed to `residuals`."""

    @abstractmethod
    def residuals(self, parameters: Any, channels: Sequence[Channel], prepared: Any, key: PRNGKeyArray) -> Residuals:
        """The residuals at the channels' points; `key` is for whatever is drawn at random."""


@final
class PinnObjective(Objective):
    """The residuals of a candidate solution."""

    rest: Solution

    def prepare(self, channels: Sequence[Channel]) -> None:
        return None

    def residuals(self, parameters: Solution, channels: Sequence[Channel], prepared: None, key: PRNGKeyArray) -> Residuals:
        return residuals(channels, eqx.combine(parameters, self.rest))


@final
class Outcome(eqx.Module):
    """Trained parameters of all seeds, and how it went."""

    parameters: Any
    steps: list[int]
    losses: Float[np.ndarray, "records seeds channels"]
    seconds: float
    failures: list[str | None]
    unfinished: list[bool] | None = None  # by seed, whether it was still getting better when its steps were used up
    stalled: list[bool] | None = None  # by seed, whether it hardly got better any more
    work: float = 0.0  # floating-point operations of Gauss-Newton, for one seed

    def last(self, seed: int, channels: Sequence[Channel]) -> dict[str, float]:
        """The mean squares of a seed at the end, by channel."""
        return {c.name: float(loss) for c, loss in zip(channels, self.losses[-1, seed], strict=True)} if self.steps else {}


def steps_of(outcomes: Sequence[Outcome]) -> list[int]:
    """The steps after which losses were recorded, counted on from stage to stage."""
    steps: list[int] = []
    for outcome in outcomes:
        before = steps[-1] if steps else 0
        steps += [before + step for step in outcome.steps]
    return steps


def recorded(driven: Driven[Any], seeds: int, channels: int) -> Float[np.ndarray, "records seeds channels"]:
    """The losses of all calls as one array."""
    return np.stack(driven.records) if driven.records else np.zeros((0, seeds, channels))


def medians(names: Sequence[str], losses: Float[Array, "seeds channels"]) -> dict[str, float]:
    """The median over the seeds of the loss of every channel: what a progress bar shows."""
    return dict(zip(names, np.median(np.asarray(losses), axis=0).tolist(), strict=True))
