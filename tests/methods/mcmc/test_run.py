"""Diagnostics of chains whose mixing is known."""

import numpy as np
import pytest

from epinn.methods.mcmc.run import Schedule, Trace, _adapted, complaints, diagnose


def trace_of(field):
    seeds, chains, samples, _ = field.shape
    counted = np.zeros((seeds, chains, samples))
    return Trace(field[..., :1], field, counted + 0.8, counted > 0, np.full((seeds, chains), 0.1), 1.0)


def test_independent_samples_have_mixed():
    found = diagnose(trace_of(np.random.default_rng(0).normal(size=(2, 4, 500, 3))), 1)
    assert abs(found["rhat"] - 1) < 0.01
    assert 1000 < found["ess"] < 3000
    assert complaints(found, "hmc", 0.1, "more patience") == ()


def test_chains_in_different_places_have_not():
    field = np.random.default_rng(0).normal(size=(1, 4, 200, 3)) + np.arange(4)[None, :, None, None]
    found = diagnose(trace_of(field), 0)
    assert found["rhat"] > 1.1
    assert "not mixed" in complaints(found, "nuts", 0.1, "more patience")[0]
    assert "try more patience" in complaints(found, "nuts", 0.1, "more patience")[0]


def test_chains_that_stand_still_have_no_rhat():
    found = diagnose(trace_of(np.ones((1, 2, 50, 3))), 0)
    assert found["rhat"] is None
    assert "hardly moved" in complaints(found, "hmc", 0.1, "more patience")[0]


@pytest.mark.parametrize(("accepted", "grows"), [(0.2, False), (0.99, True)])
def test_a_step_size_is_adapted_in_burn_in_and_never_after(accepted, grows):
    schedule = Schedule(burn_in=40, samples=10, chains=2, thin=1, step_size=0.1, adapt=True, precondition=True)
    sizes, seen = np.full((1, 2), 0.1), np.full((1, 2), accepted)
    for call in range(4):
        assert np.all((_adapted(schedule, sizes, seen, call, 4) > sizes) == grows)
    assert np.array_equal(_adapted(schedule, sizes, seen, 4, 4), sizes)
