"""Unknowns in pairs."""

import dataclasses
import io

import numpy as np
import pytest

import epinn
from epinn.app.report.pictures.corner import MOST, corner
from epinn.judge.evaluation import Evaluation
from epinn.posterior.statistics import Prediction


def seen(label="epinet", spread=1.0, number=2, exact=None):
    """Draws of the first two that have a correlation of 0.8."""
    names = [f"k{i}" for i in range(number)]
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda: 0.0, unknowns=dict.fromkeys(names, 1.0))
    points = np.linspace(0, 1, 5)[:, None]
    draws = np.random.default_rng(0).normal(size=(number, 2000)) * spread
    draws[1] = 0.8 * draws[0] + 0.6 * draws[1]
    found = {
        name: Prediction(np.asarray(d.mean()), np.asarray(d.std()), samples=d) for name, d in zip(names, draws, strict=True)
    }
    field = Prediction(points, np.ones_like(points))
    return Evaluation(problem, label, points, (5,), field, None, found, dict.fromkeys(names, exact), 0.0)


def written(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_pairs_are_below_the_diagonal_and_correlations_above():
    figure = corner([seen(exact=0.5), seen("hmc")])
    assert len(figure.axes) == 4
    first, correlation, pair, second = figure.axes
    assert written(figure) == ["correlation 0.80"] * 2
    assert (pair.get_xlabel(), pair.get_ylabel()) == ("k0", "k1")
    assert pair.get_xlim() == first.get_xlim()
    assert pair.get_ylim() == second.get_xlim()
    assert [line.get_xdata()[0] for line in first.lines] == [0.5]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["epinet", "hmc", "exact"]
    assert not correlation.axison


def test_contours_hold_the_shares_that_they_promise():
    one = seen()
    (pair,) = [ax for ax in corner([one]).axes if ax.get_ylabel()]
    contours = next(part for part in pair.collections if hasattr(part, "levels"))
    inside = [path for path in contours.get_paths() if len(path)]
    draws = np.array([one.unknowns[name].samples for name in ("k0", "k1")]).T
    shares = [np.mean(path.contains_points(draws)) for path in inside]
    assert shares == pytest.approx([0.95, 0.68], abs=0.04)


@pytest.mark.parametrize("change", ["constant", "not finite", "without draws"])
def test_poor_draws_can_be_drawn(change):
    one = seen()
    if change == "constant":
        one.unknowns["k0"].samples[:] = 1.0
    elif change == "not finite":
        one.unknowns["k0"].samples[:] = np.nan
    else:
        alone = {name: dataclasses.replace(found, samples=None) for name, found in one.unknowns.items()}
        one = dataclasses.replace(one, unknowns=alone)
    figure = corner([one])
    figure.savefig(io.BytesIO(), dpi=30)
    assert written(figure) == []


def test_of_many_unknowns_it_says_which_are_shown():
    figure = corner([seen(number=MOST + 2)])
    assert len(figure.axes) == MOST**2
    assert figure.get_suptitle() == f"the first {MOST} of {MOST + 2} unknowns"
