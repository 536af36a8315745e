"""Where a condition has no finite residual: what the message of a fit that ran away begins with."""

from collections.abc import Sequence

import numpy as np

from ..derivatives.network import Solution
from ..problem.channel import Channel, residuals
from ..problem.checks import at_place


def with_place(failure: str | None, channels: Sequence[Channel], solution: Solution, coordinates: Sequence[str]) -> str | None:
    """The sentence for a seed that ran away, after the place where a residual of its last good weights is no number; where all
    are numbers, the sentence alone."""
    if failure is None:
        return None
    for channel, found in zip(channels, residuals(channels, solution), strict=True):
        values = np.asarray(found)
        bad = ~np.isfinite(values).all(axis=1)
        if bad.any():
            value = values[bad][0][~np.isfinite(values[bad][0])][0]
            place = at_place(np.asarray(solution.outside(channel.points))[bad][0], coordinates)
            return f"the residual of {channel.name!r} is {value} at {place} ({bad.sum()} of {len(bad)} points): {failure}"
    return failure
