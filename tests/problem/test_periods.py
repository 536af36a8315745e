"""How fast what is given varies decides how finely networks bend, and on how many points."""

import jax.numpy as jnp
import numpy as np

import epinn
from epinn.problem.scales import Scales


def test_what_is_given_says_how_fast_fields_vary():
    """sin(20 pi x) has ten periods in (0, 1), five in half of it; the other coordinate has a quarter."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1), y=(0, 1), t=(0, 5)),
        equation=lambda u: u.t - u.xx - u.yy,
        initial=epinn.Initial(lambda x, y: jnp.sin(20 * jnp.pi * x) * jnp.sin(jnp.pi * y)),
    )
    scales = Scales.of(problem)
    np.testing.assert_allclose(scales.periods, [5, 0.25, 0], atol=0.3)
    np.testing.assert_allclose(scales.stretch, [5, 1, 1], atol=0.3)
    assert scales.times == 5
    assert len(scales.channels(problem, 0)[0].points) == 5 * len(problem.channels(0)[0].points)


def test_noise_leaves_the_number_of_points_alone():
    data = epinn.Data([[0.5, 0.5]], [1.0], sigma=0.1)
    wavy = epinn.Problem(
        domain=epinn.Box(x=(0, 1), y=(0, 1)), equation=lambda u, x: u.xx + u.yy - jnp.sin(20 * jnp.pi * x), data=data
    )
    assert Scales.of(wavy).times == 1
