"""The values of a field that the conditions of a problem give, as their channels have them."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from .channel import Channel
from .operators import Derivatives, Flux

GIVING = ("data", "boundary", "initial")  # kinds of conditions


def divisor(channel: Channel, field: str) -> float:
    """What the targets of a channel are divided by to be values of a field; zero if they are something else."""
    function = channel.operator.function
    if channel.partner is not None:
        return 0.0
    if isinstance(function, Flux) and function.field == field and not function.b:
        return function.a
    return float(isinstance(function, Derivatives) and function.field == field and function.along == ((),))


def values_of(field: str, channels: Sequence[Channel], kinds: Sequence[str] = GIVING) -> Float[np.ndarray, " n"]:
    """All values of a field that are given."""
    found = [(channel, divisor(channel, field)) for channel in channels if channel.kind in kinds]
    return np.concatenate([np.zeros(0), *(np.asarray(channel.target, float).ravel() / by for channel, by in found if by)])
