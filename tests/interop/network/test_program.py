"""Programs: told apart by their steps, and in files by what they compute."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.interop.network.program import Program

pytestmark = pytest.mark.usefixtures("quick_compile")

ARRAYS = {"w": np.ones((3, 2), np.float32), "v": np.ones((1, 3), np.float32)}


def network(p, x):
    return p["v"] @ jnp.tanh(p["w"] @ x)


def rewritten(p, x):
    """The same function in other steps, as another version of JAX may trace it."""
    hidden = jnp.sum(p["w"] * x[None, :], axis=1)
    raised = jnp.exp(2 * hidden)
    return jnp.sum(p["v"] * ((raised - 1) / (raised + 1)), axis=1)


def test_the_same_function_in_other_steps_has_the_same_digest():
    ours, theirs = (Program.of(function, ARRAYS, 2) for function in (network, rewritten))
    assert ours != theirs
    assert ours.digest == theirs.digest


def test_a_digest_is_the_same_tomorrow():
    """Whatever the version of JAX, the machine and the precision; a change here makes stored posteriors unreadable."""
    digest = "values-dc73c2d987fb7edca0170189b70ca4d5"
    assert Program.of(network, ARRAYS, 2).digest == digest
    with jax.enable_x64(True):
        assert Program.of(network, jax.tree.map(lambda a: 2.0 * a, ARRAYS), 2).digest == digest


def test_neither_do_the_weights_count():
    other = {"w": np.full((3, 2), 0.3, np.float32), "v": np.zeros((1, 3), np.float32)}
    assert Program.of(network, ARRAYS, 2).digest == Program.of(network, other, 2).digest


OTHERS = {
    "another factor": lambda p, x: 1.001 * network(p, x),
    "another activation": lambda p, x: p["v"] @ jnp.arctan(p["w"] @ x),
    "no derivative": lambda p, x: network(p, jax.lax.stop_gradient(x)),
    "frozen parameters": lambda p, x: network(jax.lax.stop_gradient(p), x),
    "half the derivative": lambda p, x: p["v"] @ jax.lax.stop_gradient(jnp.tanh(p["w"] @ x)) + 0.0 * x[0],
    "cut off": lambda p, x: p["v"] @ jnp.clip(jnp.tanh(p["w"] @ x), -0.9, 0.9),
    "columns exchanged": lambda p, x: network(p, x[::-1]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_have_other_digests(name):
    assert Program.of(OTHERS[name], ARRAYS, 2).digest != Program.of(network, ARRAYS, 2).digest


def test_constants_names_and_shapes_count():
    constants = [Program.of(lambda a, x, c=c: a * (c @ x), jnp.ones(2), 2) for c in (np.eye(2), 2 * np.eye(2))]
    assert constants[0] != constants[1]
    assert constants[0].digest != constants[1].digest
    named = [Program.of(lambda p, x, n=n: p[n] * x, {n: jnp.ones(2)}, 2) for n in ("a", "b")]
    assert named[0].digest != named[1].digest
    counts = [Program.of(lambda p, x: p["n"] * p["a"] * x, {"a": jnp.ones(1), "n": np.asarray(n)}, 1) for n in (2, 3)]
    assert counts[0].digest != counts[1].digest
