"""One problem of the suite: what a user would type, and what its solution is known to be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

import epinn


class Estimate(NamedTuple):
    """An unknown by least squares through a classical solver: its value and standard deviation."""

    value: float
    sd: float


class Reference(NamedTuple):
    """The solution at points: one row each, one column per field; NaN where it is not known (a pressure, say)."""

    points: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Case:
    """A problem that people know, typed without any settings, and its reference.

    `problem` and `least_squares` take the seed of the measurement noise. `published` is the best relative L2 error that we know
    of for a PINN on this problem, None where there is none, and `source` says whose it is.
    """

    name: str
    title: str
    problem: Callable[[int], epinn.Problem]
    reference: Callable[[], Reference]
    least_squares: Callable[[int], Mapping[str, Estimate]] = field(default=lambda seed: {})
    published: float | None = None
    source: str = ""
    seeds: int = 3  # the hardest have one
