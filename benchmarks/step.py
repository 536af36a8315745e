"""Time of one Adam step of the paper's 1D PINN: one derivative pass against nested differentiation, and against PyTorch.

All are measured in one run on one thread, so that the ratios mean something; PyTorch only where it is installed.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["OMP_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import importlib.util
import itertools
import statistics
import time
from collections.abc import Callable

import jax
import numpy as np

from epinn.batch import stack
from epinn.jet import opaque
from epinn.network import MLP, AbstractNetwork, Solution, trainable
from epinn.pinn import Base, PinnObjective, create_solutions
from epinn.problems import poisson1d
from epinn.train import Descent, Weights, minimise

STEPS, REPEATS = 1500, 5


class Nested(AbstractNetwork):
    """The same network with its derivatives by nested differentiation."""

    mlp: MLP

    def features(self, x):
        return opaque(self.mlp.features, x)

    def __call__(self, x):
        return opaque(self.mlp, x)


def ours(nested: bool) -> Callable[[], None]:
    """STEPS steps of our own training loop."""
    problem, keys = poisson1d(0.1), jax.random.split(jax.random.key(0), 1)
    solution = create_solutions(Base(), [problem], keys)
    if nested:
        solution = Solution(Nested(solution.network), solution.raw)
    parameters, rest = trainable(solution)
    channels = stack([problem.channels(0)])
    descent = Descent(STEPS)
    return lambda: minimise(PinnObjective(rest), parameters, channels, keys=keys, descent=descent, weights=Weights())


def pytorch() -> Callable[[], None]:
    """The same steps in eager PyTorch, as a PINN is usually written."""
    import torch

    torch.set_num_threads(1)
    layers = [1, 32, 32, 32, 1]
    modules = [m for a, b in itertools.pairwise(layers) for m in (torch.nn.Linear(a, b), torch.nn.Tanh())][:-1]
    network = torch.nn.Sequential(*modules)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    interior, boundary, data = (
        [torch.tensor(np.asarray(a), dtype=torch.float32) for a in (c.points, c.target)] for c in poisson1d(0.1).channels(0)
    )
    x = interior[0].requires_grad_()
    source = torch.tensor(np.asarray(_source(x.detach().numpy())), dtype=torch.float32)

    def steps() -> None:
        for _ in range(STEPS // 10):
            optimizer.zero_grad()
            u = network(x)
            u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
            u_xx = torch.autograd.grad(u_x.sum(), x, create_graph=True)[0]
            loss = ((0.01 * u_xx - source) ** 2).mean()
            loss = loss + 10 * ((network(boundary[0]) - boundary[1]) ** 2).mean() + ((network(data[0]) - data[1]) ** 2).mean()
            loss.backward()
            optimizer.step()

    return steps


def _source(x: np.ndarray) -> np.ndarray:
    return 0.01 * (216 * np.sin(6 * x) * np.cos(6 * x) ** 2 - 108 * np.sin(6 * x) ** 3)


def seconds_per_step(run: Callable[[], None], steps: int) -> float:
    """Median over repetitions, the first (which compiles) left out."""
    run()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        run()
        times.append((time.perf_counter() - started) / steps)
    return statistics.median(times)


def main() -> None:
    rows = {
        "epinn, one derivative pass": seconds_per_step(ours(nested=False), STEPS),
        "epinn, nested differentiation": seconds_per_step(ours(nested=True), STEPS),
    }
    if importlib.util.find_spec("torch"):
        rows["PyTorch eager"] = seconds_per_step(pytorch(), STEPS // 10)
    reference = rows["epinn, one derivative pass"]
    for name, seconds in rows.items():
        print(f"{name:<32} {1e6 * seconds:8.0f} µs per step   {seconds / reference:5.1f} x")


if __name__ == "__main__":
    main()
