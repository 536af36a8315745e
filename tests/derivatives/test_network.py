"""Networks by hand, what counts as a parameter, and the statistics of fresh weights."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.activation import ACTIVATIONS
from epinn.derivatives.jet import Jet, lower_closure
from epinn.derivatives.network import MLP, Encoding, Frozen, Opaque, Solution, trainable

pytestmark = pytest.mark.usefixtures("quick_compile")

RNG = np.random.default_rng(0)
W1, W2, W3 = RNG.normal(size=(4, 2)), RNG.normal(size=(3, 4)), RNG.normal(size=(2, 3))
B1, B2, B3 = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=2)
X = np.array([0.3, -0.8])


def by_hand(encoding=Encoding(), scale=1.0):
    arrays = [tuple(map(jnp.asarray, group)) for group in ((W1, W2, W3), (B1, B2, B3))]
    return MLP(*arrays, ACTIVATIONS["tanh"], encoding, scale)


@functools.cache
def created(fourier=0, **options):
    encoding = Encoding(frequencies=Frozen(jnp.ones((fourier, 2)))) if fourier else None
    return eqx.filter_jit(lambda key: MLP.create(2, (5, 4), 3, key=key, encoding=encoding, **options))(jax.random.key(0))


@pytest.mark.usefixtures("x64")
def test_the_network_is_the_formula():
    features = np.tanh(W2 @ np.tanh(W1 @ X + B1) + B2)
    found, output = jax.jit(lambda x: (by_hand().features(x), by_hand(scale=2.5)(x)))(X)
    np.testing.assert_allclose(found, features, rtol=1e-13)
    np.testing.assert_allclose(output, 2.5 * (W3 @ features + B3), rtol=1e-13)
    assert by_hand().hidden == (4, 3)


@pytest.mark.usefixtures("x64")
def test_masks_multiply_the_activations_of_their_layer():
    masks = (np.array([0.0, 2.0, 1.0, 0.0]), np.array([2.0, 0.0, 1.0]))
    features = masks[1] * np.tanh(W2 @ (masks[0] * np.tanh(W1 @ X + B1)) + B2)
    found = eqx.filter_jit(by_hand())(X, masks)
    np.testing.assert_allclose(found, W3 @ features + B3, rtol=1e-13)


def test_masks_of_one_change_nothing():
    mlp = created()
    masked, plain = jax.jit(lambda x: (mlp(x, (jnp.ones(5), jnp.ones(4))), mlp(x)))(X.astype(np.float32))
    np.testing.assert_allclose(masked, plain, rtol=1e-6)


@pytest.mark.usefixtures("x64")
def test_scaling_maps_the_box_to_the_unit_cube():
    scale = Encoding(bounds=((-3.0, 2.0), (5.0, 2.5)))
    for corner, image in [((-3, 2), (-1, -1)), ((5, 2.5), (1, 1)), ((1, 2.25), (0, 0)), ((-3, 2.5), (-1, 1))]:
        np.testing.assert_allclose(eqx.filter_jit(scale)(np.array(corner, float)), image, atol=1e-14)


@pytest.mark.usefixtures("x64")
def test_fourier_features_are_sines_and_cosines_of_the_scaled_point():
    frequencies = RNG.normal(size=(3, 2))
    encoding = Encoding(bounds=((-1.0, -2.0), (3.0, 2.0)), frequencies=Frozen(jnp.asarray(frequencies)))
    phase = frequencies @ ((X - [1, 0]) / 2)
    np.testing.assert_allclose(eqx.filter_jit(encoding)(X), [*np.sin(phase), *np.cos(phase)], rtol=1e-13)


@pytest.mark.slow
def test_a_network_with_fourier_features_takes_them_as_inputs():
    mlp = created(fourier=7)
    assert mlp.weights[0].shape == (5, 14)
    assert mlp(jnp.asarray(X)).shape == (3,)


def test_parameters_are_weights_and_biases_and_nothing_else():
    mlp = created(fourier=7)
    parameters, _ = trainable(mlp)
    leaves = jax.tree.leaves(parameters)
    assert sorted(leaf.shape for leaf in leaves) == sorted(leaf.shape for leaf in (*mlp.weights, *mlp.biases))


def test_parameters_and_the_rest_make_the_whole():
    mlp = created(fourier=7)
    whole = eqx.combine(*trainable(mlp))
    assert jax.tree.structure(whole) == jax.tree.structure(mlp)
    assert all(a is b for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(mlp), strict=True))


def test_frozen_content_receives_no_gradient():
    solution = Solution(created(fourier=7), {"k": jnp.array(2.0)})
    parameters, rest = trainable(solution)
    gradient = eqx.filter_jit(jax.grad(lambda p: jnp.sum(eqx.combine(p, rest)(jnp.asarray(X)[None]))))(parameters)
    assert gradient.network.encoding.frequencies is None
    assert gradient.raw["k"] == 0
    assert all(np.any(np.asarray(leaf) != 0) for leaf in gradient.network.weights)


WIDE, HIGH = 200, 300


@pytest.mark.parametrize(
    ("name", "variance"),
    [("xavier", 2 / (WIDE + HIGH)), ("he", 2 / WIDE), ("normal", 1.0), ("orthogonal", 1 / HIGH)],
)
def test_fresh_weights_have_the_variance_of_their_scheme(name, variance):
    weight = np.asarray(MLP.create(WIDE, (), HIGH, key=jax.random.key(1), initialisation=name).weights[0])
    assert weight.shape == (HIGH, WIDE)
    np.testing.assert_allclose(weight.var(), variance, rtol=0.03)
    np.testing.assert_allclose(weight.mean(), 0, atol=4 * np.sqrt(variance / weight.size))


def test_orthogonal_weights_keep_lengths():
    weight = np.asarray(MLP.create(6, (), 9, key=jax.random.key(1), initialisation="orthogonal").weights[0])
    np.testing.assert_allclose(weight.T @ weight, np.eye(6), atol=1e-5)


def test_biases_start_at_zero_unless_they_are_random():
    assert all(not np.any(bias) for bias in created().biases)
    assert all(np.all(np.asarray(bias) != 0) for bias in created(random_biases=True).biases)


@pytest.mark.slow
def test_layers_start_independent_of_each_other():
    mlp = eqx.filter_jit(lambda key: MLP.create(5, (5, 5), 5, key=key, random_biases=True))(jax.random.key(0))
    for layers in (list(map(np.asarray, mlp.weights)), list(map(np.asarray, mlp.biases))):
        assert not any(np.any(layers[i] == layers[j]) for i in range(3) for j in range(i))


@pytest.mark.parametrize(("option", "near"), [({"activation": "tan"}, "tanh"), ({"initialisation": "xavir"}, "xavier")])
def test_an_unknown_name_suggests_the_nearest(option, near, rejects):
    with rejects(*option.values(), near):
        created(**option)


def test_an_opaque_network_is_its_function_and_shows_no_features():
    network = Opaque(lambda x: jnp.stack([x[0] * x[1]]))
    orders = lower_closure([(1, 1)])
    stack, features, plain = jax.jit(
        lambda x: (network(Jet.variable(x, orders)).stack, network.features(Jet.variable(x, orders)).stack, network.features(x))
    )(jnp.array([2.0, 3.0]))
    assert dict(zip(orders, stack[:, 0].tolist(), strict=True)) == {(0, 0): 6, (1, 0): 3, (0, 1): 2, (1, 1): 1}
    assert features.shape == (4, 0)
    assert plain.shape == (0,)


def test_positive_unknowns_are_kept_as_logarithms():
    solution = Solution(Opaque(lambda x: x), {"k": jnp.array(-1.0), "c": jnp.array(-1.0)}, positive=("k",))
    np.testing.assert_allclose(solution.unknowns["k"], np.exp(-1), rtol=1e-6)
    np.testing.assert_allclose(solution.unknowns["c"], -1)


def test_a_solution_is_called_at_many_points():
    mlp, points = created(), jnp.asarray(RNG.normal(size=(6, 2)))
    np.testing.assert_allclose(Solution(mlp)(points), np.stack([eqx.filter_jit(mlp)(x) for x in points]), rtol=1e-5, atol=1e-6)


def test_a_periodic_coordinate_goes_around():
    encoding = Encoding(periodic=(1,))
    assert encoding.size(3) == 4
    x = jnp.asarray([0.3, -1.0, 0.7])
    np.testing.assert_allclose(encoding(x), [0.3, 0.7, 0.0, -1.0], atol=1e-6)
    np.testing.assert_allclose(encoding(x), encoding(x.at[1].set(1.0)), atol=1e-6)


def test_a_stretched_network_bends_everywhere():
    network = MLP.create(1, (200,), 1, key=jax.random.key(0), encoding=Encoding(stretch=Frozen(jnp.asarray([10.0]))))
    centers = -network.biases[0] / network.weights[0][:, 0] / 10  # where units change their sign
    assert np.all(np.abs(centers) <= 1 + 1e-5)
    assert np.std(centers) == pytest.approx(1 / np.sqrt(3), rel=0.2)
