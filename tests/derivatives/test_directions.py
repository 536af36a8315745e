"""Directions from corners: their derivatives, and what is the same along each of them."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.directions import Directions
from epinn.derivatives.jet import Jet, lower_closure
from epinn.derivatives.network import MLP, Encoding, Frozen

ORDERS = lower_closure([(4, 0), (2, 2), (0, 4)])


def directions(in_time, by=(1.0, 2.5), at=(-1.0, -1.0)):
    return Directions(((0, 1),), (at,), (in_time,), Frozen(jnp.asarray([by])))


def distances(width=1e-2):
    """From a wall along the second coordinate."""
    return Directions(((1,),), ((1.0,),), (False,), Frozen(jnp.asarray([[-1 / width, 1 / np.arcsinh(2 / width)]])))


def slope(function, axis):
    return lambda x: jax.jvp(function, (x,), (jnp.eye(2)[axis],))[1]


def later():
    """From where something happens in the middle of time."""
    return directions(True, at=(-1.0, -0.2))


CASES = [(lambda: directions(False), -0.7), (lambda: directions(True), -0.7), (distances, -0.7), (later, -0.7), (later, 0.3)]


@pytest.mark.parametrize(("made", "time"), CASES)
def test_derivatives_are_those_of_nested_differentiation(made, time):
    with jax.enable_x64(True):
        shown, x = made(), jnp.asarray([-0.4, time])
        jet = shown(Jet.variable(x, ORDERS))
        for order in ORDERS:
            function = shown
            for axis in itertools.chain.from_iterable([axis] * n for axis, n in enumerate(order)):
                function = slope(function, axis)
            np.testing.assert_allclose(jet[order], function(x), rtol=1e-9, atol=1e-12)


def test_before_it_happens_all_is_as_it_is_far_away_from_there():
    with jax.enable_x64(True):
        before, after, away = (later()(jnp.asarray(x)) for x in ([-1.0, -0.7], [-0.5, -0.2 + 1e-9], [-0.4, -0.7]))
    np.testing.assert_allclose(before[:2], 1.0)
    np.testing.assert_allclose(after[:2], 1.0, atol=1e-6)
    np.testing.assert_allclose(away, [1.0, 1.0, 0.6 / np.sqrt(1 + 0.6**2), 0.0], atol=1e-9)


@pytest.mark.parametrize("in_time", [False, True])
def test_all_but_the_distance_is_the_same_along_a_direction(in_time):
    with jax.enable_x64(True):
        shown = directions(in_time)
        near, far = (shown(jnp.asarray([-1 + 0.2 * s, -1 + 0.1 * (s * s if in_time else s)])) for s in (0.1, 1.0))
    same = np.isclose(near, far, rtol=1e-6)
    assert same.sum() == shown.size - 1
    assert abs(far[~same]) > abs(near[~same])


def test_the_simplest_fields_are_among_them():
    """The angle solves Laplace's equation, and the error function that of heat."""
    with jax.enable_x64(True):
        orders = lower_closure([(2, 0), (0, 2)])
        x = Jet.variable(jnp.asarray([-0.4, -0.7]), orders)
        angle = directions(False, by=(1.0, 1.0))(x)
        np.testing.assert_allclose(angle[2, 0][2] + angle[0, 2][2], 0.0, atol=1e-9)
        heat = directions(True, by=(1.0, 4 * 0.3))(x)
        np.testing.assert_allclose(heat[0, 1][1] - 0.3 * heat[2, 0][1], 0.0, atol=1e-9)


def test_a_corner_itself_and_what_is_rounded_to_before_it_have_values():
    for x in ([-1.0, -1.0], [-0.9, -1.0 - 1e-7], [-1.0, -1.0 - 1e-7]):
        assert np.all(np.isfinite(directions(True)(jnp.asarray(x))))
        assert np.all(np.isfinite(directions(False)(jnp.asarray(x))))


def test_a_network_that_is_shown_them_has_so_many_more_inputs():
    shown = directions(True)
    network = MLP.create(2, (8,), 1, key=jax.random.key(0), encoding=Encoding(directions=shown))
    assert network.weights[0].shape == (8, 2 + shown.size)
    assert network.places(jnp.zeros(2)).shape == (2 + shown.size,)
    assert network(jnp.zeros(2)).shape == (1,)
