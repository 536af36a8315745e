"""One Adam step of the paper's 1D PINN and of its epinet: epinn against its peers, and against the machine's floor.

Every contender runs in a process of its own on one core, in turn, several rounds; the median of the rounds counts. The
environment that has the peers is given with --peers; without it epinn runs alone.
"""

import machine

machine.use_one_core()

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp

from epinn.derivatives.jet import opaque
from epinn.derivatives.network import MLP, AbstractNetwork, Solution, trainable
from epinn.methods.epinet import EpinetMethod
from epinn.methods.epinet.paper import FrozenBaseObjective, create
from epinn.problems import poisson1d
from epinn.solve.config import Base, create_solutions
from epinn.solve.optimise.adam import Descent, Weights, minimise
from epinn.solve.optimise.objective import Objective, PinnObjective
from epinn.solve.seeds import stack

HERE = Path(__file__).parent
PEERS = {  # script and options; the peers' own times are for the same number of steps
    "PyTorch": ("pytorch.py",),
    "PyTorch, tuned": ("pytorch.py", "--tuned"),
    "DeepXDE": ("peer_deepxde.py",),
    "DeepXDE, tuned": ("peer_deepxde.py", "--tuned"),
    "jinns": ("peer_jinns.py",),
    "PyTorch, epinet": ("pytorch_epinet.py",),
    "PyTorch, epinet, tuned": ("pytorch_epinet.py", "--tuned"),
}
LAYERS, POINTS, ORDERS = (1, 32, 32, 32, 1), 102, 3


class Nested(AbstractNetwork):
    """The same network with its derivatives by nested differentiation."""

    mlp: MLP

    def features(self, x):
        return opaque(self.mlp.features, x)

    def __call__(self, x):
        return opaque(self.mlp, x)


def timed(objective: Objective, parameters, channels, steps: int) -> Callable[[], float]:
    """Seconds per step of our own training loop, compiled before."""
    keys = jax.random.split(jax.random.key(0), 1)
    run = lambda: minimise(  # noqa: E731
        objective, parameters, channels, keys=keys, descent=Descent(steps), weights=Weights()
    )
    run()

    def measure() -> float:
        started = time.perf_counter()
        run()
        return (time.perf_counter() - started) / steps

    return measure


def pinn_step(steps: int, nested: bool = False) -> Callable[[], float]:
    problem, keys = poisson1d(), jax.random.split(jax.random.key(0), 1)
    solution = create_solutions(Base(), [problem], keys)
    if nested:
        solution = Solution(Nested(solution.network), solution.raw)
    parameters, rest = trainable(solution)
    return timed(PinnObjective(rest), parameters, stack([problem.channels(0)]), steps)


def epinet_step(steps: int) -> Callable[[], float]:
    problem, keys = poisson1d(), jax.random.split(jax.random.key(0), 1)
    base = create_solutions(Base(), [problem], keys)
    parameters, rest = trainable(create(EpinetMethod(objective="paper").shape, base, keys, 1, 1))
    return timed(FrozenBaseObjective(base, rest, 1), parameters, stack([problem.channels(0)]), steps)


def peer(python: str, script: tuple[str, ...], steps: int) -> float:
    command = [python, str(HERE / "peers" / script[0]), "--steps", str(steps), "--repeats", "1", *script[1:]]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    return json.loads(found.stdout.splitlines()[-1])["seconds_per_step"][0]


def floor() -> dict[str, float]:
    """What the matrix products and activations of a step take by themselves, at the speed they have here.

    Three products a layer (forward, gradient of the input, gradient of the weights; the first layer needs no gradient of its
    input) on POINTS * ORDERS rows, and one tanh for every hidden unit at every point.
    """
    rows, products, operations = POINTS * ORDERS, 0.0, 0
    for i, (a, b) in enumerate(itertools.pairwise(LAYERS)):
        shapes = [((rows, a), (a, b)), ((a, rows), (rows, b))] + ([((rows, b), (b, a))] if i else [])
        for left, right in shapes:
            products += _seconds(lambda x, y: x @ y, jnp.ones(left), jnp.ones(right))
            operations += 2 * left[0] * left[1] * right[1]
    hidden = jnp.full((POINTS, sum(LAYERS[1:-1])), 0.5)
    activations = _seconds(lambda x: 2 * jax.lax.logistic(2 * x) - 1, hidden)
    return {"products": products, "activations": activations, "operations": operations}


def _seconds(function: Callable, *arguments: jax.Array, repeats: int = 3000) -> float:
    """Of one call, from a loop in which each waits for the one before, less the loop itself."""

    def loop(body: Callable) -> float:
        def step(_, carry):
            shifted = carry + 1e-30 * jnp.ravel(body(carry, *arguments[1:]))[0]
            return jax.lax.optimization_barrier(shifted)

        program = jax.jit(lambda x: jax.lax.fori_loop(0, repeats, step, x))
        jax.block_until_ready(program(arguments[0]))
        times = []
        for _ in range(3):
            started = time.perf_counter()
            jax.block_until_ready(program(arguments[0]))
            times.append((time.perf_counter() - started) / repeats)
        return min(times)

    return max(loop(lambda *a: jax.lax.optimization_barrier(function(*a))) - loop(lambda x, *_: x), 0.0)


def measure(steps: int, rounds: int, peers: str | None) -> dict:
    ours = {
        "epinn": pinn_step(steps),
        "epinn, nested differentiation": pinn_step(steps, nested=True),
        "epinn, epinet": epinet_step(steps),
    }
    times: dict[str, list[float]] = {}
    for i in range(rounds):
        print(f"steps, round {i + 1} of {rounds}", file=sys.stderr)
        for name, run in ours.items():
            times.setdefault(name, []).append(run())
        for name, script in PEERS.items() if peers else ():
            times.setdefault(name, []).append(peer(peers, script, steps if name == "jinns" else steps // 10))
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "machine": machine.describe(),
        "steps": steps,
        "rounds": rounds,
        "seconds": times,
        "ratio": {name: t / medians["epinn, epinet" if "epinet" in name else "epinn"] for name, t in medians.items()},
        "floor": floor(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="the Python that has PyTorch, DeepXDE and jinns")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=machine.RESULTS)
    options = parser.parse_args()
    found = measure(options.steps, options.rounds, options.peers)
    machine.save(options.out, "step", found)
    for name, ratio in found["ratio"].items():
        print(f"{name:<32} {1e6 * statistics.median(found['seconds'][name]):8.0f} µs per step   {ratio:5.1f} x")
    parts = found["floor"]
    print(f"floor: products {1e6 * parts['products']:.0f} µs, activations {1e6 * parts['activations']:.0f} µs")


if __name__ == "__main__":
    main()
