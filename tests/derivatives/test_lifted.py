"""Networks between given values: polynomials and gates on arrays and on jets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import chebyshev

from epinn.derivatives.jet import Jet, lower_closure, opaque
from epinn.derivatives.lifted import Lifted, gate_of
from epinn.derivatives.network import MLP, Frozen, trainable

SHAPES = {1: (5,), 2: (9, 3), 3: (4, 6, 2)}


def lifted(shape, fields=2):
    random, dimension = np.random.default_rng(0), len(shape)
    gates = [Frozen(jnp.asarray(random.normal(size=(fields, 4)))), *[None] * (dimension - 1)]
    network = MLP.create(dimension, (4,), fields, key=jax.random.key(0))
    return Lifted(network, Frozen(jnp.asarray(random.normal(size=(fields, *shape)))), tuple(gates))


@pytest.mark.parametrize("dimension", SHAPES)
def test_jets_are_those_of_numpys_chebyshev_polynomials_and_nested_differentiation(dimension):
    with jax.enable_x64(True):
        network = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), lifted(SHAPES[dimension]))
        x = jnp.asarray(np.random.default_rng(1).uniform(-1, 1, dimension))
        inner = np.asarray(network.network(x))
        for field in range(2):
            value = np.asarray(network.lift.content)[field]
            for coordinate in x:  # contracts the first axis that is left
                value = chebyshev.chebval(float(coordinate), value)
            gate = chebyshev.chebval(float(x[0]), np.asarray(network.gates[0].content)[field])
            assert np.isclose(network(x)[field], value + gate * inner[field], rtol=1e-10)
        orders = lower_closure([(2, *[1] * (dimension - 1))])
        jet, nested = network(Jet.variable(x, orders)), opaque(network, Jet.variable(x, orders))
        assert np.allclose(jet.stack, nested.stack, rtol=1e-9, atol=1e-9)


def test_many_points_are_a_leading_axis():
    network, points = lifted(SHAPES[2]), jnp.asarray(np.random.default_rng(1).uniform(-1, 1, (3, 2)), jnp.float32)
    orders = lower_closure([(1, 1)])
    alone = [network(Jet.variable(x, orders)).stack for x in points]
    assert np.allclose(network(Jet.variable(points, orders)).stack, alone, rtol=1e-4, atol=1e-4)


def test_what_is_given_is_no_parameter():
    network = lifted(SHAPES[2])
    assert jax.tree.leaves(trainable(network)[0]) == jax.tree.leaves(trainable(network.network)[0])


def test_only_networks_between_given_values_have_a_gate():
    network, x = lifted(SHAPES[1]), jnp.zeros(1)
    assert gate_of(network, x).shape == (2,)
    assert gate_of(network.network, x) is None
    assert Lifted(network.network, None, (None,)).gate(x) is None
    assert np.array_equal(Lifted(network.network, None, (None,))(x), network.network(x))
