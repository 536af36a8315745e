"""A measured average is the integral over its window divided by its size, wherever residuals are looked at."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Frozen, Opaque, Solution
from epinn.derivatives.units import Units
from epinn.problem.channel import residuals
from epinn.problem.conditions import Data
from epinn.problem.domain import Box
from epinn.problem.problem import Problem

pytestmark = pytest.mark.usefixtures("quick_compile")

ROD = Box(x=(0, 2), t=(0, 10))
POINTS = np.array([[0.5, 6.0], [1.0, 7.0], [1.5, 8.0]])


def nothing():
    return 0.0


def made(data, domain=ROD, **options):
    problem = Problem(domain, nothing, extra=data, **options)
    return problem.channels(0)[1], problem


def left(data, function, domain=ROD, **options):
    """What a function of the coordinates leaves of some measurements."""
    channel, problem = made(data, domain, **options)
    (rows,) = residuals([channel], problem.solution(Opaque(lambda x: jnp.atleast_1d(function(*x)))))
    return np.asarray(rows[:, 0])


def field(x, t):
    return x**2 * t + jnp.sin(t)


def mean_over_time(x, low, high):
    """By hand."""
    return x**2 * (low + high) / 2 - (np.cos(high) - np.cos(low)) / (high - low)


@pytest.mark.parametrize(("over", "low", "high"), [(4.0, -2.0, 2.0), ((-5.0, 0.0), -5.0, 0.0), ((0, 1), 0.0, 1.0)])
@pytest.mark.usefixtures("x64")
def test_windows_in_time(over, low, high):
    x, t = POINTS.T
    values = mean_over_time(x, t + low, t + high)
    np.testing.assert_allclose(left(Data(POINTS, values, over={"t": over}), field), 0, atol=1e-9)
    assert np.abs(left(Data(POINTS, values), field)).min() > 0.01  # the value at the point is something else


@pytest.mark.usefixtures("x64")
def test_areas_and_lines_of_sight():
    values = (POINTS[:, 0] ** 2 + 0.5**2 / 12) * POINTS[:, 1]
    area = Data(POINTS, values, over={"x": 0.5, "t": 3.0})
    np.testing.assert_allclose(left(area, lambda x, t: x**2 * t), 0, atol=1e-12)
    line = Data([[0.0, 3.0]], [4 / 3], over={"x": (0.0, 2.0)})
    np.testing.assert_allclose(left(line, lambda x, t: x**2), 0, atol=1e-12)
    step = Data([[0.0, 3.0]], [0.5], over={"x": (0.0, 2.0)})
    np.testing.assert_allclose(left(step, lambda x, t: jnp.where(x > 1.0, 1.0, 0.0)), 0, atol=0.02)


@pytest.mark.usefixtures("x64")
def test_any_operator_can_be_averaged():
    slopes = Data(POINTS, 2 * POINTS[:, 0] + POINTS[:, 0] ** 2, operator=lambda u, x, k: u.x + k * x**2, over={"t": 2.0})
    unknown = {"k": epinn.Unknown(guess=1.0)}
    np.testing.assert_allclose(left(slopes, lambda x, t: x**2 + t, unknowns=unknown), 0, atol=1e-12)


@pytest.mark.usefixtures("x64")
def test_averages_are_dimensionless_inside_too():
    x, t = POINTS.T
    data = Data(POINTS, 300 + mean_over_time(x, t - 2, t + 2) + 1.0, over={"t": 4.0})
    channel, _ = made(data)
    units = Units(jnp.array([1.0, 5.0]), jnp.array([1.0, 5.0]), jnp.array([300.0]), jnp.array([20.0]), {})
    inside = channel.inside(units, jnp.array([8.0]))
    network = Opaque(lambda p: jnp.atleast_1d(field(1 + p[0], 5 + 5 * p[1]) / 20))
    (rows,) = residuals([inside], Solution(network, {}, frozen_units=Frozen(units)))
    np.testing.assert_allclose(rows[:, 0], -1 / 8, atol=1e-9)


@pytest.mark.usefixtures("x64")
def test_some_points_and_single_points_of_averages():
    values = np.array([1.0, 2.0, 3.0])
    channel, problem = made(Data(POINTS, values, sigma=values, over={"t": 2.0}))
    solution = problem.solution(Opaque(lambda p: jnp.atleast_1d(p[1])))
    (every,) = residuals([channel], solution)
    (some,) = residuals([channel.at(np.array([0, 2]))], solution)
    np.testing.assert_allclose(some, np.asarray(every)[[0, 2]])
    one_by_one = jax.vmap(lambda alone: residuals([alone], solution)[0])(channel.apart())
    np.testing.assert_allclose(one_by_one[:, 0], every)


def test_an_average_is_no_direct_measurement():
    problem = Problem(ROD, nothing, data=Data(POINTS, np.ones(3), over={"t": 1.0}))
    assert len(problem.sensors()[0]) == 0
    assert dataclasses.replace(problem.data[0], over=None).is_direct


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({}, ("over=", "{'t': 5.0}")),
        ({"y": 1.0}, ("no coordinate 'y'",)),
        ({"t": 0.0}, ("t", "positive")),
        ({"t": -1.0}, ("t", "positive")),
        ({"t": (0.0, -1.0)}, ("begins", "(0.0, -1.0)")),
        ({"t": "long"}, ("'long'",)),
        ({"t": (1.0, 2.0, 3.0)}, ("begins",)),
        ({"t": float("inf")}, ("inf",)),
        ({"t": 5.0}, ("1 of 3", "row 2", "windows of data", "by 0.5 in t")),
    ],
)
def test_wrong_windows_are_one_line(rejects, over, words):
    with rejects(*words):
        made(Data(POINTS, np.ones(3), over=over))


@pytest.mark.slow
def test_a_fit_to_averages_finds_the_field_behind_them():
    x, width, sigma = np.array([0.3, 0.5, 0.7]), 0.6, 1e-3
    averages = x**2 + width**2 / 12  # of u = x^2; the correction is thirty sigma
    problem = Problem(Box(x=(0, 1)), lambda u: u.xx - 2.0, data=Data(x, averages, sigma=sigma, over={"x": width}))
    base = epinn.Base(hidden=(8, 8), epochs=200, newton=50, restarts=0)
    band = epinn.attach(epinn.fit(problem, base=base), method="laplace", settings={"samples": 200})
    mean, std = band.predict(x)
    assert np.abs(mean - x**2).max() < 4 * sigma
    assert np.all(np.abs(mean - x**2) < 4 * std + 1e-3)
    assert band.noise == {}  # of one more measurement at a point nothing is known
