"""Sigma that nobody gave: what a network reaches, and what evidence says."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque
from epinn.problem.channel import describe_noise
from epinn.solve.noise import estimate_sigma, first_guess
from epinn.solve.optimise.objective import PinnObjective
from epinn.solve.pinn import estimated_channels
from epinn.solve.prior import bayesian_prior
from epinn.solve.seeds import stack

pytestmark = pytest.mark.usefixtures("quick_compile")

LINE = epinn.Base(hidden=(), fourier=6, fourier_scale=0.3, epochs=1, newton=60, restarts=0, dimensionless=False)


def wave(**data):
    x = np.linspace(0.2, 2.8, 12)
    return epinn.Problem(
        domain=epinn.Box(x=(0, 3)),
        equation=lambda u: u.xx + u,
        boundary=epinn.Dirichlet(0.0, on="x=0", tolerance=0.3),
        data=epinn.Data(x, np.sin(x) + 0.2 * (-1.0) ** np.arange(12), **data),
    )


def sigmas(channels):
    return {channel.name: float(np.ravel(channel.sigma)[0]) for channel in channels}


def test_an_exact_condition_counts_as_far_as_the_network_meets_it_between_its_points():
    """A function that solves the equation at the training points, and nowhere else."""
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x, points=epinn.Points(collocation=11))
    ripple = problem.solution(Opaque(lambda x: 0.1 * jnp.cos(10 * np.pi * x) / np.pi))  # its slope is zero at 0, 0.1, ... 1
    (channel,) = estimated_channels(epinn.Base(), ripple, problem, 0)
    assert float(channel.sigma[0]) == pytest.approx(1 / np.sqrt(2), rel=0.25)


def test_a_tolerance_of_the_users_own_is_kept_and_so_is_one_for_all():
    problem = wave(sigma=0.5)
    solution = problem.solution(Opaque(jnp.sin))
    found = sigmas(estimated_channels(epinn.Base(), solution, problem, 0))
    assert found["boundary"] == pytest.approx(0.3)
    assert found["data"] == pytest.approx(0.5)
    assert found["equation"] < 1e-4
    fixed = sigmas(estimated_channels(epinn.Base(tolerance=0.07), solution, problem, 0))
    assert fixed["equation"] == pytest.approx(0.07)
    assert fixed["boundary"] == pytest.approx(0.3)


def test_the_first_guess_has_the_units_of_the_equation():
    def small(factor):
        problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: factor * (u.x - 1), boundary=0.0)
        solution = stack([problem.solution(Opaque(jnp.sin))])
        return sigmas(first_guess(tuple(stack([problem.channels(0)])), solution))

    assert small(1e-4) == {"equation": pytest.approx(1e-6), "boundary": pytest.approx(0.01)}
    assert small(1e4) == {"equation": pytest.approx(0.01), "boundary": pytest.approx(0.01)}


def test_unknown_noise_is_what_is_left_over_the_readings_that_were_not_used_up():
    rng = np.random.default_rng(3)
    x = np.linspace(-1, 1, 20)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, 0.1 * rng.normal(size=20)))
    pinn = epinn.fit(problem, base=LINE)
    left = np.asarray(pinn(x))[:, 0] - np.asarray(problem.data[0].values)
    plain, found = np.sqrt(np.mean(left**2)), pinn.sigmas["data"]
    omega = np.asarray(pinn.solution.network.encoding.frequencies.content, float)[:, 0]
    design = np.concatenate([np.sin(x[:, None] * omega), np.cos(x[:, None] * omega), np.ones((20, 1))], axis=1)
    used = np.trace(design @ np.linalg.solve(design.T @ design + found**2 * np.eye(13), design.T))
    assert 1 < used < 13
    assert found == pytest.approx(plain * np.sqrt(20 / (20 - used)), rel=0.03)


def test_nothing_is_estimated_where_everything_was_given():
    problem = dataclasses.replace(wave(sigma=0.1), equation=epinn.Equation(lambda u: u.xx + u, tolerance=0.1))
    channels = tuple(stack([problem.channels(0)]))
    solution = stack([problem.solution(Opaque(jnp.sin))])
    assert estimate_sigma(channels, channels, solution, PinnObjective, bayesian_prior([problem], solution, 1.0)) is channels


@pytest.mark.slow
def test_the_estimates_say_where_they_come_from():
    pinn = epinn.fit(wave(), base=dataclasses.replace(LINE, epochs=20))
    origins = {row["channel"]: row["origin"] for row in describe_noise(pinn.channels)}
    assert origins == {"equation": "what the network reaches", "boundary": "tolerance", "data": "inferred"}
    assert set(pinn.sigmas) == {"equation", "data"}


@pytest.mark.slow
def test_the_tolerance_of_an_exact_condition_is_found_once_however_often_the_noise_is_estimated():
    base = epinn.Base(hidden=(8,), epochs=50, newton=40, restarts=0, dimensionless=False)
    known, unknown = (epinn.fit(wave(**sigma), base=base).sigmas["equation"] for sigma in ({"sigma": 0.2}, {}))
    assert 0.2 < known / unknown < 5
