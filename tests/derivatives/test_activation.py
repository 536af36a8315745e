"""Activations and their derivatives against nested `jax.grad` of JAX's own."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.activation import ACTIVATIONS, cos

pytestmark = pytest.mark.usefixtures("quick_compile")

ALL = {**ACTIVATIONS, "cos": cos}
REFERENCE = {
    "tanh": jnp.tanh,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "silu": jax.nn.silu,
    "gelu": functools.partial(jax.nn.gelu, approximate=False),
}
ORDER = 4


def test_every_activation_has_a_reference_here():
    assert set(ALL) == set(REFERENCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
@pytest.mark.usefixtures("x64")
def test_derivatives_up_to_order_four_equal_nested_grad(name):
    slopes = list(itertools.accumulate(range(ORDER), lambda function, _: jax.grad(function), initial=REFERENCE[name]))
    x = jnp.linspace(-3.0, 3.0, 25)
    found, expected = jax.jit(lambda x: (ALL[name].derivatives(x, ORDER), [jax.vmap(slope)(x) for slope in slopes]))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_calling_an_activation_gives_its_value(name):
    x = jnp.linspace(-2.0, 2.0, 9)
    value, first = jax.jit(lambda x: (ALL[name](x), ALL[name].derivatives(x, 1)[0]))(x)
    np.testing.assert_array_equal(value, first)


@pytest.mark.parametrize("name", ALL)
def test_derivatives_stay_finite_far_out_in_float32(name):
    x = jnp.array([-1e3, -80.0, 80.0, 1e3], jnp.float32)
    for derivative in jax.jit(lambda x: ALL[name].derivatives(x, ORDER))(x):
        assert derivative.dtype == jnp.float32
        assert np.all(np.isfinite(derivative))


@pytest.mark.parametrize("name", ["tanh", "silu", "gelu"])
def test_curvature_vanishes_far_out(name):
    for derivative in jax.jit(lambda x: ALL[name].derivatives(x, ORDER)[2:])(jnp.array([-50.0, 50.0])):
        np.testing.assert_allclose(derivative, 0, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_an_activation_is_shown_by_its_name(name):
    assert repr(ALL[name]) == name
