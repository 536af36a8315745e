"""Traces and ranks of chains."""

import dataclasses
import io

import numpy as np
import pytest

import epinn
from epinn.app.report.pictures import figures
from epinn.app.report.pictures.mixing import mixing
from epinn.judge.chains import Chains
from epinn.judge.evaluation import Evaluation
from epinn.posterior.statistics import Prediction


def seen(values, label="hmc"):
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda: 0.0)
    points = np.linspace(0, 1, 5)[:, None]
    chains = None if values is None else Chains(("u at x = 0.5",), values[None])
    found = Prediction(points, np.ones_like(points))
    return Evaluation(problem, label, points, (5,), found, None, {}, {}, 0.0, chains=chains)


MIXED = np.random.default_rng(0).normal(size=(4, 1000))


def shares(figure):
    """The heights of the steps of every chain."""
    return np.array([patch.get_data().values for patch in figure.axes[1].patches])


def test_ranks_are_even_where_chains_have_mixed():
    found = shares(mixing([seen(MIXED)]))
    assert found.shape == (4, 10)
    np.testing.assert_allclose(found.mean(axis=0), 1)
    assert np.all(np.abs(found - 1) < 0.6)


def test_a_chain_apart_has_the_high_ranks():
    apart = MIXED + np.array([0, 0, 0, 5])[:, None]
    found = shares(mixing([seen(apart)]))
    assert found[3, -1] == pytest.approx(4)
    assert found[3, 0] < 0.1


def test_there_is_a_row_for_every_method_that_has_chains():
    figure = mixing([seen(MIXED), seen(None, "epinet"), seen(MIXED, "nuts")])
    titles = [ax.get_title(loc="left") for ax in figure.axes[::2]]
    assert titles == ["hmc: u at x = 0.5", "nuts: u at x = 0.5"]


def test_without_chains_there_is_no_picture():
    assert mixing([seen(None)]) is None
    assert "chains" not in figures([seen(None)])
    assert "chains" in figures([seen(MIXED)])


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_chains_that_stand_still_can_be_drawn(value):
    still = dataclasses.replace(seen(np.full((4, 10), value)))
    mixing([still]).savefig(io.BytesIO(), dpi=30)
