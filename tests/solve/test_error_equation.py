"""The error equation: its least squares, and what can be estimated at all. Estimates are tested with what uses them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.solve.error_equation import RIDGES, _Factors, can_be_estimated

pytestmark = pytest.mark.usefixtures("quick_compile")


def test_least_squares_keeps_its_digits():
    """Of a matrix with singular values over ten orders of magnitude, what can be known of the fit is."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        left, right = np.linalg.qr(rng.normal(size=(60, 12)))[0], np.linalg.qr(rng.normal(size=(12, 12)))[0]
        matrix = left * np.logspace(0, -7, 12) @ right
        target = matrix @ rng.normal(size=12)
        factors = _Factors.of(jnp.asarray(matrix))
        found, *held_back = np.asarray(factors.solve(jnp.asarray(target), jnp.asarray(RIDGES)))
        np.testing.assert_allclose(factors.times(jnp.asarray(found)), matrix @ found, rtol=1e-12)
    assert np.linalg.norm(matrix @ found - target) < 1e-7 * np.linalg.norm(target)
    sizes = [np.linalg.norm(each) for each in (found, *held_back)]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    ("conditions", "can_be"),
    [
        ({}, True),
        ({"data": epinn.Data([0.5], [0.1], sigma=0.1)}, False),
        ({"extra": [epinn.Equation(lambda u: u.x - 1, sigma=0.1)]}, False),
    ],
)
def test_noise_is_not_the_error_of_a_network(conditions, can_be):
    problem = epinn.Problem(epinn.Box(x=(0, 1)), lambda u: u.xx - 1, boundary=epinn.Dirichlet(0.0), **conditions)
    pinn = epinn.fit(problem, base=epinn.Base(hidden=(4,), epochs=1, newton=0, restarts=0))
    assert can_be_estimated([pinn]) == can_be
