"""The nonlinear Schrödinger equation of Raissi et al. (2019), i h_t + h_xx / 2 + |h|^2 h = 0, with h = u + i v."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references import fourier
from ..references.grid import spread


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="Schrödinger",
        domain=epinn.Box(x=(-5, 5), t=(0, np.pi / 2)),
        fields=("u", "v"),
        equation={
            "real": lambda u, v: -v.t + 0.5 * u.xx + (u**2 + v**2) * u,
            "imaginary": lambda u, v: u.t + 0.5 * v.xx + (u**2 + v**2) * v,
        },
        boundary=[epinn.Periodic("x", field="u"), epinn.Periodic("x", field="v")],
        initial=[epinn.Initial(lambda x: 2 / jnp.cosh(x), field="u"), epinn.Initial(0.0, field="v")],
    )


# Twice the modes and steps change it by 3e-6: the start has a kink where the ends meet, which nothing smooths.
def reference(modes: int = 1024, steps: int = 100) -> Reference:
    times = np.linspace(0, np.pi / 2, 76)
    x, h = fourier.solve(
        lambda x: 2 / np.cosh(x) + 0j,
        lambda k: -0.5j * k**2,
        lambda h, k: np.fft.fft(1j * np.abs(h) ** 2 * h),
        (-5, 5),
        times,
        modes=modes,
        steps=steps,
        intervals=256,
    )
    return Reference(spread(x, times), np.stack([h.real.ravel(), h.imag.ravel()], axis=1))


CASE = Case("schrodinger", "Nonlinear Schrödinger", problem, reference, published=1.97e-3, source="Raissi et al. 2019")
