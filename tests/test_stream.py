"""Streamed statistics against numpy over the same draws."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from epinn import stream
from epinn.network import AbstractNetwork, Opaque, Solution
from epinn.sampler import Members, Sampler
from epinn.stream import predict

KEY = jax.random.key(0)
POINTS = jnp.linspace(0, 1, 5)[:, None]


class Line(AbstractNetwork):
    """intercept + slope x."""

    coefficients: jax.Array

    def features(self, x):
        return x[:0]

    def __call__(self, x):
        return self.coefficients[:1] + self.coefficients[1:] * x


class Lines(Sampler):
    """Lines with Gaussian coefficients around `center`."""

    center: jax.Array
    scale: jax.Array

    def index(self, key):
        return jax.random.normal(key, (2,))

    def solution(self, index):
        return Solution(Line(self.center + self.scale * index))


LINES = Lines(jnp.array([2.0, -1.0]), jnp.array([0.5, 3.0]))


def on_points(solution):
    return solution(POINTS)[:, 0]


def members(count):
    return Members(Solution(Opaque(lambda x: x), {"a": jnp.arange(float(count)) ** 2}))


def parameter(solution):
    return solution.unknowns["a"]


def test_mean_and_std_are_those_of_the_draws():
    found = predict(LINES, on_points, draws=1000, key=KEY, samples=1000)
    assert found.samples.shape == (1000, 5)
    assert found.draws == 1000
    np.testing.assert_allclose(found.mean, found.samples.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.std, found.samples.std(axis=0), rtol=1e-5)


def test_mean_and_std_are_those_of_the_distribution():
    found = predict(LINES, on_points, draws=20_000, key=KEY)
    x = np.asarray(POINTS)[:, 0]
    std = np.sqrt(0.25 + 9 * x**2)
    np.testing.assert_array_less(np.abs(found.mean - (2 - x)), 5 * std / np.sqrt(20_000))
    np.testing.assert_allclose(found.std, std, rtol=0.03)


def test_draws_are_independent_and_follow_the_distribution():
    samples = predict(LINES, on_points, draws=2000, key=KEY, samples=2000).samples[:, 0]
    assert len(np.unique(samples)) == 2000
    assert kstest(samples, norm(2, 0.5).cdf).pvalue > 1e-3


def test_a_prediction_unpacks_as_mean_and_std():
    found = predict(LINES, on_points, draws=10, key=KEY)
    mean, std = found
    assert mean is found.mean
    assert std is found.std


@pytest.mark.parametrize("levels", [(0.025, 0.5, 0.975), (0.1,)])
def test_quantiles_are_those_of_the_draws_up_to_a_bin(levels):
    found = predict(LINES, on_points, draws=999, key=KEY, samples=999, quantiles=levels)
    bins = np.ptp(found.samples, axis=0) / stream.BINS
    assert tuple(found.quantiles) == levels
    for level, value in found.quantiles.items():
        exact = np.quantile(found.samples, level, axis=0, method="inverted_cdf")
        np.testing.assert_array_less(np.abs(value - exact), 1.01 * bins)


def test_extreme_quantiles_are_the_extremes():
    found = predict(LINES, on_points, draws=999, key=KEY, samples=999, quantiles=(0.0, 1.0))
    np.testing.assert_allclose(found.quantiles[0.0], found.samples.min(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.quantiles[1.0], found.samples.max(axis=0), rtol=1e-5)


def test_a_component_that_does_not_vary_has_its_value_for_every_quantile():
    found = predict(LINES, lambda s: jnp.array([3.0, s.network.coefficients[0]]), draws=100, key=KEY, quantiles=(0.1, 0.9))
    assert found.std[0] == 0
    assert found.quantiles[0.1][0] == found.quantiles[0.9][0] == found.mean[0] == 3
    assert found.quantiles[0.1][1] < found.quantiles[0.9][1]


@pytest.mark.parametrize("at_once", [1, 5 * 7, 5 * 64, 2**17])
def test_results_do_not_depend_on_the_chunk(at_once, monkeypatch):
    options = {"draws": 100, "key": KEY, "samples": 13, "quantiles": (0.2, 0.7)}
    reference = predict(LINES, on_points, **options)
    monkeypatch.setattr(stream, "VALUES_AT_ONCE", at_once)
    found = predict(LINES, on_points, **options)
    assert found.draws == reference.draws
    np.testing.assert_allclose(found.mean, reference.mean, rtol=1e-5)
    np.testing.assert_allclose(found.std, reference.std, rtol=1e-5)
    np.testing.assert_array_equal(found.samples, reference.samples)
    for level in (0.2, 0.7):
        np.testing.assert_allclose(found.quantiles[level], reference.quantiles[level], rtol=1e-5)


def test_the_key_decides():
    first, same, other = (predict(LINES, on_points, draws=20, key=jax.random.key(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.mean, same.mean)
    assert not np.any(first.mean == other.mean)


@pytest.mark.parametrize("count", [2, 7, 300])
@pytest.mark.parametrize("at_once", [3, 2**17])
def test_members_are_swept_exactly_once(count, at_once, monkeypatch):
    monkeypatch.setattr(stream, "VALUES_AT_ONCE", at_once)
    found = predict(members(count), parameter, draws=10_000, key=KEY, samples=10_000)
    squares = np.arange(count) ** 2.0
    assert found.draws == count
    np.testing.assert_array_equal(found.samples, squares)
    np.testing.assert_allclose(found.mean, squares.mean(), rtol=1e-5)
    np.testing.assert_allclose(found.std, squares.std(), rtol=1e-5)


def test_more_members_than_draws_are_drawn_from():
    found = predict(members(1000), parameter, draws=200, key=KEY, samples=200)
    assert found.draws == 200
    assert set(found.samples.tolist()) <= set((np.arange(1000) ** 2.0).tolist())
    assert len(set(found.samples.tolist())) > 150


def test_kept_samples_spread_over_all_draws():
    found = predict(members(101), parameter, draws=1000, key=KEY, samples=3)
    np.testing.assert_array_equal(found.samples, [0, 50**2, 100**2])


def test_a_small_spread_around_a_large_mean_survives_float32():
    """The sum of squares minus the square of the sum would leave nothing of it."""
    lines = Lines(jnp.array([1000.0, 0.0]), jnp.array([0.1, 0.0]))
    found = predict(lines, on_points, draws=5000, key=KEY)
    np.testing.assert_allclose(found.std, 0.1, rtol=0.05)


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_functionals_of_any_shape_keep_it(shape):
    found = predict(LINES, lambda s: jnp.full(shape, s.network.coefficients[0]), draws=50, key=KEY, samples=4, quantiles=(0.5,))
    assert found.mean.shape == found.std.shape == found.quantiles[0.5].shape == shape
    assert found.samples.shape == (4, *shape)


def test_a_column_is_taken_from_everything():
    found = predict(LINES, on_points, draws=50, key=KEY, samples=4, quantiles=(0.5,))
    column = found.column(3)
    assert column.mean == found.mean[3]
    assert column.std == found.std[3]
    assert column.quantiles[0.5] == found.quantiles[0.5][3]
    np.testing.assert_array_equal(column.samples, found.samples[:, 3])
    assert predict(LINES, on_points, draws=50, key=KEY).column(3).samples is None


def test_memory_does_not_grow_with_the_draws():
    def temporary(draws):
        chunks = jax.random.split(KEY, draws).reshape(-1, 256)
        real = jnp.ones(chunks.shape, bool)
        compiled = stream._moments.lower(LINES, on_points, chunks, real).compile()
        return compiled.compiled.memory_analysis().temp_size_in_bytes

    few, many = temporary(2 * 256), temporary(400 * 256)
    assert many < 2 * few
    assert many < 400 * 256 * 5 * 4 / 10  # all values at once would take ten times as much


def test_very_many_draws_run():
    points = jnp.linspace(0, 1, 50)[:, None]
    found = predict(LINES, lambda s: s(points)[:, 0], draws=200_000, key=KEY)
    assert found.draws == 200_000
    np.testing.assert_allclose(found.std, np.sqrt(0.25 + 9 * np.asarray(points)[:, 0] ** 2), rtol=0.01)


@pytest.mark.parametrize(
    ("options", "word"), [({"draws": 1}, "1"), ({"draws": 5, "quantiles": (0.5, 1.5)}, "1.5"), ({"draws": -3}, "-3")]
)
def test_mistakes_are_named(options, word, rejects):
    with rejects(word):
        predict(LINES, on_points, key=KEY, **options)


def test_a_member_is_picked_by_its_number():
    sampler = members(5)
    assert sampler.members == 5
    assert float(parameter(sampler.solution(3))) == 9
    drawn = jax.vmap(sampler.index)(jax.random.split(KEY, 200))
    assert set(drawn.tolist()) == set(range(5))


def test_samplers_without_members_say_so():
    assert LINES.members is None
    assert eqx.is_array(LINES.center)
