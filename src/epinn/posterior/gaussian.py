"""The Gaussian interval mean +/- k std that users see: its level, and its k."""

import math
import statistics

LEVEL = 0.95


def quantile(level: float) -> float:
    """Half the width, in standard deviations, of the central Gaussian interval: 1.96 for 0.95."""
    return statistics.NormalDist().inv_cdf((1 + level) / 2)


def quantile_at(level: float) -> float:
    """The standard normal number that a draw is below with this probability; infinite at 0 and 1."""
    return statistics.NormalDist().inv_cdf(level) if 0 < level < 1 else math.copysign(math.inf, level - 0.5)
