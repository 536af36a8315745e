"""Networks that JAX runs already, in all the ways in which people call them."""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.interop import adopt
from epinn.interop.jax_models import convert

pytestmark = pytest.mark.usefixtures("quick_compile")

KEYS = jax.random.split(jax.random.key(0), 2)
A, B = jax.random.normal(KEYS[0], (2, 6)), jax.random.normal(KEYS[1], (6, 1))
POINTS = np.random.default_rng(1).uniform(0, 1, (5, 2)).astype(np.float32)
FEATURES = np.tanh(POINTS @ np.asarray(A))
EXPECTED = FEATURES @ np.asarray(B)


@pytest.fixture(scope="module")
def problem():
    return epinn.Problem(domain=epinn.Box(x=(0, 1), t=(0, 1)), equation=lambda u: u.t - u.xx, points=epinn.Points(16))


def by_columns(x, t):
    return jnp.tanh(jnp.concatenate([x, t], axis=1) @ A) @ B


FUNCTIONS = {
    "of a point": lambda x: jnp.tanh(x @ A) @ B,
    "of a point, a number": lambda x: (jnp.tanh(x @ A) @ B)[0],
    "of a batch": lambda x: jnp.tanh(jnp.stack([x[:, 0], x[:, 1]], axis=1) @ A) @ B,
    "of numbers": lambda x, t: (jnp.tanh(x * A[0] + t * A[1]) @ B)[0],
    "of columns": by_columns,
    "compiled": jax.jit(lambda x: jnp.tanh(x @ A) @ B),
    "around NumPy arrays": lambda x, a=np.asarray(A), b=np.asarray(B): jnp.tanh(x @ a) @ b,
    "with parameters": (lambda p, x: jnp.tanh(x @ p["a"]) @ p["b"][0], {"a": A, "b": [B]}),
    "with parameters bound": jax.tree_util.Partial(lambda p, x: jnp.tanh(x @ p["a"]) @ p["b"], {"a": A, "b": B}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_called_as_they_want_to_be(problem, name):
    pinn = adopt(FUNCTIONS[name], problem)
    assert np.asarray(pinn(POINTS)) == pytest.approx(EXPECTED, abs=1e-5)
    assert sum(leaf.size for leaf in jax.tree.leaves(pinn.solution.network.parameters)) == 18
    features = jax.vmap(pinn.solution.network.features)(jnp.asarray(POINTS))
    assert np.asarray(features) == pytest.approx(FEATURES, abs=1e-5)


def test_weights_of_a_function_can_be_changed():
    converted = convert(FUNCTIONS["of a point"], 2, 1)
    twice = {name: 2 * value for name, value in converted.parameters.items()}
    expected = 2 * np.tanh(2 * POINTS[0] @ np.asarray(A)) @ np.asarray(B)
    assert np.asarray(converted.function(twice, jnp.asarray(POINTS[0]))) == pytest.approx(expected, abs=1e-5)


def test_numbers_and_fixed_arrays_are_no_weights_where_there_are_others():
    scale = np.asarray([1.0, 2.0], np.float32)
    converted = convert(lambda x: jnp.tanh((x * scale * jnp.float32(3)) @ A) @ B, 2, 1)
    assert sorted(value.shape for value in converted.parameters.values()) == [(2, 6), (6, 1)]


@pytest.mark.slow
def test_plain_numbers_among_the_parameters_are_no_weights(problem):
    pinn = adopt((lambda p, x: p["scale"] * jnp.tanh(x @ p["a"]) @ p["b"], {"a": A, "b": B, "scale": 2.0}), problem)
    assert np.asarray(pinn(POINTS)) == pytest.approx(2 * EXPECTED, abs=1e-5)
    assert not any("double" in warning for warning in pinn.warnings)


def test_weights_of_the_same_name_are_kept_apart():
    converted = convert((lambda p, x: jnp.tanh(x @ p["a"]["b"]) @ p["a.b"], {"a": {"b": A}, "a.b": B}), 2, 1)
    assert len(converted.parameters) == 2


def test_in_double_precision_it_is_a_function_of_double_precision(problem):
    converted = convert(FUNCTIONS["of a point"], 2, 1)
    with jax.enable_x64(True):
        weights = {name: jnp.asarray(value, jnp.float64) for name, value in converted.parameters.items()}
        found = converted.function(weights, jnp.asarray(POINTS[0], jnp.float64))
        exact = np.tanh(POINTS[0].astype(float) @ np.asarray(A, float)) @ np.asarray(B, float)
        assert np.asarray(found) == pytest.approx(exact, rel=1e-12)


@pytest.mark.slow
def test_equinox_networks_are_in_inference_mode(problem):
    network = eqx.nn.Sequential([eqx.nn.Linear(2, 6, key=KEYS[0]), eqx.nn.Lambda(jnp.tanh), eqx.nn.Dropout(0.5)])
    model = eqx.nn.Sequential([network, eqx.nn.Linear(6, 1, key=KEYS[1])])
    found = np.asarray(adopt(model, problem)(POINTS))
    assert found == pytest.approx(np.asarray(jax.vmap(eqx.nn.inference_mode(model))(jnp.asarray(POINTS))), abs=1e-6)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda x: x @ jnp.ones((3, 1)), ("coordinates", "fields")),
        (lambda x: jnp.concatenate([jnp.tanh(x @ A), x]), ("coordinates", "fields")),
        (lambda x: jnp.sum(jnp.sin(x), keepdims=True), ("weights",)),
    ],
)
def test_functions_that_do_not_fit_are_refused(problem, rejects, model, words):
    with rejects(*words):
        adopt(model, problem)


def test_a_branch_on_values_is_refused(problem, rejects):
    with rejects("coordinates"):
        adopt(lambda x: x @ A @ B if x[0] > 0 else -x @ A @ B, problem)


def linen():
    module = pytest.importorskip("flax.linen")
    network = module.Sequential([module.Dense(6), jnp.tanh, module.Dense(1)])
    return (network, network.init(jax.random.key(0), jnp.zeros((3, 2)))), lambda m, x: m[0].apply(m[1], x)


def nnx():
    nnx = pytest.importorskip("flax.nnx")

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.first, self.drop, self.last = (
                nnx.Linear(2, 6, rngs=rngs),
                nnx.Dropout(0.5, rngs=rngs),
                nnx.Linear(6, 1, rngs=rngs),
            )

        def __call__(self, x):
            return self.last(self.drop(jnp.tanh(self.first(x))))

    network = Network(nnx.Rngs(0))
    return network, lambda m, x: m.last(jnp.tanh(m.first(x)))


def haiku():
    hk = pytest.importorskip("haiku")
    network = hk.transform(lambda x: hk.nets.MLP([6, 1], activation=jnp.tanh)(x))
    weights = network.init(jax.random.key(0), jnp.zeros((3, 2)))
    return (network, weights), lambda m, x: m[0].apply(m[1], None, x)


def haiku_without_keys():
    hk = pytest.importorskip("haiku")
    network = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([6, 1], activation=jnp.tanh)(x)))
    weights = network.init(jax.random.key(0), jnp.zeros((3, 2)))
    return (network, weights), lambda m, x: m[0].apply(m[1], x)


def keras():
    keras = pytest.importorskip("keras")
    if keras.backend.backend() != "jax":
        pytest.skip("Keras runs on another backend here")
    layers = [keras.layers.Dense(6, activation="tanh"), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
    return keras.Sequential([keras.Input((2,)), *layers]), lambda m, x: m(x, training=False)


@pytest.mark.parametrize("make", [linen, nnx, haiku, haiku_without_keys, keras])
def test_frameworks(problem, make):
    model, call = make()
    pinn = adopt(model, problem)
    assert np.asarray(pinn(POINTS)) == pytest.approx(np.asarray(call(model, jnp.asarray(POINTS))), abs=1e-5)
    assert pinn.solution.network.features(jnp.asarray(POINTS[0])).shape == (6,)
    assert sum(leaf.size for leaf in jax.tree.leaves(pinn.solution.network.parameters)) == 25
    std = epinn.attach(pinn, method="laplace", settings={"samples": 8}).predict(POINTS, draws=8).std
    assert np.all(np.isfinite(std))
    assert np.all(std > 0)


def test_a_linen_module_needs_its_variables(problem, rejects):
    (module, _), _ = linen()
    with rejects("variables"):
        adopt(module, problem)


@pytest.mark.parametrize("backend", ["tensorflow", "torch"])
def test_keras_on_another_backend_is_refused(problem, rejects, monkeypatch, backend):
    keras = pytest.importorskip("keras")
    monkeypatch.setattr(sys.modules["keras"].backend, "backend", lambda: backend)
    with rejects("KERAS_BACKEND"):
        adopt(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]), problem)
