"""Repetition: coverage from distances."""

import numpy as np
import pytest

import epinn
from epinn.app.report.pictures.calibration import picture
from epinn.judge import calibration
from epinn.judge.calibration import Redraw, Reliability
from epinn.problem.precision import KnownNoise


def redraw(seed, distances, **unknowns):
    metrics = dict.fromkeys(("sharpness", "coverage", "rmse", "crps", "interval_score", "time_s"), 1.0)
    return Redraw("laplace", seed, np.asarray(distances), unknowns, metrics, [])


def test_coverage_counts_the_points_whose_truth_is_within_the_band():
    found = Reliability("laplace", [redraw(0, [0.5, 1.0, 3.0, 1.9]), redraw(1, [0.1, 2.5, 0.3, 1.0])])
    assert found.coverage(0.95) == pytest.approx(6 / 8)
    assert found.coverage(0.5) == pytest.approx(3 / 8)
    np.testing.assert_allclose(found.conditional(0.95), [1, 0.5, 0.5, 1])
    assert found.standard_error(0.95) == 0


def test_gaussian_errors_of_the_right_size_are_covered_as_often_as_they_should():
    rng = np.random.default_rng(0)
    found = Reliability("laplace", [redraw(i, np.abs(rng.normal(size=500))) for i in range(200)])
    for level in calibration.LEVELS:
        assert found.coverage(level) == pytest.approx(level, abs=0.01)


def test_the_interval_of_an_unknown_is_judged_too():
    at = lambda mean: {"mean": mean, "std": 0.1, "exact": 2.0}  # noqa: E731
    found = Reliability("laplace", [redraw(i, [0.0], k=at(mean)) for i, mean in enumerate((2.0, 2.19, 2.21, 1.7))])
    assert found.unknowns() == {"k": {"coverage": 0.5, "std": pytest.approx(0.1)}}


def test_noise_can_be_put_on_any_kind_of_condition(rejects):
    problem = epinn.problems.poisson1d(0.1)
    noisy = problem.disturbed({"equation": 0.3}, key=1)
    for before, after, again in zip(problem.channels(0), noisy.channels(0), noisy.channels(0), strict=True):
        changed = np.asarray(after.target - before.target)
        np.testing.assert_array_equal(after.target, again.target)
        if before.kind == "equation":
            assert changed.std() == pytest.approx(0.3, rel=0.2)
            assert isinstance(after.precision, KnownNoise)
            assert float(after.sigma[0]) == pytest.approx(0.3)
        else:
            assert np.all(changed == 0)
    with rejects("boundry", "did you mean 'boundary'"):
        problem.disturbed({"boundry": 0.1}, key=0)
    with rejects("equation", "positive"):
        problem.disturbed({"equation": -1.0}, key=0)


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_an_interval_that_is_no_number_holds_nothing(nothing):
    made = [{"mean": 2.0, "std": 0.1, "exact": 2.0}, {"mean": nothing, "std": nothing, "exact": 2.0}]
    found = Reliability("laplace", [redraw(i, [0.0], k=one) for i, one in enumerate(made)])
    assert found.unknowns() == {"k": {"coverage": 0.5, "std": pytest.approx(0.1)}}
    assert len(picture([found], epinn.Box(x=(0, 1))).axes[2].lines) == 2  # one interval, and the truth
