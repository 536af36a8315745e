"""The two readings of a residual, against their formulas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import epinn
from epinn.derivatives.network import MLP, Opaque
from epinn.problem.boundary import Dirichlet, Periodic
from epinn.problem.channel import describe_noise, log_likelihood, mean_square, passes, residuals, thinned
from epinn.problem.conditions import Constant, Data
from epinn.problem.context import Points
from epinn.problem.domain import Box
from epinn.problem.precision import TOLERANCE
from epinn.problem.problem import Problem

pytestmark = pytest.mark.usefixtures("quick_compile", "x64")

X, Y = np.array([0.1, 0.4, 0.8]), np.array([1.0, -2.0, 0.5])
ROWS = (X**2 - Y)[:, None]  # of u = x^2


def solution(problem):
    return problem.solution(Opaque(lambda x: x**2))


def channels(*conditions):
    problem = Problem(Box(x=(0, 1)), lambda u: u.xx - 2, extra=conditions, points=Points(8))
    made = problem.channels(0)
    return made, jax.jit(lambda: residuals(made, solution(problem)))()


def test_residuals_are_operator_minus_target():
    _, rows = channels(Data(X, Y), Data(X, Y, operator=lambda u: u.x))
    assert [row.shape for row in rows] == [(8, 1), (3, 1), (3, 1)]
    np.testing.assert_allclose(rows[0], 0, atol=1e-14)
    np.testing.assert_allclose(rows[1], ROWS, rtol=1e-14)
    np.testing.assert_allclose(rows[2], (2 * X - Y)[:, None], rtol=1e-14)


def test_a_partner_turns_the_residual_into_a_difference():
    _, rows = channels(Periodic("x"))
    np.testing.assert_allclose(rows[1], [[0 - 1, 0 - 2]])  # values, slopes


def test_residuals_of_a_vector_have_one_column_each():
    _, rows = channels(Data(X, np.stack([Y, X], axis=1), operator=lambda u: (u, u.xx)))
    np.testing.assert_allclose(rows[1], np.stack([X**2 - Y, 2 - X], axis=1), rtol=1e-14)


def test_the_mean_square_sums_over_components_and_averages_over_points():
    rows = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(mean_square(jnp.asarray(rows)), (np.linalg.norm(rows, axis=1) ** 2).mean())


def test_the_mean_square_averages_over_leading_axes():
    rows = np.random.default_rng(0).normal(size=(4, 5, 3))
    single = [mean_square(jnp.asarray(row)) for row in rows]
    np.testing.assert_allclose(mean_square(jnp.asarray(rows)), np.mean(single))


def test_the_mean_square_of_a_centred_channel_is_the_variance():
    (_, constant), (_, row) = channels(Constant("u"))
    np.testing.assert_allclose(mean_square(row), np.var(np.asarray(constant.points) ** 2))


@pytest.mark.parametrize("sigma", [0.3, [0.3, 0.1, 2.0]])
def test_the_log_likelihood_of_known_noise_is_gaussian_up_to_a_constant(sigma):
    made, rows = channels(Data(X, Y, sigma=sigma))
    gaussian = norm.logpdf(X**2, loc=Y, scale=sigma).sum() - norm.logpdf(0, scale=np.broadcast_to(sigma, 3)).sum()
    np.testing.assert_allclose(log_likelihood(made[1:], rows[1:]), gaussian, rtol=1e-13)


def test_the_log_likelihood_of_a_vector_uses_the_sigma_of_its_point():
    sigma = np.array([0.3, 0.1, 2.0])
    made, rows = channels(Data(X, np.stack([Y, X], axis=1), operator=lambda u: (u, u.xx), sigma=sigma))
    expected = -0.5 * sum(((X**2 - Y) / sigma) ** 2) - 0.5 * sum(((2 - X) / sigma) ** 2)
    np.testing.assert_allclose(log_likelihood(made[1:], rows[1:]), expected, rtol=1e-13)


@pytest.mark.parametrize("sigma", [0.05, 1.0, 7.0])
def test_the_log_likelihood_of_unknown_noise_counts_its_normalisation(sigma):
    made, rows = channels(Data(X, Y))
    gaussian = norm.logpdf(X**2, loc=Y, scale=sigma).sum() + 1.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(log_likelihood(made[1:], rows[1:], {"data": jnp.log(sigma)}), gaussian, rtol=1e-13)


def test_the_likeliest_unknown_noise_is_the_root_mean_square():
    made, rows = channels(Data(X, Y))
    grid = np.log(np.linspace(0.5, 3, 2001))
    values = jax.vmap(lambda s: log_likelihood(made[1:], rows[1:], {"data": s}))(jnp.asarray(grid))
    np.testing.assert_allclose(np.exp(grid[np.argmax(values)]), np.sqrt(np.mean(ROWS**2)), atol=2e-3)


def test_exact_channels_count_as_known_up_to_their_tolerance():
    made, rows = channels(Dirichlet(0.5), Dirichlet(0.5, tolerance=0.2))
    squares = 0.5**2 + 0.5**2
    np.testing.assert_allclose(log_likelihood(made[1:2], rows[1:2]), -0.5 * squares / TOLERANCE**2, rtol=1e-12)
    np.testing.assert_allclose(log_likelihood(made[2:], rows[2:]), -0.5 * squares / 0.2**2, rtol=1e-12)


def test_the_log_likelihood_adds_over_channels():
    made, rows = channels(Data(X, Y, sigma=0.3), Data(X, Y), Dirichlet(0.5))
    log_sigma = {"data 2": jnp.log(0.7)}
    parts = [log_likelihood([c], [r], log_sigma) for c, r in zip(made, rows, strict=True)]
    np.testing.assert_allclose(log_likelihood(made, rows, log_sigma), sum(parts), rtol=1e-13)


def test_noise_is_described_with_its_origin():
    made, _ = channels(Data(X, Y, sigma=[0.1, 0.2, 0.3]), Data(X, Y), Dirichlet(0.5, tolerance=0.2))
    lines = [(d["channel"], d["rows"], d["noise"], d["sigma"], d["origin"]) for d in describe_noise(made[1:])]
    assert lines == [
        ("data", 3, "known", pytest.approx(0.2), "given by the user"),
        ("data 2", 3, "unknown", pytest.approx(TOLERANCE), "inferred"),
        ("boundary", 2, "exact", pytest.approx(0.2), "tolerance"),
    ]


def several_channels(points):
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 1)),
        equation=lambda u: u.t - u.xx,
        boundary=epinn.Periodic("x"),
        initial=0.5,
        data=epinn.Data(np.random.default_rng(0).uniform(size=(points, 2)), np.zeros(points), sigma=0.1),
        points=epinn.Points(collocation=30, boundary=5),
    )
    return problem, problem.channels(0)


def test_all_channels_share_a_pass():
    (one,) = passes(several_channels(10)[1])
    assert one.channels == (0, 1, 2, 3)
    assert len(one.points) == 30 + 2 * 5 + 5 + 10


def test_a_channel_with_very_many_points_has_a_pass_of_its_own():
    shared, alone = passes(several_channels(3000)[1])
    assert shared.channels == (0, 1, 2)
    assert alone.channels == (3,)
    assert alone.orders == ((0, 0),)


@pytest.mark.slow
@pytest.mark.parametrize("points", [10, 3000])
def test_residuals_do_not_depend_on_who_shares_a_pass(points):
    problem, channels = several_channels(points)
    solution = problem.solution(MLP.create(2, (6,), 1, key=jax.random.key(0)))
    for found, channel in zip(residuals(channels, solution), channels, strict=True):
        np.testing.assert_allclose(found, residuals([channel], solution)[0], rtol=1e-5, atol=1e-6)


def test_fewer_points_leave_the_ends_of_an_interval_and_what_was_measured():
    conditions = [Data(np.linspace(0, 1, 20), np.zeros(20), sigma=0.1)]
    problem = Problem(Box(x=(0, 1)), lambda u: u.xx - 2, boundary=Dirichlet(0.0), extra=conditions, points=Points(500))
    every = problem.channels(0)
    fewer = {channel.name: len(channel.points) for channel in thinned(every, 100)}
    assert fewer == {"equation": 78, "boundary": 2, "data": 20}
    assert thinned(every, 522) == every
