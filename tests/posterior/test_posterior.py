"""Functionals of a posterior against what they must be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque, Solution
from epinn.posterior.sampler import Sampler


class Line(Sampler):
    """u = a x + sin(x) with a ~ N(2, 0.5^2), and the unknown k equal to a."""

    def index(self, key):
        return 2 + 0.5 * jax.random.normal(key)

    def solution(self, index):
        return Solution(Opaque(lambda x: index * x + jnp.sin(x)), {"k": index})


@pytest.fixture(scope="module")
def band():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 2)),
        equation=residual,
        unknowns={"k": epinn.Unknown(1.0, exact=2.0)},
    )
    return epinn.Posterior(Line(), problem, "line")


def residual(u, k, x):
    return u.x - k - jnp.cos(x)


X = np.linspace(0, 2, 5)
DRAWS = 20_000


@pytest.mark.slow
def test_a_gradient_has_the_mean_and_sd_of_the_draws_gradients(band):
    slope = band.evaluate(lambda u: u.x, at=X, draws=DRAWS)
    np.testing.assert_allclose(slope.mean, 2 + np.cos(X), atol=0.02)
    np.testing.assert_allclose(slope.std, 0.5, rtol=0.03)


def test_the_residual_itself_can_be_evaluated_with_the_unknowns_of_each_draw(band):
    found = band.evaluate(residual, at=X, draws=100)
    np.testing.assert_allclose(found.mean, 0, atol=1e-6)
    np.testing.assert_allclose(found.std, 0, atol=1e-6)


def test_an_integral_is_a_function_of_the_solution(band):
    grid = jnp.linspace(0, 2, 201)[:, None]
    integral = band.evaluate(lambda s: jnp.trapezoid(s(grid)[:, 0], grid[:, 0]), draws=DRAWS)
    assert abs(integral.mean - (4 + 1 - np.cos(2))) < 0.05
    assert abs(integral.std - 1.0) < 0.03


def test_several_functionals_at_once(band):
    pair = band.evaluate(lambda u: (u, u.xx), at=X, draws=200)
    assert pair.mean.shape == (5, 2)
    np.testing.assert_allclose(pair.mean[:, 1], -np.sin(X), atol=1e-5)


@pytest.mark.slow
def test_unknowns_come_by_name_with_quantiles_and_samples(band):
    k = band.unknowns(draws=DRAWS, quantiles=(0.025, 0.975), samples=100)["k"]
    assert abs(k.mean - 2) < 0.02
    assert abs(k.quantiles[0.025] - (2 - 0.98)) < 0.04
    assert abs(k.quantiles[0.975] - (2 + 0.98)) < 0.04
    assert k.samples.shape == (100,)


def test_prediction_unpacks_as_mean_and_std(band):
    mean, std = band.predict(X, draws=DRAWS)
    np.testing.assert_allclose(mean, 2 * X + np.sin(X), atol=0.03)
    np.testing.assert_allclose(std, 0.5 * X, atol=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda band: band.predict(np.zeros((3, 2))), "one column for each of x"),
        (lambda band: band.predict(X, draws=1), "2 draws"),
        (lambda band: band.predict(X, quantiles=(2.0,)), "between 0 and 1"),
        (lambda band: band.predict(X, field="v"), "field 'v'"),
        (lambda band: band.evaluate(lambda u: u.y, at=X), "coordinates are x"),
    ],
)
def test_mistakes_get_a_sentence(band, call, message):
    with pytest.raises(epinn.InputError, match=message):
        call(band)


def test_its_repr_is_one_line(band):
    assert repr(band) == "<Posterior by line: u, k>"
