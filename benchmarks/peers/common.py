"""What the peers share: one thread, the paper's 1D Poisson problem, the command line and the result.

To be imported before torch and JAX: they look for the number of threads when they are loaded.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {int(os.environ.get("BENCH_CORE", min(os.sched_getaffinity(0))))})

import argparse
import importlib.metadata
import json
import platform
import time
from collections.abc import Callable

import numpy as np

DIFFUSION = 0.01
LAYERS = [1, 32, 32, 32, 1]
LEARNING_RATE = 1e-3
BOUNDARY_WEIGHT = 10


def exact(x, library=np):
    return library.sin(6 * x) ** 3


def source(x, library=np):
    return DIFFUSION * (216 * library.sin(6 * x) * library.cos(6 * x) ** 2 - 108 * library.sin(6 * x) ** 3)


def without_onednn(torch) -> None:
    """A step takes a quarter less time without oneDNN on ARM (Neoverse N1), where it is slow for matrices this small."""
    torch.backends.mkldnn.enabled = platform.machine() != "aarch64"


ENDS = np.array([[-1], [1]], np.float32)
INTERIOR = np.linspace(-1, 1, 102, dtype=np.float32)[1:-1, None]
ALL_POINTS = np.concatenate([ENDS, INTERIOR])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tuned", action="store_true", help="every option that makes it faster here, not the defaults")
    return parser.parse_args()


def report(name: str, package: str, run: Callable[[int], object], predict: Callable[[np.ndarray], np.ndarray]) -> None:
    """Time `run(steps)`, which goes on with the training, after one call that is not timed; print the result as JSON."""
    options = arguments()
    run(options.steps)
    times = []
    for _ in range(options.repeats):
        started = time.perf_counter()
        run(options.steps)
        times.append((time.perf_counter() - started) / options.steps)
    grid = np.linspace(-1, 1, 501, dtype=np.float32)[:, None]
    error = np.asarray(predict(grid)) - exact(grid)
    result = {
        "name": name + (", tuned" if options.tuned else ""),
        "seconds_per_step": times,
        "version": importlib.metadata.version(package),
        "rmse": float(np.sqrt(np.mean(error**2))),
    }
    print(json.dumps(result))
