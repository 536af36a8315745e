"""Diagnostics of chains whose mixing is known."""

import numpy as np
import pytest

from epinn.methods.mcmc.diagnostics import complaints, diagnose
from epinn.methods.mcmc.run import Trace


def trace_of(field):
    seeds, chains, samples, _ = field.shape
    counted = np.zeros((seeds, chains, samples))
    return Trace(field[..., :1], field, counted + 0.8, counted > 0, np.full((seeds, chains), 0.1), 1.0)


@pytest.mark.slow
def test_independent_samples_have_mixed():
    found = diagnose(trace_of(np.random.default_rng(0).normal(size=(2, 4, 500, 3))), 1)
    assert found["rhat"] < 1.01
    assert 1000 < found["ess"] < 3000
    assert 1000 < found["ess_tail"] < 3000
    assert complaints(found, "hmc", 0.1, "more patience") == ()


@pytest.mark.parametrize("apart", [1.0, 0.2])  # the second has an R-hat of 1.02 or so, below the 1.1 of old
def test_chains_in_different_places_have_not(apart):
    field = np.random.default_rng(0).normal(size=(1, 4, 500, 3)) + apart * np.arange(4)[None, :, None, None]
    found = diagnose(trace_of(field), 0)
    (text,) = complaints(found, "nuts", 0.1, "more patience")
    assert found["rhat"] > 1.01
    assert "not mixed" in text
    assert "effective samples" in text
    assert "try more patience" in text


def test_chains_of_different_width_have_not_mixed_though_their_means_agree():
    """Plain R-hat is blind to this; the rank-normalised one folds the samples."""
    widths = np.asarray([1.0, 1.0, 1.0, 3.0])[None, :, None, None]
    found = diagnose(trace_of(widths * np.random.default_rng(0).normal(size=(1, 4, 500, 3))), 0)
    assert found["rhat"] > 1.05


@pytest.mark.slow
def test_one_value_at_one_chain_is_enough():
    found = diagnose(trace_of(np.random.default_rng(0).normal(size=(1, 1, 500, 1))), 0)
    assert found["rhat"] < 1.02


def test_chains_that_stand_still_have_no_rhat():
    found = diagnose(trace_of(np.ones((1, 2, 50, 3))), 0)
    assert found["rhat"] is None
    assert "hardly moved" in complaints(found, "hmc", 0.1, "more patience")[0]
