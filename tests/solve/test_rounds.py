"""Gauss-Newton in rounds: how tight exact conditions become beside measurements."""

import dataclasses
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problem.precision import Exact
from epinn.solve import rounds
from epinn.solve.fit import fit_seeds
from epinn.solve.misfit import Misfit

pytestmark = pytest.mark.usefixtures("quick_compile")

T = np.linspace(0.2, 2.8, 12)
NOISE = 0.1 * np.random.default_rng(0).normal(size=12)
QUICK = epinn.Base(hidden=(8, 8), epochs=300, learning_rate=1e-2, newton=60, restarts=0)


def decay():
    """u' = -u from 1 on, with noisy measurements."""
    return epinn.Problem(
        domain=epinn.Box(t=(0, 3)),
        equation=lambda u: u.t + u,
        initial=epinn.Initial(1.0),
        data=epinn.Data(T, np.exp(-T) + NOISE, sigma=0.1),
        points=epinn.Points(30),
    )


@pytest.fixture
def runs(monkeypatch):
    """What every run of Gauss-Newton was asked for, and a way to interfere with some: `spoil` takes a stage, the outcome and
    the solution."""

    class Runs(list):
        spoil = staticmethod(lambda stage, outcome, solution: (outcome, solution))

    seen, run = Runs(), rounds.one_run

    def watched(task, channels, solution, stage, **how):
        outcome, after = seen.spoil(stage, *run(task, channels, solution, stage, **how))
        seen.append((stage, channels, after))
        return outcome, after

    monkeypatch.setattr(rounds, "one_run", watched)
    return seen


def tolerances(channels):
    return np.asarray([float(c.sigma[0, 0]) for c in channels if isinstance(c.precision, Exact)])


def lost(stage, outcome, solution):
    """The third run has given up the measurements, and was not done."""
    if "tighter 2" not in stage:
        return outcome, solution
    off = jax.tree.map(lambda leaf: leaf + 0.5 if eqx.is_inexact_array(leaf) else leaf, solution)
    return dataclasses.replace(outcome, unfinished=[True]), off


def test_tolerances_become_tighter_step_by_step_until_they_are_a_tenth_of_what_is_left(runs):
    (pinn,) = fit_seeds([decay()], keys=[0], base=QUICK)
    asked = [tolerances(channels) for _, channels, _ in runs]
    assert [stage for stage, *_ in runs][:2] == ["newton 1", "newton 2, tighter"]
    assert len(runs) > 3
    for before, after in itertools.pairwise(asked[1:]):
        assert np.all(before / after < 1.01 * rounds.AT_ONCE)
        assert np.all(before / after > 0.99)
    assert not pinn.warnings


def test_a_tolerance_that_the_fit_cannot_follow_is_not_taken(runs):
    runs.spoil = lost
    (pinn,) = fit_seeds([decay()], keys=[0], base=QUICK)
    stages = [stage for stage, *_ in runs]
    assert stages == ["newton 1", "newton 2, tighter", "newton 2, tighter 2", "newton 2"]
    np.testing.assert_allclose(tolerances(runs[-1][1]), tolerances(runs[1][1]))
    np.testing.assert_allclose(pinn(T)[:, 0], np.exp(-T), atol=0.02)


def test_seeds_follow_one_by_one(runs):
    """The same seed alone and beside one that is lost."""
    (alone,) = fit_seeds([decay()], keys=[1], base=QUICK)

    def lost_first(stage, outcome, solution):
        spoilt, off = lost(stage, outcome, solution)
        if spoilt is outcome:
            return outcome, solution
        mixed = jax.tree.map(lambda a, b: jnp.stack([a[0], b[1]]) if eqx.is_array(a) else a, off, solution)
        return dataclasses.replace(outcome, unfinished=[True, outcome.unfinished[1]]), mixed

    runs.spoil = lost_first
    spoilt, beside = fit_seeds([decay(), decay()], keys=[0, 1], base=QUICK)
    for name, sigma in alone.sigmas.items():
        np.testing.assert_allclose(beside.sigmas[name], sigma, rtol=0.2)
        assert spoilt.sigmas[name] > 2 * sigma


def test_what_a_compromise_costs_falls_with_the_square_of_the_tolerance(runs):
    """The premise of the first step: with that tolerance, next to nothing is paid for meeting the measurements better."""
    fit_seeds([decay()], keys=[0], base=QUICK)
    _, channels, solution = runs[1]
    exact = [isinstance(c.precision, Exact) for c in channels]
    assert np.all(Misfit.of(channels, solution).in_all(channels)[0, exact] < 10 * rounds.PAID)
