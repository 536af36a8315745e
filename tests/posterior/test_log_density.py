"""The target of all Bayesian methods, against its formula."""

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.posterior.log_density import from_prior, members_of, posteriors_of, size_of, trained
from epinn.solve.config import Base
from epinn.solve.seeds import stack, unstack

pytestmark = pytest.mark.usefixtures("quick_compile")
X = np.linspace(-1, 1, 5)
Y = np.array([0.3, -0.1, 0.4, 0.2, 0.9])


def pinn(sigma=0.5, **options):
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(X, Y, sigma=sigma), **options)
    return epinn.fit(problem, base=Base(hidden=(), epochs=0, newton=0, restarts=0, dimensionless=False))


def target_of(pinn, prior_sd=2.0, tolerance=0.01):
    return unstack(posteriors_of([pinn], prior_sd, tolerance), 1)[0]


@pytest.mark.slow
def test_the_target_is_prior_times_likelihood():
    vector = jnp.asarray([0.6, -0.2])
    squares = np.sum(((0.6 * X - 0.2 - Y) / 0.5) ** 2) + np.sum((np.asarray(vector) / 2.0) ** 2)
    np.testing.assert_allclose(target_of(pinn())(vector), -0.5 * squares, rtol=1e-5)


def test_unknown_noise_is_a_coordinate_of_its_own():
    target = target_of(pinn(sigma="unknown"))
    vector, log_sigma, guess = jnp.asarray([0.6, -0.2, -1.5]), -1.5, np.log(0.1 * Y.std() + 1e-6)
    squares = np.sum((0.6 * X - 0.2 - Y) ** 2) * np.exp(3.0) + np.sum(np.asarray(vector[:2]) ** 2) / 4
    expected = -0.5 * squares - 5 * log_sigma - 0.5 * (log_sigma - guess) ** 2
    np.testing.assert_allclose(target(vector), expected, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("tolerance", "sigma"), [(0.05, 0.05), (0.001, 0.01)])
def test_only_exact_channels_are_widened_to_the_tolerance(tolerance, sigma):
    base = Base(hidden=(3,), epochs=0, newton=0, restarts=0, dimensionless=False)
    found = epinn.fit(epinn.problems.poisson1d(0.02, collocation=4, sensors=3), base=base)
    channels = {c.name: float(c.sigma[0]) for c in target_of(found, tolerance=tolerance).channels}
    np.testing.assert_allclose(channels["equation"], sigma, rtol=1e-5)
    np.testing.assert_allclose(channels["data"], 0.02, rtol=1e-5)


def test_a_vector_is_a_solution_and_back():
    found = pinn()
    targets = posteriors_of([found, found], 1.0, 0.01)
    vectors = trained(targets, stack([found.solution] * 2))
    assert vectors.shape == (2, size_of(targets)) == (2, 2)
    (members, _), _ = members_of(targets, np.asarray(vectors)[:, None, None])
    np.testing.assert_array_equal(members.solution(0)(X[:, None]), found.solution(X[:, None]))


def test_draws_from_the_prior_have_its_moments():
    found = pinn(unknowns={"c": epinn.Unknown(guess=3.0, prior=epinn.Normal(3.0, 0.5))})
    targets = posteriors_of([found], 2.0, 0.01)
    drawn = np.asarray(from_prior(targets, epinn.problem.problem.as_key(0)[None], 4000))[0]
    np.testing.assert_allclose(drawn.mean(axis=0), [0, 0, 3], atol=0.15)
    np.testing.assert_allclose(drawn.std(axis=0), [2, 2, 0.5], rtol=0.05)
