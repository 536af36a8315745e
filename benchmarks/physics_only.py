"""Without measurements: does the band show the error that this very network has? Networks trained for more and more epochs.

For each number of epochs, over several seeds: the error, the spread of `laplace` around the network as it is, and how much of
the truth its 95% band holds. A band that merely shrank with the epochs would have another ratio in every line.
"""

import argparse

import numpy as np

import epinn
from epinn.judge.evaluation import evaluate
from epinn.methods import attach_seeds
from epinn.solve.fit import fit_seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=["poisson1d-nonlinear", "porous1d"])
    parser.add_argument("--epochs", nargs="+", type=int, default=[5_000, 10_000, 20_000, 0])
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    seeds = list(range(options.seeds))
    print("| problem | training | RMSE | spread (rms) | error / spread | 95% coverage | says it is no solution |")
    print("|---|---|---|---|---|---|---|")
    for name in options.problems:
        for epochs in options.epochs:
            base = epinn.Base(epochs=epochs, newton=0, restarts=0, schedule="constant") if epochs else epinn.Base()
            pinns = fit_seeds([epinn.problems.SHIPPED[name](0.0, key=seed) for seed in seeds], keys=seeds, base=base)
            seen = [evaluate(band, draws=2000) for band in attach_seeds(pinns, "laplace", keys=seeds)]
            rmse = np.asarray([one.metrics()["rmse"] for one in seen], float)
            spread = np.asarray([np.sqrt(np.mean(one.prediction.std**2)) for one in seen])
            covered = np.asarray([one.metrics()["coverage"] for one in seen], float)
            training = f"{epochs} epochs of Adam" if epochs else "epinn's default"
            lost = sum(bool(pinn.warnings) for pinn in pinns)
            print(
                f"| {name} | {training} | {_range(rmse)} | {_range(spread)} | {_range(rmse / spread)} | {_range(covered)} "
                f"| {lost} of {len(pinns)} |",
                flush=True,
            )


def _range(values: np.ndarray) -> str:
    return f"{np.median(values):.2g} ({values.min():.2g} to {values.max():.2g})"


if __name__ == "__main__":
    main()
