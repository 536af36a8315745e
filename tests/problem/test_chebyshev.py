"""Chebyshev series: those of smooth functions end, and are the function; others are refused."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from epinn.problem.chebyshev import along, at_end, evaluated, padded, series, series_of_one

SMOOTH = {
    "constant": lambda p: np.full(len(p), 3.0),
    "polynomial": lambda p: p[:, 0] ** 3 - 2 * p[:, 0] * p[:, -1],
    "waves": lambda p: np.sin(20 * p[:, 0]) * np.exp(p[:, -1]),
}
ROUGH = {
    "kink": lambda p: np.abs(p[:, 0] - 0.3),
    "jump": lambda p: np.sign(p[:, -1] - 0.1),
    "not a number": lambda p: np.where(p[:, 0] > 0.99, np.nan, p[:, 0]),
}


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("name", SMOOTH)
def test_a_smooth_function_is_the_sum_of_its_series(name, dimension):
    points = np.random.default_rng(0).uniform(-1, 1, (50, dimension))
    found = series(SMOOTH[name], dimension)
    assert np.allclose(evaluated(found, points), SMOOTH[name](points), atol=1e-10)


def test_what_is_constant_has_one_coefficient():
    assert series(SMOOTH["constant"], 2).shape == (1, 1)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("name", ROUGH)
def test_series_that_do_not_end_are_refused(name, dimension):
    assert series(ROUGH[name], dimension) is None


def test_a_function_of_one_coordinate():
    found = series_of_one(lambda s: 1 - s**2)
    assert np.allclose(found, [0.5, 0, -0.5], atol=1e-12)


@pytest.mark.parametrize("end", [-1.0, 1.0])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_values_and_derivatives_at_the_ends(end, order):
    coefficients = np.random.default_rng(0).normal(size=(7, 2))
    found = along(at_end(7, end, order)[None], coefficients, 0)[0]
    assert np.allclose(found, chebyshev.chebval(end, chebyshev.chebder(coefficients, order) if order else coefficients))


def test_series_of_different_degrees_are_filled_up():
    assert np.array_equal(padded([np.ones((1, 2)), np.full((2, 1), 2.0)]), [[[1, 1], [0, 0]], [[2, 0], [2, 0]]])
