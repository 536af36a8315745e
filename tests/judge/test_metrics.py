"""Metrics against scipy, closed forms and numerical integration."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from epinn.judge import metrics

RNG = np.random.default_rng(0)
MEAN, STD, TRUTH = RNG.normal(size=20), RNG.uniform(0.1, 2, size=20), RNG.normal(size=20)
ZERO = np.zeros(20)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_the_quantile_is_that_of_the_normal_distribution(level):
    np.testing.assert_allclose(metrics.quantile(level), norm.ppf((1 + level) / 2), rtol=1e-12)


def test_sharpness_is_the_mean_width_of_two_sigma():
    np.testing.assert_allclose(metrics.sharpness(np.array([0.5, 1.5])), 4.0)


def test_rmse_is_the_norm_of_the_error():
    np.testing.assert_allclose(metrics.rmse(MEAN, TRUTH), np.linalg.norm(MEAN - TRUTH) / np.sqrt(20))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_a_right_gaussian_covers_as_often_as_it_says(level):
    n = 200_000
    std = RNG.uniform(0.1, 3, size=n)
    truth = RNG.normal(2.0, std)
    spread = np.sqrt(level * (1 - level) / n)
    assert abs(metrics.coverage(np.full(n, 2.0), std, truth, level) - level) < 4 * spread


def test_coverage_counts_points_by_hand():
    assert metrics.coverage(np.zeros(4), np.ones(4), np.array([0.0, 1.95, -1.97, 5.0])) == 0.5


def test_the_default_level_is_95_percent():
    assert metrics.coverage(MEAN, STD, TRUTH) == metrics.coverage(MEAN, STD, TRUTH, 0.95)
    assert metrics.interval_score(MEAN, STD, TRUTH) == metrics.interval_score(MEAN, STD, TRUTH, 0.95)


def test_nll_is_the_gaussian_density():
    np.testing.assert_allclose(metrics.nll(MEAN, STD, TRUTH), -norm.logpdf(TRUTH, MEAN, STD).mean(), rtol=1e-12)


@pytest.mark.parametrize(("mean", "std", "truth"), [(0.0, 1.0, 0.0), (0.3, 0.5, -1.0), (-1.0, 2.0, 4.0), (0.0, 0.1, 0.05)])
def test_crps_is_the_integrated_squared_distance_of_distributions(mean, std, truth):
    def below(y):
        return norm.cdf(y, mean, std) ** 2

    def above(y):
        return norm.sf(y, mean, std) ** 2

    reach = 12 * std
    expected = (
        quad(below, min(mean, truth) - reach, truth, limit=200)[0] + quad(above, truth, max(mean, truth) + reach, limit=200)[0]
    )
    found = metrics.crps(np.array([mean]), np.array([std]), np.array([truth]))
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_crps_is_the_mean_over_points():
    single = [metrics.crps(*(a[i : i + 1] for a in (MEAN, STD, TRUTH))) for i in range(20)]
    np.testing.assert_allclose(metrics.crps(MEAN, STD, TRUTH), np.mean(single), rtol=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_score_is_its_definition(level):
    alpha = 1 - level
    lower, upper = norm.ppf(alpha / 2, MEAN, STD), norm.ppf(1 - alpha / 2, MEAN, STD)
    score = upper - lower + 2 / alpha * ((lower - TRUTH) * (lower > TRUTH) + (TRUTH - upper) * (upper < TRUTH))
    np.testing.assert_allclose(metrics.interval_score(MEAN, STD, TRUTH, level), score.mean(), rtol=1e-10)


@pytest.mark.parametrize("name", ["nll", "crps", "interval_score"])
def test_scores_are_proper(name):
    """The right spread scores better than any other, on average over the truth."""
    truth = RNG.normal(size=100_000)
    scores = [getattr(metrics, name)(np.zeros(1), np.full(1, std), truth) for std in (0.5, 0.8, 1.0, 1.25, 2.0)]
    assert np.argmin(scores) == 2


@pytest.mark.parametrize("name", ["crps", "interval_score"])
@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_scores_have_the_units_of_u(name, scale):
    metric = getattr(metrics, name)
    np.testing.assert_allclose(metric(scale * MEAN, scale * STD, scale * TRUTH), scale * metric(MEAN, STD, TRUTH), rtol=1e-10)


def test_without_spread_crps_is_the_absolute_error():
    np.testing.assert_allclose(metrics.crps(MEAN, ZERO, TRUTH), np.abs(MEAN - TRUTH).mean())


def test_crps_approaches_the_absolute_error_as_the_spread_vanishes():
    np.testing.assert_allclose(metrics.crps(MEAN, ZERO + 1e-9, TRUTH), metrics.crps(MEAN, ZERO, TRUTH), rtol=1e-6)


def test_without_spread_the_interval_score_is_the_penalty():
    np.testing.assert_allclose(metrics.interval_score(MEAN, ZERO, TRUTH), 40 * np.abs(MEAN - TRUTH).mean())


def test_without_spread_only_the_exact_is_covered():
    assert metrics.coverage(MEAN, ZERO, TRUTH) == 0
    assert metrics.coverage(MEAN, ZERO, MEAN) == 1


def test_without_spread_an_error_is_infinitely_unlikely():
    assert metrics.nll(MEAN, ZERO, TRUTH) == np.inf


def test_all_metrics_come_by_name():
    found = metrics.score(MEAN, STD, TRUTH)
    assert found == {
        "sharpness": metrics.sharpness(STD),
        **{name: getattr(metrics, name)(MEAN, STD, TRUTH) for name in ("coverage", "nll", "crps", "interval_score")},
        "rmse": metrics.rmse(MEAN, TRUTH),
    }


def test_without_truth_only_sharpness_is_known():
    found = metrics.score(MEAN, STD, None)
    assert found.pop("sharpness") == metrics.sharpness(STD)
    assert set(found.values()) == {None}
    assert set(found) == {"coverage", "rmse", "nll", "crps", "interval_score"}


def test_what_is_not_finite_is_none():
    found = metrics.score(MEAN, ZERO, TRUTH)
    assert found["nll"] is None
    assert found["rmse"] == metrics.rmse(MEAN, TRUTH)


@pytest.mark.parametrize("where", ["mean", "std", "truth"])
@pytest.mark.parametrize("metric", ["coverage", "nll", "crps", "interval_score"])
def test_a_band_that_is_nan_anywhere_has_no_score(metric, where):
    """A comparison with NaN is false: a NaN width once had a CRPS of 0, the best there is."""
    band = {"mean": np.ones(3), "std": np.zeros(3), "truth": np.ones(3)}
    band[where] = np.array([1.0, np.nan, 1.0])
    assert np.isnan(getattr(metrics, metric)(**band))
    assert metrics.score(**band)[metric] is None


def test_rounding_is_no_error_of_what_holds_by_construction():
    truth = np.asarray([[300.0], [310.0], [320.0]])
    mean, std = truth + np.asarray([[2e-5], [0.5], [0.0]]), np.asarray([[0.0], [1.0], [0.0]])
    found = metrics.score(mean, std, truth)
    assert found["coverage"] == 1.0
    assert found["nll"] is not None
    assert metrics.score(truth + 0.01, np.zeros_like(truth), truth)["coverage"] == 0.0
