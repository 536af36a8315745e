"""The Van der Pol oscillator: x'' - mu (1 - x^2) x' + x = 0."""

import numpy as np

import epinn

from ..case import Case, Reference
from ..references import ode

MU = 1.0


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="van der Pol",
        domain=epinn.Box(t=(0, 20)),
        fields="x",
        equation=lambda x: x.tt - MU * (1 - x**2) * x.t + x,
        initial=[epinn.Initial(2.0), epinn.Initial(0.0, order=1)],
    )


def reference() -> Reference:
    times = np.linspace(0, 20, 2001)
    path = ode.solve(lambda t, y: (y[1], MU * (1 - y[0] ** 2) * y[1] - y[0]), (2.0, 0.0), times)
    return Reference(times[:, None], path[:, :1])


CASE = Case("van_der_pol", "Van der Pol oscillator", problem, reference)
