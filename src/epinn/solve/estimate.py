"""How long a fit will take, and how much memory, said before it begins: roughly, from the work of its steps and the speed of
this machine."""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

from ..problem.problem import Problem
from .config import Base
from .double import in_double
from .optimise.gauss_newton import BYTES, FACTORS, Plan
from .rounds import is_noisy, number_of_rounds
from .starts import SHARE

SIDE = 512  # of the matrices whose product shows how fast the machine is
COMPILING = (6.0, 3.0)  # seconds, and as many more for every condition
PER_STEP = 0.01  # seconds of a step of Gauss-Newton that is no arithmetic
PER_EPOCH = 3e-4
PASS = 40.0  # operations for every row and parameter of one evaluation of all residuals
FEWEST = 30  # steps that even an easy problem needs


def estimated_seconds(base: Base, problem: Problem, seeds: int = 1) -> tuple[float, float]:
    """Of fits of some seeds together: if they find the solution soon, and if they need all their steps and attempts."""
    rows, parameters = base.size(problem)
    channels = base.channels(problem, 0)
    plan = Plan.of(rows, parameters, False)
    one_pass = PASS * rows * parameters / _speed()
    epochs = (base.epochs + base.polish) * (PER_EPOCH + 3 * seeds * one_pass)
    step = PER_STEP + seeds * (plan.operations / _speed() + 3 * len(FACTORS) * one_pass)
    most = int(min(base.newton, base.work // plan.operations))
    rounds = number_of_rounds(channels) if base.newton else 0
    begin = COMPILING[0] + COMPILING[1] * len(channels)
    soon, at_last = (begin + epochs + rounds * steps * step for steps in (min(FEWEST, most), most))
    looks = problem.parameters and is_noisy(channels) and base.starts != 0
    return soon, begin + (1 + base.restarts + (SHARE if looks else 0)) * (at_last - begin)


def estimated_bytes(base: Base, problem: Problem) -> int:
    """The memory of a fit: the matrix of its steps, which is not formed where it would be too large."""
    rows, parameters = base.size(problem)
    plan = Plan.of(rows, parameters, False)
    return BYTES * rows * parameters if plan.dense and base.newton else BYTES * (rows + parameters)


def in_words(seconds: tuple[float, float]) -> str:
    """What is said of it: "about 20 s, or 3 min if it is hard"."""
    soon, at_last = map(_rounded, seconds)
    return f"about {soon}" if soon == at_last else f"about {soon}, or {at_last} if it is hard"


def _rounded(seconds: float) -> str:
    for unit, name, most in ((1.0, "s", 90.0), (60.0, "min", 5400.0)):
        if seconds < most:
            return f"{float(f'{seconds / unit:.1g}') if seconds / unit < 10 else round(seconds / unit, -1):g} {name}"
    return f"{float(f'{seconds / 3600:.2g}'):g} h"


@functools.cache
def _speed() -> float:
    """Floating-point operations a second in the product of two matrices in double precision."""

    def measure(matrix: np.ndarray) -> float:
        product = jax.jit(lambda a: a @ a)
        product(matrix).block_until_ready()
        tick = time.perf_counter()
        for _ in range(3):
            product(matrix).block_until_ready()
        return 6 * SIDE**3 / (time.perf_counter() - tick)

    return in_double(measure, jnp.ones((SIDE, SIDE)))
