import numpy as np
import pytest

import epinn
from epinn.app.report.pictures.calibration import picture
from epinn.judge.calibration import Redraw, Reliability

DOMAIN = epinn.Box(x=(0, 2), t=(0, 1))


def study(method="laplace", **unknowns):
    """Three redraws on a grid of 4 by 4 points, the truth outside at the first x."""
    distances = np.where(np.arange(16) < 4, 9.0, 0.1)
    return Reliability(
        method, [Redraw(method, i, distances, {name: u[i] for name, u in unknowns.items()}, {}, []) for i in range(3)]
    )


def test_the_curves_are_those_of_the_study():
    curves, along = picture([study(), study("epinet")], DOMAIN).axes
    assert [text.get_text() for text in curves.get_legend().get_texts()] == ["laplace", "epinet"]
    np.testing.assert_allclose(curves.lines[1].get_ydata()[-1], 0.75)
    np.testing.assert_allclose(along.lines[1].get_xdata(), np.linspace(0, 2, 4))
    np.testing.assert_allclose(along.lines[1].get_ydata(), [0, 1, 1, 1])
    assert along.get_ylim()[0] < 0


def test_every_unknown_has_a_panel_that_shows_which_intervals_miss_it():
    made = [{"mean": mean, "std": 0.1, "exact": 2.0} for mean in (2.1, 1.5, 2.0)]
    panel = picture([study(k=made)], DOMAIN).axes[2]
    low, high = panel.lines[0].get_ydata()  # sorted: the lowest first
    assert (low, high) == pytest.approx((1.5 - 0.196, 1.5 + 0.196), abs=1e-3)
    colours = [line.get_color() for line in panel.lines[:3]]
    assert colours[0] != colours[1] == colours[2]


def test_an_unknown_without_an_exact_value_has_none():
    made = [{"mean": 1.0, "std": 0.1, "exact": None}] * 3
    assert len(picture([study(k=made)], DOMAIN).axes) == 2
