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
