"""Every shipped problem is satisfied by its exact solution; its noise is what it says."""

import dataclasses
import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.network import Opaque, Solution
from epinn.problem.channel import residuals
from epinn.problems import SHIPPED

pytestmark = pytest.mark.usefixtures("quick_compile")

NOISE = 0.1
EVERY = pytest.mark.parametrize("name", SHIPPED)


@functools.cache
def noisy(name, key=1):
    """In double precision: ask for it in tests that are."""
    return SHIPPED[name](noise=NOISE, key=key, sensors=900, collocation=36)


@functools.cache
def leftovers(name):
    """The residuals of the exact solution, by channel."""
    problem = noisy(name)

    @jax.jit
    def rows():
        channels = problem.channels(0)
        return {c.name: row for c, row in zip(channels, residuals(channels, problem.exact_solution()), strict=True)}

    return rows()


@pytest.mark.slow
@EVERY
@pytest.mark.usefixtures("x64")
def test_the_exact_solution_satisfies_every_condition(name):
    for channel, residual in leftovers(name).items():
        assert residual.dtype == jnp.float64
        if channel != "data":
            assert np.abs(residual).max() < 1e-10, channel


@EVERY
@pytest.mark.usefixtures("x64")
def test_what_is_left_of_the_data_is_noise_of_the_said_size(name):
    z = np.asarray(leftovers(name)["data"])[:, 0] / noisy(name).data[0].sigma
    assert len(z) == 900
    assert abs(z.std() - 1) < 4 / np.sqrt(2 * 900)
    assert abs(z.mean()) < 4 / np.sqrt(900)
    assert abs(np.corrcoef(z[1:], z[:-1])[0, 1]) < 4 / np.sqrt(900)


@pytest.mark.slow
@EVERY
@pytest.mark.usefixtures("x64")
def test_a_solution_that_is_not_exact_is_found_out(name):
    """The exact solution and a small smooth bump: every equation notices."""
    problem = noisy(name)
    bumped = Opaque(lambda x: problem.exact_at(x[None])[0] + 0.01 * jnp.sin(9 * jnp.sum(x)))
    (channel,) = dataclasses.replace(problem, boundary=(), initial=(), data=(), extra=()).channels(0)
    (residual,) = jax.jit(lambda: residuals([channel], Solution(bumped)))()
    assert np.abs(residual).max() > 1e-3


@EVERY
@pytest.mark.usefixtures("x64")
def test_sigma_is_relative_to_the_largest_value(name):
    problem = noisy(name)
    sigma = float(problem.data[0].sigma)
    counts = (4001,) if problem.domain.dimension == 1 else (301, 301)
    largest = np.abs(np.asarray(problem.exact_at(problem.domain.grid(*counts)))[:, 0]).max()
    np.testing.assert_allclose(sigma, NOISE * largest, rtol=1e-4)


@EVERY
def test_without_noise_nothing_is_measured(name):
    assert SHIPPED[name](noise=0.0).data == ()


@pytest.mark.slow
@EVERY
@pytest.mark.usefixtures("x64")
def test_the_key_decides_the_noise(name):
    first, same, other = (problem.data[0] for problem in (noisy(name), noisy.__wrapped__(name), noisy(name, key=2)))
    np.testing.assert_array_equal(first.values, same.values)
    assert not np.any(np.asarray(first.values) == np.asarray(other.values))
    assert first.sigma == other.sigma


@pytest.mark.slow
@EVERY
@pytest.mark.usefixtures("x64")
def test_counts_are_those_asked_for(name):
    rows = {channel: len(residual) for channel, residual in leftovers(name).items()}
    assert rows["equation"] == 36
    assert rows["data"] == 900


@EVERY
def test_the_name_is_that_of_its_function(name):
    problem = SHIPPED[name](noise=0.0)
    assert problem.name == name
    assert SHIPPED[name].__name__ == name.replace("-", "_")
    assert inspect.getdoc(SHIPPED[name])


@EVERY
@pytest.mark.parametrize("noise", [-0.1, float("nan"), float("inf")])
def test_a_noise_level_that_makes_no_sense_is_refused(name, noise, rejects):
    with rejects("noise", str(noise)):
        SHIPPED[name](noise=noise)


def test_the_inverse_problem_seeks_its_diffusivity():
    problem = SHIPPED["heat1d-inverse"](noise=0.0)
    assert problem.sought == ("kappa",)
    np.testing.assert_allclose(problem.summary(problem.exact_solution())["kappa"], 0.1, rtol=1e-6)


def test_points_may_be_resampled():
    problem = SHIPPED["burgers"](noise=0.0, resample=10)
    assert problem.points.resample == 10
    assert not np.array_equal(problem.channels(0)[0].points, problem.channels(1)[0].points)
