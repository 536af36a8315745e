"""Bands of networks that are too large for a matrix: how they agree with those of all weights, and what they cost.

python benchmarks/large.py agreement               both bands of the same networks, side by side
python benchmarks/large.py size WIDTH POINTS       a band for four layers of so many units, hardly trained
python benchmarks/large.py torch WIDTH POINTS      the same for three layers of PyTorch's, fitted to the solution itself
"""

import argparse
import resource
import time
import warnings
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import epinn
from epinn.derivatives.random_units import UNKNOWNS
from epinn.problems import heat1d_inverse, poisson1d, poisson1d_nonlinear

LARGE = mock.patch("epinn.posterior.linearised.is_dense", lambda rows, parameters: parameters <= UNKNOWNS)


def heated() -> epinn.Problem:
    """A rod whose heating was measured with noise, as was its temperature."""
    x = np.linspace(0.1, 1.9, 12)
    measured = np.sin(3 * x) + 0.1 * np.random.default_rng(0).normal(size=12)
    return epinn.Problem(
        domain=epinn.Box(x=(0, 2)),
        equation=epinn.Equation(lambda u, p: u.xx + 9 * jnp.sin(3 * p.x), sigma=1.0),
        boundary=epinn.Dirichlet(lambda x: jnp.sin(3 * x), sigma=0.05),
        data=epinn.Data(x, measured, sigma=0.1),
    )


PROBLEMS = {
    "heated rod": heated,
    "inverse heat": lambda: heat1d_inverse(0.1),
    "nonlinear 1D Poisson": lambda: poisson1d_nonlinear(0.1),
    "1D Poisson": lambda: poisson1d(0.1),
}


def agreement() -> None:
    print("| problem | spread with random units / with all weights | unknowns |\n|---|---|---|")
    for name, make in PROBLEMS.items():
        problem = make()
        pinn = epinn.fit(problem, key=0)
        points = np.asarray(problem.domain.points(300, "sobol", key=jax.random.key(3)))
        dense = epinn.attach(pinn, problem, "laplace", key=1)
        with LARGE:
            wide = epinn.attach(pinn, problem, "laplace", key=1)
        spreads = [float(np.sqrt(np.mean(band.predict(points).std ** 2))) for band in (wide, dense)]
        unknowns = [f"{name} {float(wide.unknowns()[name].std / one.std):.3f}" for name, one in dense.unknowns().items()]
        print(f"| {name} | {spreads[0] / spreads[1]:.3f} | {', '.join(unknowns)} |", flush=True)


def exact(x, y, xp=jnp):
    return xp.sin(np.pi * x) * xp.sin(2 * np.pi * y)


def plate(points: int) -> epinn.Problem:
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1), y=(0, 1)),
        equation=lambda u, p: u.xx + u.yy + 5 * np.pi**2 * exact(p.x, p.y),
        boundary=epinn.Dirichlet(0.0),
        points=epinn.Points(collocation=points),
    )


def size(width: int, points: int) -> None:
    problem = plate(points)
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(width,) * 4, epochs=60, newton=0, restarts=0))
    measure(pinn, problem, pinn.size[1])


def torch(width: int, points: int) -> None:
    import torch
    from torch.nn import Linear, Sequential, Tanh

    torch.manual_seed(0)
    model = Sequential(Linear(2, width), Tanh(), Linear(width, width), Tanh(), Linear(width, width), Tanh(), Linear(width, 1))
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(400):
        x = torch.rand(512, 2)
        loss = ((model(x)[:, 0] - exact(x[:, 0], x[:, 1], torch)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    measure(model, plate(points), sum(weight.numel() for weight in model.parameters()))


def measure(model, problem: epinn.Problem, parameters: int) -> None:
    began = time.perf_counter()
    band = epinn.attach(model, problem, key=1)
    seconds = time.perf_counter() - began
    at = np.asarray(problem.domain.points(500, "sobol", key=jax.random.key(3)))
    seen = band.predict(at)
    error = np.sqrt(np.mean((seen.mean - exact(at[:, 0], at[:, 1], np)) ** 2) / np.mean(seen.std**2))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{parameters} parameters: a band in {seconds:.0f} s, {peak:.1f} GiB, true error / stated error {error:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("agreement")
    for name in ("size", "torch"):
        one = commands.add_parser(name)
        one.add_argument("width", type=int)
        one.add_argument("points", type=int)
    given = parser.parse_args()
    warnings.simplefilter("ignore", epinn.EpinnWarning)
    if given.command == "agreement":
        agreement()
    else:
        {"size": size, "torch": torch}[given.command](given.width, given.points)


if __name__ == "__main__":
    main()
