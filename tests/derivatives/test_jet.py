"""Jets against nested automatic differentiation and finite differences, in float64."""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.activation import ACTIVATIONS
from epinn.derivatives.jet import Jet, activate, affine, join, lower_closure, opaque, positive
from epinn.derivatives.network import MLP, Encoding, Frozen, trainable

pytestmark = pytest.mark.usefixtures("quick_compile", "x64")

BOUNDS = ((-1.0, 0.0, 2.0), (2.0, 0.5, 3.0))
POINT = (0.7, 0.2, 2.4)


def nested(function, orders):
    """The derivatives of `function` by nested `jvp`, stacked like a jet."""

    def once(inner, axis):
        return lambda x: jax.jvp(inner, (x,), (jnp.eye(x.size)[axis],))[1]

    def derivative(order):
        axes = itertools.chain.from_iterable([axis] * n for axis, n in enumerate(order))
        return functools.reduce(once, axes, function)

    return lambda x: jnp.stack([derivative(order)(x) for order in orders])


def push(function, x, orders):
    return jax.jit(lambda x: function(Jet.variable(x, orders)).stack)(x)


def assert_pushed(function, x, orders):
    """Pushing a jet through `function` gives what nesting gives."""
    both = jax.jit(lambda x: (function(Jet.variable(x, orders)).stack, nested(function, orders)(x)))
    assert_same(*both(x))


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())


def network(dimension, *, outputs=2, activation="tanh", fourier=False, scaled=False, seed=0):
    """A random network, made by numpy: JAX would compile for each of its shapes."""
    rng = np.random.default_rng(seed)
    frequencies = Frozen(jnp.asarray(1.5 * rng.normal(size=(3, dimension)))) if fourier else None
    bounds = tuple(side[:dimension] for side in BOUNDS) if scaled else None
    sizes = (6 if fourier else dimension, 4, 3, outputs)
    weights = tuple(jnp.asarray(rng.normal(size=(b, a)) / a**0.5) for a, b in itertools.pairwise(sizes))
    biases = tuple(jnp.asarray(rng.normal(size=n)) for n in sizes[1:])
    return MLP(weights, biases, ACTIVATIONS[activation], Encoding(bounds=bounds, frequencies=frequencies), output_scale=1.7)


def point(dimension):
    return jnp.array(POINT[:dimension])


@pytest.mark.parametrize(
    ("activation", "encoding", "requests"),
    [
        ("tanh", {}, [(4,)]),
        ("sin", {"fourier": True}, [(3,)]),
        ("silu", {"scaled": True}, [(3,)]),
        ("gelu", {}, [(4,)]),
        ("tanh", {"fourier": True}, [(2, 2)]),
        ("sin", {"scaled": True}, [(1, 3)]),
        ("silu", {}, [(2, 0), (1, 1), (0, 2)]),
        ("gelu", {"fourier": True, "scaled": True}, [(1, 1), (0, 2)]),
        ("tanh", {"scaled": True}, [(1, 1, 1), (0, 0, 2)]),
        ("sin", {"fourier": True, "scaled": True}, [(2, 0, 1), (0, 2, 0)]),
    ],
)
def test_the_jet_of_a_network_equals_nested_autodiff(activation, encoding, requests):
    dimension, orders = len(requests[0]), lower_closure(requests)
    mlp = network(dimension, activation=activation, **encoding)
    assert_pushed(mlp, point(dimension), orders)


def test_second_derivatives_equal_the_hessian():
    mlp, x = network(3, outputs=1), point(3)
    orders = lower_closure([(2, 0, 0), (0, 2, 0), (0, 0, 2), (1, 1, 0), (1, 0, 1), (0, 1, 1)])
    jet = Jet(push(mlp, x, orders), orders)
    hessian = jax.jit(jax.hessian(lambda x: mlp(x)[0]))(x)
    for i, j in itertools.product(range(3), repeat=2):
        order = tuple(int(axis == i) + int(axis == j) for axis in range(3))
        np.testing.assert_allclose(jet[order][0], hessian[i, j], rtol=1e-11, atol=1e-12)


def test_derivatives_equal_central_finite_differences():
    mlp = network(2, outputs=1, fourier=True)
    orders = lower_closure([(2, 0), (1, 1)])
    x, t = point(2)
    jet, h = Jet(push(mlp, point(2), orders), orders), 1e-4
    u = jax.jit(lambda x, t: mlp(jnp.array([x, t]))[0])
    expected = {
        (1, 0): (u(x + h, t) - u(x - h, t)) / (2 * h),
        (0, 1): (u(x, t + h) - u(x, t - h)) / (2 * h),
        (2, 0): (u(x + h, t) - 2 * u(x, t) + u(x - h, t)) / h**2,
        (1, 1): (u(x + h, t + h) - u(x + h, t - h) - u(x - h, t + h) + u(x - h, t - h)) / (4 * h**2),
    }
    for order, value in expected.items():
        np.testing.assert_allclose(jet[order][0], value, rtol=1e-5, atol=1e-6)


def test_gradients_of_derivatives_with_respect_to_weights_equal_nested_autodiff():
    mlp, orders = network(2), lower_closure([(1, 1)])
    parameters, rest = trainable(mlp)
    weigh = jnp.arange(1.0, len(orders) + 1)[:, None]

    def loss(parameters, stacked):
        return jnp.sum(weigh * stacked(eqx.combine(parameters, rest)) ** 2)

    by_jet = jax.jit(jax.grad(lambda p: loss(p, lambda m: m(Jet.variable(point(2), orders)).stack)))(parameters)
    by_nesting = jax.jit(jax.grad(lambda p: loss(p, lambda m: nested(m, orders)(point(2)))))(parameters)
    for a, b in zip(jax.tree.leaves(by_jet), jax.tree.leaves(by_nesting), strict=True):
        assert_same(a, b)


def test_a_product_of_jets_follows_leibniz():
    f, g, orders = network(2, seed=1), network(2, seed=2, activation="sin"), lower_closure([(2, 1)])
    assert_pushed(lambda x: f(x) * g(x), point(2), orders)


def test_arithmetic_with_constants_equals_nested_autodiff():
    f, c, orders = ACTIVATIONS["tanh"], jnp.array([0.3, -2.0]), lower_closure([(2, 1)])

    def combined(x):
        y = activate(f, x)
        return join([y + c, c + y, y - c, y * c, c * y, y + y * c - y * y, 2.0 * y - 3.0, 1.0 + y * 0.5])

    assert_pushed(combined, point(2), orders)
    found = push(combined, point(2), orders)
    y, c = np.tanh(POINT[:2]), np.asarray(c)
    values = [y + c, c + y, y - c, y * c, c * y, y + y * c - y * y, 2 * y - 3, 1 + y / 2]
    np.testing.assert_allclose(found[0], np.concatenate(values), rtol=1e-13)


def test_joined_arrays_are_constants():
    f, constant, orders = network(2), jnp.array([5.0, -1.0, 2.0]), lower_closure([(1, 1)])
    assert_pushed(lambda x: join([f(x), constant, x]), point(2), orders)
    joined = push(lambda x: join([x, constant]), point(2), orders)
    np.testing.assert_array_equal(joined[0, 2:], constant)
    np.testing.assert_array_equal(joined[1:, 2:], 0)


def test_joined_arrays_without_jets_are_concatenated():
    np.testing.assert_array_equal(join([jnp.array([1.0]), jnp.array([2.0, 3.0])]), [1, 2, 3])


@pytest.mark.parametrize("requests", [[(3,)], [(2, 0), (1, 1)]])
def test_opaque_equals_the_jet_of_the_network_it_hides(requests):
    dimension, orders = len(requests[0]), lower_closure(requests)
    mlp = network(dimension)
    assert_same(push(functools.partial(opaque, mlp), point(dimension), orders), push(mlp, point(dimension), orders))


def test_opaque_differentiates_through_what_came_before():
    inner, outer = network(2), network(2, seed=3, activation="sin")
    assert_pushed(lambda x: opaque(outer, inner(x)), point(2), lower_closure([(2, 0), (1, 1)]))


def test_opaque_on_a_plain_array_is_the_function():
    np.testing.assert_array_equal(opaque(lambda x: x**2, jnp.array([3.0])), [9.0])


def test_activation_of_a_jet_obeys_the_chain_rule_by_hand():
    """tanh(x t) at one point, with derivatives worked out on paper."""
    orders = lower_closure([(1, 1), (2, 0)])
    x, t = POINT[:2]
    swap = jnp.array([[0.0, 1.0], [1.0, 0.0]])
    found = push(lambda z: activate(ACTIVATIONS["tanh"], z * affine(swap, None, z)), point(2), orders)
    y = np.tanh(x * t)
    slope, curvature = 1 - y**2, -2 * y * (1 - y**2)
    by_hand = {
        (0, 0): y,
        (1, 0): slope * t,
        (0, 1): slope * x,
        (2, 0): curvature * t**2,
        (1, 1): curvature * x * t + slope,
    }
    for order, row in zip(orders, found, strict=True):
        np.testing.assert_allclose(row, by_hand[order], rtol=1e-13)


def test_affine_maps_every_derivative_by_the_matrix():
    weight, bias, orders = jnp.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]), jnp.array([1.0, 2.0, 3.0]), lower_closure([(1, 1)])
    jet = Jet(push(functools.partial(affine, weight, bias), point(2), orders), orders)
    np.testing.assert_allclose(jet.value, weight @ point(2) + bias, rtol=1e-15)
    np.testing.assert_array_equal(jet[(1, 0)], weight[:, 0])
    np.testing.assert_array_equal(jet[(0, 1)], weight[:, 1])
    np.testing.assert_array_equal(jet[(1, 1)], 0)


def test_the_variable_has_unit_first_and_no_higher_derivatives():
    orders = lower_closure([(2, 0, 1), (0, 1, 0)])
    jet = Jet(push(lambda x: x, point(3), orders), orders)
    np.testing.assert_array_equal(jet.value, point(3))
    for axis in range(3):
        np.testing.assert_array_equal(jet[tuple(int(i == axis) for i in range(3))], np.eye(3)[axis])
    for order in jet.orders:
        if sum(order) > 1:
            np.testing.assert_array_equal(jet[order], 0)


@pytest.mark.parametrize(
    ("requests", "closure"),
    [
        ([(0,)], ((0,),)),
        ([(3,)], ((0,), (1,), (2,), (3,))),
        ([(1, 1)], ((0, 0), (0, 1), (1, 0), (1, 1))),
        ([(2, 0), (0, 1)], ((0, 0), (0, 1), (1, 0), (2, 0))),
        ([(0, 1), (2, 0), (2, 0)], ((0, 0), (0, 1), (1, 0), (2, 0))),
    ],
)
def test_lower_closure_of_examples(requests, closure):
    assert lower_closure(requests) == closure


@pytest.mark.parametrize("seed", range(5))
def test_lower_closure_is_closed_minimal_and_ordered(seed):
    rng = np.random.default_rng(seed)
    requests = [tuple(map(int, row)) for row in rng.integers(0, 4, (4, 3))]
    closure = lower_closure(requests)
    assert set(requests) <= set(closure)
    for order in closure:
        assert any(all(a <= b for a, b in zip(order, request, strict=True)) for request in requests)
        for axis in range(3):
            if order[axis]:
                assert (*order[:axis], order[axis] - 1, *order[axis + 1 :]) in closure
    assert closure[0] == (0, 0, 0)
    assert [sum(order) for order in closure] == sorted(sum(order) for order in closure)
    assert len(set(closure)) == len(closure)


@pytest.mark.parametrize("fourier", [False, True])
def test_many_points_at_once_are_as_one_by_one(fourier):
    orders = lower_closure([(2, 0), (0, 1), (1, 1)])
    points = jnp.asarray(np.random.default_rng(0).uniform(size=(7, 2)))
    function = network(2, fourier=fourier)
    extra = lambda x: join([function(x), jnp.asarray([0.3, 0.4])])  # noqa: E731
    together = jax.jit(lambda p: extra(Jet.variable(p, orders)).stack)(points)
    single = jax.jit(jax.vmap(lambda x: extra(Jet.variable(x, orders)).stack))(points)
    assert together.shape == (7, len(orders), 4)
    assert_same(together, single)


@pytest.mark.slow
def test_an_opaque_function_takes_many_points_too():
    orders = lower_closure([(2,)])
    points = jnp.linspace(0.0, 1.0, 5)[:, None]
    found = opaque(jnp.sin, Jet.variable(points, orders)).stack[..., 0]
    assert_same(found, jnp.stack([jnp.sin(points), jnp.cos(points), -jnp.sin(points)], axis=1)[..., 0])


def test_positive_components_are_softplus_and_the_others_stay():
    orders = lower_closure([(2,)])
    function = lambda x: jnp.stack([jnp.sin(x[0]), x[0] ** 2])  # noqa: E731
    assert_pushed(lambda x: positive(function_of(x), (1,)), jnp.asarray([0.4]), orders)
    found = positive(function(jnp.asarray([0.4])), (1,))
    np.testing.assert_allclose(found, [np.sin(0.4), np.log1p(np.exp(0.16))], rtol=1e-12)


def function_of(x):
    return opaque(lambda p: jnp.stack([jnp.sin(p[0]), p[0] ** 2]), x)
