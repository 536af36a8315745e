"""Layers of random units: drawn for what a network shows, and as steep as they need to be."""

import jax
import jax.numpy as jnp
import numpy as np

import epinn
from epinn.derivatives.jet import Jet
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


def test_a_network_in_zones_has_units_of_its_own_in_each_of_them():
    """What one zone needs says nothing of another; so errors in different windows of time are not tied to each other."""
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1, 10)), equation=lambda u: u.xx - 1, boundary=epinn.Dirichlet(0.0))
    network = epinn.Base(hidden=(8,)).network(problem, jax.random.key(0))
    points = jnp.linspace(-1, 1, 101)[:, None]
    pieces = np.asarray(network.pieces(points))
    assert pieces.shape == (101, 2)
    np.testing.assert_array_equal(np.sum(pieces, axis=1), 1)
    assert np.all(pieces[points[:, 0] < -0.81, 0] == 1)  # x < 1
    assert np.all(pieces[points[:, 0] > -0.79, 1] == 1)
    units = RandomUnits.drawn(network, 1, 20, jax.random.key(1)).around(network, points)
    values = np.asarray(jax.vmap(lambda x: units.values(network, x))(points))
    moved = np.asarray(jax.vmap(lambda x: units.values(network, Jet.variable(x, ((0,), (1,)))).stack[1])(points))
    for found in (values, moved):
        seen = [np.any(found[pieces[:, piece] == 1] != 0, axis=0) for piece in (0, 1)]
        np.testing.assert_array_equal(seen[0], np.arange(20) < 10)
        np.testing.assert_array_equal(seen[1], np.arange(20) >= 10)
