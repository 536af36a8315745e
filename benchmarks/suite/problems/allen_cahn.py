"""The Allen-Cahn equation of Raissi et al. (2019): steep fronts from a smooth start."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references import fourier
from ..references.grid import spread


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="Allen-Cahn",
        domain=epinn.Box(x=(-1, 1), t=(0, 1)),
        equation=lambda u: u.t - 0.0001 * u.xx + 5 * u**3 - 5 * u,
        boundary=epinn.Periodic("x"),
        initial=epinn.Initial(lambda x: x**2 * jnp.cos(np.pi * x)),
    )


def reference(modes: int = 2560, steps: int = 10) -> Reference:
    times = np.linspace(0, 1, 61)
    x, u = fourier.solve(
        lambda x: x**2 * np.cos(np.pi * x),
        lambda k: 5 - 0.0001 * k**2,
        lambda u, k: np.fft.fft(-5 * u**3),
        (-1, 1),
        times,
        modes=modes,
        steps=steps,
        intervals=320,
    )
    return Reference(spread(x, times), u.reshape(-1, 1))


CASE = Case("allen_cahn", "Allen-Cahn", problem, reference, published=2.24e-5, source="Wang et al. 2024, PirateNets")
