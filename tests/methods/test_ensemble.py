"""Ensembles. That perturbed members are draws of the posterior is shown in test_linear."""

import dataclasses

import numpy as np
import pytest

import epinn
from epinn.methods.ensemble import EnsembleMethod
from epinn.posterior.sampler import widening

pytestmark = pytest.mark.usefixtures("quick_compile")

BASE = epinn.Base(hidden=(8,), epochs=50, newton=40, restarts=0)
X = np.linspace(0, 1, 9)


def line(values=X):
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.xx,
        data=epinn.Data(X, values, sigma=0.1),
        points=epinn.Points(collocation=8),
    )


@pytest.fixture(scope="module")
def pinn():
    return epinn.fit(line(), base=BASE)


@pytest.mark.slow
def test_members_differ_and_agree_within_their_band(pinn):
    found = epinn.attach(pinn, method="ensemble", settings={"members": 6}).predict(X)
    assert np.all(found.std > 0)
    np.testing.assert_array_less(np.abs(found.mean - X), 5 * found.std)


@pytest.mark.slow
def test_plain_members_differ_less(pinn):
    plain, perturbed = (
        epinn.attach(pinn, method="ensemble", settings={"members": 6, "perturb": p}).predict(X) for p in (False, True)
    )
    assert plain.std.mean() < 0.7 * perturbed.std.mean()


@pytest.mark.slow
def test_members_that_miss_the_solution_are_counted(pinn):
    lost = dataclasses.replace(pinn, base=dataclasses.replace(BASE, epochs=1, newton=1))
    posterior = epinn.attach(lost, method="ensemble", settings={"members": 3})
    assert posterior.warnings
    assert "3 of 3 members have not found the solution and were kept" in posterior.warnings[0]
    assert posterior.diagnostics["doubt"] == posterior.warnings[0]  # the verdict will say so
    assert posterior.diagnostics["members"] == 3


@pytest.mark.parametrize("number", [3, 8, 16])
def test_the_band_of_few_members_holds_one_more_of_them(number):
    """Constants drawn from a normal distribution: mean +/- 1.96 std of so few of them holds another 95% of the time."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4000, number + 1))
    factor = widening(number)
    mean, std = draws[:, :-1].mean(1), factor * draws[:, :-1].std(1)
    assert np.mean(np.abs(draws[:, -1] - mean) <= 1.96 * std) == pytest.approx(0.95, abs=0.012)


@pytest.mark.slow
def test_few_members_have_the_mean_of_all_and_a_larger_spread(pinn):
    posterior = epinn.attach(pinn, method="ensemble", settings={"members": 4}).posterior
    few, plain = posterior.sampler, dataclasses.replace(posterior, sampler=posterior.sampler.plain)
    wide, narrow = posterior.predict(X), plain.predict(X)
    np.testing.assert_allclose(wide.mean, narrow.mean, atol=1e-4)
    np.testing.assert_allclose(wide.std, few.factor * narrow.std, rtol=1e-3)
    slope = posterior.evaluate(lambda u: u.x, at=X)
    np.testing.assert_allclose(slope.mean, plain.evaluate(lambda u: u.x, at=X).mean, atol=1e-3)


@pytest.mark.slow
def test_members_may_start_at_the_trained_network(pinn):
    """Each finds a fit of its own, with the spread of those that come from far away."""
    near, far = (
        epinn.attach(pinn, method="ensemble", key=1, settings={"members": 6, "start": start}) for start in ("trained", "anchor")
    )
    assert near.diagnostics["members"] == 6
    assert 0.5 < float(np.mean(near.predict(X).std / far.predict(X).std)) < 2


def test_starts_that_make_no_sense_are_refused(rejects):
    with rejects("'prior'", "anchor, trained"):
        EnsembleMethod(start="prior")
    with rejects("trained", "perturbed"):
        EnsembleMethod(start="trained", perturb=False)


def test_too_few_members_are_refused():
    with pytest.raises(epinn.InputError, match=r"ensemble\.members"):
        epinn.methods.configured("ensemble", {"members": 1})
