"""Layers of random units: drawn for what a network shows, and as steep as they need to be."""

import jax
import jax.numpy as jnp
import numpy as np

import epinn
from epinn.derivatives.network import Opaque
from epinn.derivatives.random_units import ALONE, STEEPEST, RandomUnits


def test_units_that_see_coordinates_alone_may_be_steeper():
    def steepest(network):
        return float(np.max(np.linalg.norm(RandomUnits.drawn(network, 1, 1000, jax.random.key(0)).weights, axis=1)))

    problem = epinn.Problem(domain=epinn.Box(x=(0, 2)), equation=lambda u: u.xx - 1, boundary=epinn.Dirichlet(0.0))
    assert steepest(Opaque(jnp.sin)) > 2 * ALONE  # of normal numbers
    assert steepest(epinn.Base(hidden=(8,)).network(problem, jax.random.key(0))) < 8 * STEEPEST


def test_units_of_a_periodic_network_are_periodic():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 2), y=(0, 1)),
        equation=lambda u: u.xx + u.yy - 1,
        boundary=[epinn.Periodic("x"), epinn.Dirichlet(0.0, on="y=0"), epinn.Dirichlet(0.0, on="y=1")],
    )
    network = epinn.Base(hidden=(8,)).network(problem, jax.random.key(0))
    assert network.periodic == (0,)
    points = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (50, 2)))
    units = RandomUnits.drawn(network, 2, 20, jax.random.key(1)).around(network, points)
    left, right = (units.values(network, jnp.asarray([x, 0.3])) for x in (-1.0, 1.0))
    np.testing.assert_allclose(left, right, atol=1e-5)
    assert np.max(np.abs(left - units.values(network, jnp.asarray([0.0, 0.3])))) > 1e-3
