"""What the data of the inverse heat problem can tell at best: kappa by least squares with the exact solution, for many redraws.

Nothing but kappa is unknown here, so its standard deviation is a lower limit for every method.
"""

import argparse

import numpy as np

from epinn import problems
from epinn.judge.metrics import LEVEL, quantile
from epinn.problems.heat1d_inverse import DIFFUSIVITY

STEPS = 50  # of Gauss-Newton, far more than it needs


def estimate(noise: float, seed: int) -> tuple[float, float]:
    """Kappa and its standard deviation."""
    data = next(c for c in problems.heat1d_inverse(noise=noise, key=seed).channels(0) if c.kind == "data")
    (x, t), y = np.asarray(data.points, float).T, np.asarray(data.target, float)[:, 0]
    kappa = DIFFUSIVITY
    for _ in range(STEPS):
        u = np.exp(-kappa * np.pi**2 * t) * np.sin(np.pi * x)
        slope = -(np.pi**2) * t * u
        kappa += slope @ (y - u) / (slope @ slope)
    return float(kappa), float(np.asarray(data.sigma).flat[0] / np.sqrt(slope @ slope))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--redraws", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    kappa, sd = np.array([estimate(options.noise, seed) for seed in range(options.first, options.first + options.redraws)]).T
    covered = np.mean(np.abs(kappa - DIFFUSIVITY) <= quantile(LEVEL) * sd)
    print(f"kappa {kappa.mean():.5f}, scatter {kappa.std():.5f}, its own sd {sd.mean():.5f}, coverage {covered:.2f}")


if __name__ == "__main__":
    main()
