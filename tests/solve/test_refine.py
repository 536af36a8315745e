"""Points where most is left."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque
from epinn.solve.refine import where_most_is_left
from epinn.solve.seeds import stack

pytestmark = pytest.mark.usefixtures("quick_compile")


def test_points_gather_where_the_residual_is():
    """u.x of a step at 0.5 is large next to it, and nothing elsewhere."""
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1), y=(0, 1)), equation=lambda u: u.x, boundary=epinn.Dirichlet(0.0, on="y"))
    step = Opaque(lambda x: jnp.tanh(50 * (x[:1] - 0.5)))
    channels, many = (tuple(stack([p.channels(0)])) for p in (problem, problem.with_many_points(16)))
    keys = jax.random.split(jax.random.key(0), 1)
    moved = where_most_is_left(channels, many, stack([problem.solution(step)]), keys)
    near = np.abs(np.asarray(moved[0].points[0, :, 0]) - 0.5) < 0.1
    assert moved[0].points.shape == channels[0].points.shape
    assert 0.4 < near.mean() < 0.8  # half of them stay spread evenly
    assert len(np.unique(np.asarray(moved[0].points[0]), axis=0)) == len(near)  # none twice


def test_measurements_stay_where_they_are():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x, data=epinn.Data([0.2, 0.4], [1.0, 2.0], sigma=0.1)
    )
    channels, many = (tuple(stack([p.channels(0)])) for p in (problem, problem.with_many_points(16)))
    moved = where_most_is_left(
        channels, many, stack([problem.solution(Opaque(jnp.sin))]), jax.random.split(jax.random.key(0), 1)
    )
    np.testing.assert_array_equal(moved[1].points, channels[1].points)
