"""Least squares by singular values, against solutions that are known."""

import jax
import jax.numpy as jnp
import numpy as np

from epinn.solve.error_steps import RIDGES
from epinn.solve.optimise.factors import Factors


def test_least_squares_keeps_its_digits():
    """Of a matrix with singular values over ten orders of magnitude, what can be known of the fit is."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        left, right = np.linalg.qr(rng.normal(size=(60, 12)))[0], np.linalg.qr(rng.normal(size=(12, 12)))[0]
        matrix = left * np.logspace(0, -7, 12) @ right
        target = matrix @ rng.normal(size=12)
        factors = Factors.of(jnp.asarray(matrix))
        found, *held_back = np.asarray(factors.solve(jnp.asarray(target), jnp.asarray(RIDGES)))
        np.testing.assert_allclose(factors.times(jnp.asarray(found)), matrix @ found, rtol=1e-12)
    assert np.linalg.norm(matrix @ found - target) < 1e-7 * np.linalg.norm(target)
    sizes = [np.linalg.norm(each) for each in (found, *held_back)]
    assert sizes == sorted(sizes, reverse=True)
