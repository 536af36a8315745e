"""The Gaussian interval mean +/- k std that users see: its level, and its k."""

import statistics

LEVEL = 0.95


def quantile(level: float) -> float:
    """Half the width, in standard deviations, of the central Gaussian interval: 1.96 for 0.95."""
    return statistics.NormalDist().inv_cdf((1 + level) / 2)
