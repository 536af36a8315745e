"""A pendulum of half a metre, let go at one radian, over ten periods of 1.513 s."""

import jax.numpy as jnp
import numpy as np
from scipy.special import ellipj

import epinn

from ..case import Case, Reference

GRAVITY, LENGTH = 9.81, 0.5  # m/s^2, m
START, END = 1.0, 15.13  # rad, s


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="pendulum",
        domain=epinn.Box(t=(0, END)),
        fields="theta",
        equation=lambda theta: theta.tt + GRAVITY / LENGTH * jnp.sin(theta),
        initial=[epinn.Initial(START), epinn.Initial(0.0, order=1)],
    )


def angle(t: np.ndarray) -> np.ndarray:
    """In closed form, by Jacobi's elliptic functions."""
    modulus = np.sin(START / 2)
    _, cn, dn, _ = ellipj(np.sqrt(GRAVITY / LENGTH) * t, modulus**2)
    return 2 * np.arcsin(modulus * cn / dn)


def reference() -> Reference:
    times = np.linspace(0, END, 2001)[:, None]
    return Reference(times, angle(times))


CASE = Case("pendulum", "Nonlinear pendulum, ten periods", problem, reference)
