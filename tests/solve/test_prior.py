"""What is known beforehand of the weights of networks: ours, and those that were trained elsewhere in any units."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import MLP
from epinn.problem.scales import Scales
from epinn.solve.prior import bayesian_prior
from epinn.solve.seeds import stack

LENGTH, TIME, FIELDS = 1e3, 1e-2, np.asarray([[1e5], [1e-4]])


def problem(length=1.0, time=1.0):
    return epinn.Problem(
        domain=epinn.Box(x=(-length, length), t=(0, 2 * time)),
        fields=("u", "v"),
        equation={"u": lambda u, v: u.t - v.x, "v": lambda u, v: v.t - u.x},
        initial=[epinn.Initial(1.0, field="u"), epinn.Initial(0.0, field="v")],
    )


def spread(network, problem):
    units = Scales.of(problem).of_a_network_in_the_users_units().units
    stacked = stack([problem.solution(network, units)])
    return bayesian_prior([problem], stacked, 1.0, elsewhere=True).spread.network


@pytest.fixture(scope="module")
def network():
    made = MLP.create(2, (16, 16), 2, key=jax.random.key(0), activation="tanh", initialisation="xavier")
    values = jax.vmap(made)(problem().domain.points(64, "sobol", key=jax.random.key(0)))
    last = lambda net: net.weights[-1]  # noqa: E731
    return eqx.tree_at(last, made, last(made) * (0.7 / jnp.std(values, axis=0))[:, None])  # fields of order one


def test_it_is_about_as_wide_as_that_of_a_network_of_ours(network):
    for leaf in jax.tree.leaves(spread(network, problem())):
        assert np.all((leaf > 0.2) & (leaf < 5))


def test_it_has_the_units_of_the_weights(network):
    """Those of each coordinate in the first layer, and of each field in the last."""
    first, last = (lambda net: net.weights[0]), (lambda net: (net.weights[-1], net.biases[-1]))
    inputs = 1 / np.asarray([LENGTH, TIME])
    outputs = (FIELDS, FIELDS[:, 0])
    change = lambda net: eqx.tree_at(  # noqa: E731
        last, eqx.tree_at(first, net, first(net) * inputs), tuple(w * f for w, f in zip(last(net), outputs, strict=True))
    )
    expected, found = change(spread(network, problem())), spread(change(network), problem(LENGTH, TIME))
    for one, other in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-3)


def test_it_is_centred_on_what_was_trained(network):
    one = problem()
    stacked = stack([one.solution(network, Scales.of(one).of_a_network_in_the_users_units().units)])
    center = bayesian_prior([one], stacked, 1.0, elsewhere=True).center.network
    for found, trained in zip(jax.tree.leaves(center), jax.tree.leaves(stacked.network), strict=True):
        np.testing.assert_array_equal(found, trained)
