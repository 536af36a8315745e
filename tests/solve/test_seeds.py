"""Several seeds at once do what they do one by one."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives import memory
from epinn.derivatives.network import MLP
from epinn.problem.conditions import Data
from epinn.problem.context import Points
from epinn.problem.domain import Box
from epinn.problem.problem import Problem
from epinn.solve.seeds import over_seeds, stack, unstack

pytestmark = pytest.mark.usefixtures("quick_compile")


@eqx.filter_jit
def _network(key):
    return MLP.create(2, (3,), 1, key=key)


def network(seed):
    return _network(jax.random.key(seed))


def channels(seed, sensors=4, **options):
    x = np.linspace(0, 1, sensors)
    return Problem(Box(x=(0, 1)), lambda u: u.xx, data=Data(x, np.sin(seed * x)), points=Points(8), **options).channels(seed)


@pytest.mark.parametrize("make", [network, channels, lambda seed: {"a": jnp.array([1.0, seed]), "name": "b"}])
@pytest.mark.parametrize("size", [1, 3])
def test_what_is_stacked_comes_apart_unchanged(make, size):
    trees = [make(seed) for seed in range(size)]
    apart = unstack(stack(trees), size)
    assert len(apart) == size
    for one, before in zip(apart, trees, strict=True):
        assert jax.tree.structure(eqx.filter(one, eqx.is_array)) == jax.tree.structure(eqx.filter(apart[0], eqx.is_array))
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(before), strict=True):
            np.testing.assert_array_equal(a, b)


def test_stacked_arrays_lead_with_the_seeds():
    stacked = stack([network(seed) for seed in range(4)])
    assert stacked.weights[0].shape == (4, 3, 2)
    np.testing.assert_array_equal(stacked.weights[1][2], network(2).weights[1])


def test_what_is_not_an_array_comes_from_the_first():
    assert stack([{"a": jnp.ones(2), "name": "first"}, {"a": jnp.ones(2), "name": "second"}])["name"] == "first"


@pytest.mark.slow
@pytest.mark.parametrize(("size", "at_once"), [(1, None), (3, None), (3, 1), (3, 2), (3, 5)])
def test_over_seeds_equals_a_loop(size, at_once):
    networks, keys = [network(seed) for seed in range(size)], jax.random.split(jax.random.key(9), size)

    def function(mlp, key):
        x = jax.random.normal(key, (2,))
        return {"value": mlp(x), "inputs": x, "name": "kept", "mlp": mlp}

    together = over_seeds(function, stack(networks), keys, at_once=at_once)
    assert together["name"] == "kept"
    loop = [eqx.filter_jit(function)(mlp, key) for mlp, key in zip(networks, keys, strict=True)]
    for one, alone in zip(unstack(together, size), loop, strict=True):
        for a, b in zip(
            jax.tree.leaves(eqx.filter(one, eqx.is_array)), jax.tree.leaves(eqx.filter(alone, eqx.is_array)), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_over_seeds_works_in_compiled_code():
    networks = [network(seed) for seed in range(3)]
    values = eqx.filter_jit(lambda stacked: over_seeds(lambda mlp: mlp(jnp.ones(2)), stacked))(stack(networks))
    np.testing.assert_allclose(values, np.stack([mlp(jnp.ones(2)) for mlp in networks]), rtol=1e-5)


def test_a_single_seed_is_not_vectorised():
    """A batch axis of one costs time: the function sees plain arrays, not batched ones."""
    seen = []
    for size in (1, 2):
        over_seeds(lambda x: seen.append(isinstance(x, jax.core.Tracer)) or x, jnp.ones((size, 2)))
    assert seen == [False, True]


def test_seeds_that_are_computed_together_share_the_memory():
    def note(x):
        seen.append(memory.available())
        return x

    for at_once, expected in ((None, 2**28), (2, 2**29), (1, 2**30)):
        seen = []
        with memory.limited_to(1):
            over_seeds(note, jnp.zeros((4, 2)), at_once=at_once)
        assert set(seen) == {expected}


def test_seeds_with_different_numbers_of_sensors_are_refused(rejects):
    with rejects("seeds", "sensors"):
        stack([channels(0), channels(1, sensors=5)])


def test_seeds_with_different_conditions_are_refused(rejects):
    with rejects("seeds"):
        stack([channels(0), channels(1, boundary=0.0)])
