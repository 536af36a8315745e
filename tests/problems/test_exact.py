"""Every shipped problem is satisfied by its exact solution; its noise is what it says."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.channel import residuals
from epinn.problems import SHIPPED

NOISE = 0.1
EVERY = pytest.mark.parametrize("name", SHIPPED)


def rows(problem, key=0):
    channels = problem.channels(key)
    return dict(zip([c.name for c in channels], zip(channels, _residuals(problem, channels), strict=True), strict=True))


def _residuals(problem, channels):
    return jax.jit(lambda: residuals(channels, problem.exact_solution()))()


@EVERY
@pytest.mark.usefixtures("x64")
def test_the_exact_solution_satisfies_every_condition(name):
    for channel, residual in rows(SHIPPED[name](noise=0.0)).values():
        assert residual.dtype == jnp.float64
        assert float(jnp.max(jnp.abs(residual))) < 1e-10, channel.name


@EVERY
@pytest.mark.usefixtures("x64")
def test_what_is_left_of_the_data_is_noise_of_the_said_size(name):
    """Residual over sigma is standard normal, and sigma is the level times max |u|."""
    found = rows(SHIPPED[name](noise=NOISE, key=1, sensors=900))
    channel, residual = found.pop("data")
    z = np.asarray(residual[:, 0] / channel.sigma)
    assert len(z) == 900
    assert abs(z.std() - 1) < 4 / np.sqrt(2 * 900)
    assert abs(z.mean()) < 4 / np.sqrt(900)
    assert channel.noise == "known"
    for other, rest in found.values():
        assert float(jnp.max(jnp.abs(rest))) < 1e-10, other.name


@EVERY
@pytest.mark.usefixtures("x64")
def test_sigma_is_relative_to_the_largest_value(name):
    problem = SHIPPED[name](noise=NOISE)
    sigma = float(problem.data[0].sigma)
    counts = (4001,) if problem.domain.dimension == 1 else (301, 301)
    largest = np.abs(np.asarray(problem.exact_at(problem.domain.grid(*counts)))[:, 0]).max()
    np.testing.assert_allclose(sigma, NOISE * largest, rtol=1e-4)


@EVERY
def test_without_noise_nothing_is_measured(name):
    assert SHIPPED[name](noise=0.0).data == ()


@EVERY
def test_the_key_changes_the_noise_and_nothing_else(name):
    first, same, other = (SHIPPED[name](noise=NOISE, key=key) for key in (1, 1, 2))
    np.testing.assert_array_equal(first.data[0].values, same.data[0].values)
    assert not np.any(np.asarray(first.data[0].values) == np.asarray(other.data[0].values))
    for a, b in zip(first.channels(0), other.channels(0), strict=True):
        if a.kind != "data":
            np.testing.assert_array_equal(a.points, b.points)
            np.testing.assert_array_equal(a.target, b.target)


@EVERY
def test_counts_are_those_asked_for(name):
    channels = {c.name: c for c in SHIPPED[name](noise=NOISE, collocation=36, sensors=16).channels(0)}
    assert len(channels["equation"].points) == 36
    assert len(channels["data"].points) == 16


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
