"""What the last layer sees, against what each network was written to compute."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.jet import Jet, opaque
from epinn.interop.network.features import last_inputs

KEYS = jax.random.split(jax.random.key(0), 6)
SHAPES = [(5, 2), (4, 5), (1, 4), (3, 2), (1, 3), (1, 5)]
A, B, C, D, E, F = (jax.random.normal(key, shape) for key, shape in zip(KEYS, SHAPES, strict=True))
WEIGHTS = {"a": A, "b": B, "c": C, "d": D, "e": E, "f": F}
X = jnp.asarray([0.3, -0.7])
H1, SIDE = jnp.tanh(A @ X), jnp.sin(D @ X)
H2 = jnp.tanh(B @ H1)


def plain(w, x):
    return w["c"] @ jnp.tanh(w["b"] @ jnp.tanh(w["a"] @ x))


def scaled(w, x):
    return 3.0 * plain(w, (x - 0.1) / 2) + 1.0


def hard_constraint(w, x):
    return x[0] * (1 - x[0]) * plain(w, x) + jnp.sin(x[1])


def parallel(w, x):
    return jnp.concatenate([plain(w, x), w["e"] @ jnp.sin(w["d"] @ x)])


def skip(w, x):
    h = w["a"] @ x
    return (w["f"] @ jnp.tanh(h)) + jnp.sum(h)


def batched(w, x):
    h = jnp.tanh(jnp.tanh(x[None] @ w["a"].T) @ w["b"].T)
    return (h @ w["c"].T)[0]


def summed(w, x):
    return jnp.sum(w["c"] * jnp.tanh(w["b"] @ jnp.tanh(w["a"] @ x)), axis=-1)


def looped(w, x):
    h = jnp.tanh(w["a"] @ x)
    h, _ = jax.lax.scan(lambda h, m: (jnp.tanh(m @ h), None), h, jnp.stack([jnp.eye(5)] * 2))
    return w["f"] @ h


def branching(w, x):
    return jax.lax.cond(x[0] > 0, lambda: w["c"] @ jnp.tanh(w["b"] @ jnp.tanh(w["a"] @ x)), lambda: jnp.zeros(1))


CASES = {
    "plain": (plain, H2),
    "compiled": (jax.jit(plain), H2),
    "scaled in and out": (scaled, jnp.tanh(B @ jnp.tanh(A @ ((X - 0.1) / 2)))),
    "hard constraint": (hard_constraint, H2),
    "parallel networks": (parallel, jnp.concatenate([H2, SIDE])),
    "skip connection": (skip, H1),
    "batch of one": (batched, H2),
    "product as a sum": (summed, H2),
    "layers in a loop": (looped, jnp.tanh(jnp.tanh(H1))),
    "two heads": (lambda w, x: jnp.concatenate([plain(w, x), 2 * plain(w, x)]), jnp.concatenate([H2, H2])),
    "shared trunk": (lambda w, x: (h := jnp.tanh(w["a"] @ x)) @ (w["f"].T @ jnp.ones(1)) + w["f"] @ h, H1),
    "one layer": (lambda w, x: w["a"] @ x, jnp.zeros(0)),
    "no layer": (lambda w, x: jnp.sin(x), jnp.zeros(0)),
    "in a branch": (branching, jnp.zeros(0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_they_are_what_goes_into_the_last_products(name):
    function, expected = CASES[name]
    found = last_inputs(function, WEIGHTS, X)
    assert np.asarray(found) == pytest.approx(np.asarray(expected), abs=1e-6)


def test_they_move_with_the_parameters_and_the_precision():
    other = jax.tree.map(lambda leaf: 2 * leaf, WEIGHTS)
    assert np.asarray(last_inputs(plain, other, X)) == pytest.approx(np.tanh(2 * B @ np.tanh(2 * A @ X)), abs=1e-6)
    with jax.enable_x64(True):
        double = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf), jnp.float64), WEIGHTS)
        assert last_inputs(plain, double, jnp.asarray(np.asarray(X), jnp.float64)).dtype == jnp.float64


@pytest.mark.slow
def test_derivatives_go_through_them():
    """As the residuals of an epinet need."""
    jet = opaque(lambda x: last_inputs(plain, WEIGHTS, x), Jet.variable(X, ((0, 0), (0, 1), (0, 2))))
    second = jax.jvp(lambda t: jax.jvp(lambda s: jnp.tanh(B @ jnp.tanh(A @ X.at[1].add(s))), (t,), (1.0,))[1], (0.0,), (1.0,))
    assert np.asarray(jet[0, 2]) == pytest.approx(np.asarray(second[1]), rel=1e-4, abs=1e-4)


def test_an_equinox_network_has_those_of_its_last_layer():
    network = eqx.nn.MLP(2, 1, 8, 3, activation=jnp.tanh, key=jax.random.key(1))
    arrays, static = eqx.partition(network, eqx.is_inexact_array)
    hidden = X
    for layer in network.layers[:-1]:
        hidden = jnp.tanh(layer(hidden))
    found = last_inputs(lambda arrays, x: eqx.combine(arrays, static)(x), arrays, X)
    assert np.asarray(found) == pytest.approx(np.asarray(hidden), abs=1e-6)
