"""The Kuramoto-Sivashinsky equation in its chaotic regime, as in Wang et al., Respecting causality (2022)."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references import fourier
from ..references.grid import spread

ADVECTION, GROWTH, DAMPING = 100 / 16, 100 / 16**2, 100 / 16**4


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="Kuramoto-Sivashinsky",
        domain=epinn.Box(x=(0, 2 * np.pi), t=(0, 1)),
        equation=lambda u: u.t + ADVECTION * u * u.x + GROWTH * u.xx + DAMPING * u.xxxx,
        boundary=epinn.Periodic("x", order=3),
        initial=epinn.Initial(lambda x: jnp.cos(x) * (1 + jnp.sin(x))),
    )


def reference(modes: int = 256, steps: int = 160) -> Reference:
    times = np.linspace(0, 1, 76)
    x, u = fourier.solve(
        lambda x: np.cos(x) * (1 + np.sin(x)),
        lambda k: GROWTH * k**2 - DAMPING * k**4,
        lambda u, k: -0.5j * ADVECTION * k * np.fft.fft(u**2),
        (0, 2 * np.pi),
        times,
        modes=modes,
        steps=steps,
        intervals=256,
    )
    return Reference(spread(x, times), u.reshape(-1, 1))


CASE = Case(
    "kuramoto_sivashinsky",
    "Kuramoto-Sivashinsky, chaotic",
    problem,
    reference,
    published=1.61e-1,
    source="Wang et al. 2023, An Expert's Guide",
    seeds=1,
)
