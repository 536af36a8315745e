"""Streamed statistics against numpy over the same draws."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from epinn.derivatives.network import AbstractNetwork, Opaque, Solution
from epinn.posterior import statistics as stream
from epinn.posterior.sampler import GaussianSampler, Members, Sampler
from epinn.posterior.statistics import FieldValues, Prediction, predict

pytestmark = pytest.mark.usefixtures("quick_compile")

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
    return Members(Solution(Opaque(lambda x: x), {"a": jnp.asarray(np.arange(count, dtype=np.float32) ** 2)}))


def parameter(solution):
    return solution.unknowns["a"]


LEVELS = (0.0, 0.025, 0.5, 0.975, 1.0)


@pytest.fixture(scope="module")
def found(quick_compile):
    """Everything about 999 draws: an odd number, so that the last chunk is not full."""
    return predict(LINES, on_points, draws=999, key=KEY, samples=999, quantiles=LEVELS)


def test_mean_and_std_are_those_of_the_draws(found):
    assert found.samples.shape == (999, 5)
    assert found.draws == 999
    np.testing.assert_allclose(found.mean, found.samples.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.std, found.samples.std(axis=0), rtol=1e-5)


def test_draws_are_independent_and_follow_the_distribution(found):
    at_zero = found.samples[:, 0]
    assert len(np.unique(at_zero)) == 999
    assert kstest(at_zero, norm(2, 0.5).cdf).pvalue > 1e-3


def test_a_prediction_unpacks_as_mean_and_std(found):
    mean, std = found
    assert mean is found.mean
    assert std is found.std


@pytest.mark.parametrize("level", LEVELS)
def test_quantiles_are_those_of_the_draws_up_to_a_bin(found, level):
    exact = np.quantile(found.samples, level, axis=0, method="inverted_cdf")
    bins = np.ptp(found.samples, axis=0) / stream.BINS
    np.testing.assert_array_less(np.abs(found.quantiles[level] - exact), 1.01 * bins)


def test_quantiles_come_in_the_order_asked_for(found):
    assert tuple(found.quantiles) == LEVELS


def test_a_component_that_does_not_vary_has_its_value_for_every_quantile():
    line = Lines(jnp.array([3.0, 0.0]), jnp.array([0.0, 1.0]))  # fixed at x = 0, random elsewhere
    fixed = predict(line, on_points, draws=999, key=KEY, quantiles=LEVELS)
    assert fixed.mean[0] == 3
    assert fixed.std[0] == 0
    assert {float(value[0]) for value in fixed.quantiles.values()} == {3}
    assert np.all(fixed.std[1:] > 0)


def test_results_do_not_depend_on_the_chunk(found, monkeypatch):
    monkeypatch.setattr(stream, "VALUES_AT_ONCE", 1)  # one draw at a time
    other = predict(LINES, on_points, draws=999, key=KEY, samples=999, quantiles=LEVELS)
    assert other.draws == found.draws
    np.testing.assert_allclose(other.mean, found.mean, rtol=1e-5)
    np.testing.assert_allclose(other.std, found.std, rtol=1e-5)
    np.testing.assert_allclose(other.samples, found.samples, rtol=1e-5)
    for level in LEVELS:
        np.testing.assert_allclose(other.quantiles[level], found.quantiles[level], rtol=1e-4)


def test_the_key_decides(found):
    same, other = (predict(LINES, on_points, draws=999, key=jax.random.key(seed)) for seed in (0, 1))
    np.testing.assert_array_equal(found.mean, same.mean)
    assert not np.any(found.mean == other.mean)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "at_once"), [(7, 3), (300, 2**17)])
def test_members_are_swept_exactly_once(count, at_once, monkeypatch):
    monkeypatch.setattr(stream, "VALUES_AT_ONCE", at_once)
    swept = predict(members(count), parameter, draws=10_000, key=KEY, samples=10_000)
    squares = np.arange(count) ** 2.0
    assert swept.draws == count
    np.testing.assert_array_equal(swept.samples, squares)
    np.testing.assert_allclose(swept.mean, squares.mean(), rtol=1e-5)
    np.testing.assert_allclose(swept.std, squares.std(), rtol=1e-5)


@pytest.mark.slow
def test_more_members_than_draws_are_drawn_from():
    drawn = predict(members(1000), parameter, draws=200, key=KEY, samples=200)
    assert drawn.draws == 200
    assert set(drawn.samples.tolist()) <= set((np.arange(1000) ** 2.0).tolist())
    assert len(set(drawn.samples.tolist())) > 150


def test_kept_samples_spread_over_all_draws(found):
    few = predict(LINES, on_points, draws=999, key=KEY, samples=3)
    np.testing.assert_allclose(few.samples, found.samples[[0, 499, 998]], rtol=1e-5)


def test_a_small_spread_around_a_large_mean_survives_float32():
    """The mean of squares minus the square of the mean would leave nothing of it."""
    lines = Lines(jnp.array([1000.0, 0.0]), jnp.array([0.1, 0.0]))
    np.testing.assert_allclose(predict(lines, on_points, draws=999, key=KEY).std, 0.1, rtol=0.1)


@pytest.mark.slow
def test_a_functional_keeps_its_shape():
    functional = lambda s: jnp.outer(s.network.coefficients, jnp.ones(3))  # noqa: E731
    some = predict(LINES, functional, draws=50, key=KEY, samples=4, quantiles=(0.5,))
    assert some.mean.shape == some.std.shape == some.quantiles[0.5].shape == (2, 3)
    assert some.samples.shape == (4, 2, 3)
    np.testing.assert_allclose(some.mean[:, 0], some.mean[:, 2])
    assert np.all(some.mean[0] > some.mean[1] + 1)  # the axes are not mixed up


def test_a_column_is_taken_from_everything(found):
    column = found.column(3)
    assert column.mean == found.mean[3]
    assert column.std == found.std[3]
    assert column.quantiles[0.5] == found.quantiles[0.5][3]
    np.testing.assert_array_equal(column.samples, found.samples[:, 3])


def test_memory_does_not_grow_with_the_draws():
    def temporary(draws):
        chunks = jax.random.split(KEY, draws).reshape(-1, 256)
        real = jnp.ones(chunks.shape, bool)
        compiled = stream._moments.lower(LINES, on_points, chunks, real).compile()
        return compiled.compiled.memory_analysis().temp_size_in_bytes

    few, many = temporary(2 * 256), temporary(400 * 256)
    assert many < 2 * few
    assert many < 400 * 256 * 5 * 4 / 10  # all values at once would take ten times as much


@pytest.mark.slow
def test_very_many_draws_run_and_come_near_the_distribution():
    points = jnp.linspace(0, 1, 50)[:, None]
    x = np.asarray(points)[:, 0]
    std = np.sqrt(0.25 + 9 * x**2)
    many = predict(LINES, lambda s: s(points)[:, 0], draws=200_000, key=KEY)
    assert many.draws == 200_000
    np.testing.assert_array_less(np.abs(many.mean - (2 - x)), 5 * std / np.sqrt(200_000))
    np.testing.assert_allclose(many.std, std, rtol=0.01)


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


def test_the_repr_of_a_prediction_is_one_line_however_many_points():
    many = Prediction(np.linspace(-1, 1, 900), np.full(900, 0.25), {0.5: np.zeros(900)}, np.zeros((3, 900)), draws=50)
    assert repr(many) == "<Prediction of shape (900,): mean -1 to 1, std 0.25 to 0.25, quantiles 0.5, 3 samples, 50 draws>"
    assert repr(Prediction(np.array(1.2345678), np.array(0.0321), draws=50)) == "<Prediction: 1.235 ± 0.032, 50 draws>"


class GaussianLines(GaussianSampler):
    """The same lines, as a mean and two deviations from it."""

    lines: Lines
    positive: tuple[int, ...] = eqx.field(static=True, default=())

    def index(self, key):
        return self.lines.index(key)

    def solution(self, index):
        return dataclasses.replace(self.lines.solution(index), positive_fields=self.positive)

    @property
    def center(self):
        return self.solution(jnp.zeros(2))

    @property
    def number(self):
        return 2

    def deviation(self, index):
        return dataclasses.replace(self.center, network=Line(self.lines.scale * jax.nn.one_hot(index, 2)))


class OnPoints(FieldValues):
    @property
    def size(self):
        return len(POINTS)

    def __call__(self, solution):
        return on_points(solution)


def test_gaussian_fields_have_their_exact_mean_spread_and_quantiles_without_draws():
    x = np.asarray(POINTS)[:, 0]
    found = predict(GaussianLines(LINES), OnPoints(), draws=999, key=KEY, quantiles=LEVELS, samples=5)
    np.testing.assert_allclose(found.mean, 2 - x, rtol=1e-6)
    std = np.sqrt(0.5**2 + (3 * x) ** 2)
    np.testing.assert_allclose(found.std, std, rtol=1e-6)
    for level in LEVELS:
        np.testing.assert_allclose(found.quantiles[level], norm.ppf(level, 2 - x, std), rtol=1e-5)
    drawn = predict(LINES, on_points, draws=999, key=KEY, samples=5)
    np.testing.assert_array_equal(found.samples, drawn.samples)  # single ones are drawn as ever
    assert found.draws == 0
    assert repr(found).endswith("5 samples, in closed form>")


def test_what_is_not_gaussian_is_drawn():
    """A softplus on top of a field, and any functional that is not known to be linear."""
    softened = predict(GaussianLines(LINES, (0,)), OnPoints(), draws=999, key=KEY)
    assert softened.draws == 999
    assert np.all(softened.mean > 0)
    assert np.all(np.asarray(softened.mean) > np.asarray(2 - POINTS)[:, 0])
    squared = predict(GaussianLines(LINES), lambda s: on_points(s) ** 2, draws=999, key=KEY)
    assert squared.draws == 999
