"""Points where most is left."""

import warnings

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
    numbers = (1536, len(channels[1].points[0]))
    moved, places = where_most_is_left(channels, many, stack([problem.solution(step)]), keys, numbers)
    near = np.abs(np.asarray(moved[0].points[0, :, 0]) - 0.5) < 0.1
    assert [channel.points.shape[1] for channel in moved] == list(numbers)
    np.testing.assert_array_equal(moved[0].points[0], many[0].points[0][places[0][0]])
    assert 0.4 < near.mean() < 0.8  # half of them stay spread evenly
    assert len(np.unique(np.asarray(moved[0].points[0]), axis=0)) == len(near)  # none twice


def test_measurements_stay_where_they_are():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x, data=epinn.Data([0.2, 0.4], [1.0, 2.0], sigma=0.1)
    )
    channels, many = (tuple(stack([p.channels(0)])) for p in (problem, problem.with_many_points(16)))
    solution, keys = stack([problem.solution(Opaque(jnp.sin))]), jax.random.split(jax.random.key(0), 1)
    numbers = tuple(len(channel.points[0]) for channel in channels)
    moved, places = where_most_is_left(channels, many, solution, keys, numbers)
    assert places[1] is None
    np.testing.assert_array_equal(moved[1].points, channels[1].points)


def test_a_fit_with_a_steep_layer_gets_more_points_and_a_file_knows_where_they_are(tmp_path):
    """A network of 32 rows learns them by heart; the layer lies between them."""

    def problem():
        return epinn.Problem(
            domain=epinn.Box(x=(-1, 1)),
            equation=lambda u, x: u.x - 100 / jnp.cosh(100 * (x - 0.303)) ** 2,
            boundary=epinn.Dirichlet(-1.0, on="x=-1"),
            points=epinn.Points(collocation=24),
        )

    base = epinn.Base(epochs=200, newton=60, restarts=0, hidden=(16, 16))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", epinn.EpinnWarning)  # whether it finds the solution is not what is asked
        pinn = epinn.fit(problem(), key=0, base=base)
        band = epinn.attach(pinn, problem(), method="laplace", key=1)
    assert pinn.moved is not None
    (channel,) = pinn.channels
    assert len(channel.points) > 24
    band.save(tmp_path / "band.safetensors")
    again = epinn.load(tmp_path / "band.safetensors", problem())
    np.testing.assert_array_equal(again.pinn.channels[0].points, channel.points)
    np.testing.assert_array_equal(again.pinn.channels[0].target, channel.target)
    facing = pinn.facing(problem())
    np.testing.assert_array_equal(facing.channels[0].points, channel.points)
