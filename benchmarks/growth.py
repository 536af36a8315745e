"""How time and memory grow: with collocation points, width, dimension and draws. Every case in a process of its own.

python benchmarks/growth.py            on the CPU, one thread, or on the accelerator that JAX finds
"""

import machine

machine.use_one_core()

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

CASES = {
    "points": [100, 1_000, 10_000, 100_000, 1_000_000],
    "width": [32, 64, 128, 256, 512],
    "dimension": [1, 2, 3],
    "draws": [1_000, 10_000, 100_000],
}
MEMORY = 1.0  # gibibytes: the limit that all cases have to stay in


def step(points: int = 1000, width: int = 32, dimension: int = 1) -> Callable[[int], None]:
    """So many Adam steps on u_xx + u_yy + ... = -1 in a cube, three hidden layers."""
    import jax

    import epinn
    from epinn.derivatives.network import trainable
    from epinn.solve.config import Base, create_solutions
    from epinn.solve.optimise.adam import Descent, Weights, minimise
    from epinn.solve.optimise.objective import PinnObjective
    from epinn.solve.seeds import stack

    names = "xyz"[:dimension]
    problem = epinn.Problem(
        domain=epinn.Box(**dict.fromkeys(names, (0.0, 1.0))),
        equation=lambda u: sum(u.diff(name, name) for name in names) + 1,
        boundary=epinn.Dirichlet(0.0),
        points=epinn.Points(points, boundary=min(points, 1000), sampling="uniform"),
    )
    keys = jax.random.split(jax.random.key(0), 1)
    parameters, rest = trainable(create_solutions(Base(hidden=(width,) * 3), [problem], keys))
    channels = stack([problem.channels(0)])
    objective, weights = PinnObjective(rest), Weights()
    return lambda steps: minimise(objective, parameters, channels, keys=keys, descent=Descent(steps), weights=weights)  # type: ignore[return-value]


def prediction(draws: int) -> Callable[[int], None]:
    """Mean and band of an (untrained) epinet on 501 points of 1D Poisson."""
    import numpy as np

    import epinn

    problem = epinn.problems.poisson1d()
    pinn = epinn.fit(problem, base=epinn.Base(epochs=0, newton=0))
    band = epinn.attach(pinn, problem, method="epinet", settings={"objective": "paper", "epochs": 0})
    x = np.linspace(-1, 1, 501)
    return lambda times: [band.predict(x, draws=draws) for _ in range(times)]  # type: ignore[return-value]


def case(what: str, size: int) -> dict:
    """Seconds of one step (or prediction), and the most memory that the process has used."""
    import jax

    from epinn.derivatives.memory import limited_to

    with limited_to(MEMORY):
        run = prediction(size) if what == "draws" else step(**{what: size})
        run(1)  # compiles
        started = time.perf_counter()
        run(1)
        once = time.perf_counter() - started
        number = int(min(max(2.0 / once, 1), 1000))
        number = number if what == "draws" else max(number // 100 * 100, min(number, 10))  # whole blocks of the training loop
        run(number)
        started = time.perf_counter()
        run(number)
        seconds = (time.perf_counter() - started) / number
    device = jax.devices()[0].memory_stats() or {}
    peak = device.get("peak_bytes_in_use", 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return {"size": size, "seconds": seconds, "peak_bytes": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=2, metavar=("WHAT", "SIZE"), help="one case alone, printed as JSON")
    parser.add_argument("--name", default="growth", help="of the file")
    parser.add_argument("--out", type=Path, default=machine.RESULTS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(case(options.case[0], int(options.case[1]))))
        return
    found: dict = {"memory_gibibytes": MEMORY}
    for what, sizes in CASES.items():
        found[what] = []
        for size in sizes:
            command = [sys.executable, __file__, "--case", what, str(size)]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            found[what].append(json.loads(result.stdout.splitlines()[-1]))
            print(what, found[what][-1], file=sys.stderr)
    found["machine"] = machine.describe()
    machine.save(options.out, options.name, found)


if __name__ == "__main__":
    main()
