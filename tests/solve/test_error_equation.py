"""The error equation: what can be estimated at all. Estimates are tested with what uses them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.interop.adopt import adopt
from epinn.solve.error_equation import can_be_estimated, estimates

pytestmark = pytest.mark.usefixtures("quick_compile")


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


@pytest.mark.parametrize(("rate", "begin"), [(6.0, 1e-2), (8.0, 1e-3)])
def test_an_error_that_the_equation_amplifies_is_found(rate, begin):
    """A logistic curve that solves its equation exactly and begins wrong: where it is small it grows a thousandfold, and what
    is wrong with it. Once that is corrected, what is not linear in it leaves more residuals than there were."""

    def curve(weights, t):
        grown = weights["begin"] * jnp.exp(rate * t)
        return grown / (1 + grown - weights["begin"])

    problem = epinn.Problem(epinn.Box(t=(0, 2)), lambda u: u.t - rate * u * (1 - u), initial=epinn.Initial(begin))
    wrong = {"begin": np.full(1, 1.3 * begin, np.float32)}
    found = estimates([adopt((curve, wrong), problem)], jax.random.split(jax.random.key(0), 1))
    times = np.linspace(0, 2, 201)
    true = np.sqrt(np.mean((curve(wrong, times) - curve({"begin": begin}, times)) ** 2))
    assert true > 0.02
    np.testing.assert_allclose(float(found.size[0, 0]), true, rtol=0.05)
    assert float(found.left[0]) < 0.01
