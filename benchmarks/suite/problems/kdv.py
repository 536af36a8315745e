"""The Korteweg-de Vries equation of Raissi et al. (2019): a cosine that breaks up into solitons."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references import fourier
from ..references.grid import spread


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="KdV",
        domain=epinn.Box(x=(-1, 1), t=(0, 1)),
        equation=lambda u: u.t + u * u.x + 0.0025 * u.xxx,
        boundary=epinn.Periodic("x", order=2),
        initial=epinn.Initial(lambda x: jnp.cos(np.pi * x)),
    )


def reference(modes: int = 512, steps: int = 40) -> Reference:
    times = np.linspace(0, 1, 76)
    x, u = fourier.solve(
        lambda x: np.cos(np.pi * x),
        lambda k: 0.0025j * k**3,
        lambda u, k: -0.5j * k * np.fft.fft(u**2),
        (-1, 1),
        times,
        modes=modes,
        steps=steps,
        intervals=256,
    )
    return Reference(spread(x, times), u.reshape(-1, 1))


CASE = Case("kdv", "Korteweg-de Vries", problem, reference)
