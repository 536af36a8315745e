"""Measurements that nothing is trained on."""

import numpy as np
import pytest

import epinn
from epinn.posterior.held_out import HeldOut, compare_held_out

X = np.linspace(0.1, 0.9, 8)
BASE = epinn.Base(hidden=(8,), epochs=50, newton=20, restarts=0)


def line(**data):
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.x - 1,
        data=(epinn.Data(X, X, **data), epinn.Data([0.5], [3.0], sigma=0.5, held_out=True)),
        points=epinn.Points(collocation=8),
    )


def test_what_is_held_out_is_not_trained_on():
    problem = line(sigma=0.1)
    assert [channel.name for channel in problem.channels(0)] == ["equation", "data"]
    (channel,) = problem.held_out()
    assert float(channel.target[0, 0]) == 3.0


def test_a_share_is_held_out_at_random_and_nothing_is_lost():
    sigma = np.linspace(0.1, 0.8, 8)
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x, data=epinn.Data(X, X**2, sigma=sigma))
    parted = problem.holding_out(0.25, 1)
    seen, held = parted.data
    assert (len(seen.points), len(held.points)) == (6, 2)
    assert sorted([*seen.points, *held.points]) == pytest.approx(list(X))
    np.testing.assert_allclose(held.values, np.asarray(held.points) ** 2)
    np.testing.assert_allclose(np.interp(held.points, X, sigma), held.sigma)
    other = problem.holding_out(0.25, 2).data[1]
    assert list(other.points) != list(held.points)
    assert len(problem.holding_out(0.0, 1).data) == 1


@pytest.fixture(scope="module")
def pinn():
    return epinn.fit(line(sigma=0.1), base=BASE)


@pytest.mark.slow
def test_they_are_compared_in_units_of_spread_and_noise(pinn):
    posterior = epinn.attach(pinn, method="laplace", settings={"samples": 200}).posterior
    found = compare_held_out(posterior, pinn.data_sigmas)
    at = posterior.predict([0.5], draws=200)
    np.testing.assert_allclose(found.scores, abs(3.0 - at.mean) / np.hypot(at.std, 0.5), rtol=1e-3)
    assert (
        compare_held_out(epinn.attach(pinn, epinn.problems.poisson1d(0.1), "laplace", settings={"samples": 20}).posterior, {})
        is None
    )


@pytest.mark.slow
def test_the_noise_of_a_measurement_is_told_apart_from_the_spread(pinn):
    posterior = epinn.attach(pinn, method="laplace", settings={"samples": 200}).posterior
    assert posterior.noise == pinn.field_noise == {"u": pytest.approx(0.1)}
    spread, both = posterior.predict([0.5], draws=200), posterior.predict_measurement([0.5], draws=200)
    np.testing.assert_allclose(both.std, np.hypot(spread.std, 0.1))
    bare = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x - 1)
    with pytest.raises(epinn.InputError, match="no measurements"):
        epinn.attach(epinn.fit(bare, base=BASE), method="laplace").predict_measurement([0.5])


@pytest.mark.slow
def test_unknown_noise_is_that_of_the_measurements_they_were_parted_from():
    rng, x = np.random.default_rng(0), np.linspace(0.05, 0.95, 40)
    data = [epinn.Data(x, x + sigma * rng.normal(size=40)) for sigma in (0.01, 0.5)]
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x - 1, data=data, points=epinn.Points(collocation=8)
    ).holding_out(0.5, 0)
    pinn = epinn.fit(problem, base=BASE)
    found = compare_held_out(epinn.attach(pinn, method="laplace").posterior, pinn.data_sigmas)
    np.testing.assert_allclose([found.noise[0], found.noise[-1]], [0.01, 0.5], rtol=0.5)


@pytest.mark.slow
def test_without_any_noise_to_go_by_nothing_is_compared(rejects):
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.x - 1,
        boundary=epinn.Dirichlet(lambda x: x),
        data=epinn.Data(np.linspace(0, 1, 30), np.linspace(0, 1, 30), held_out=True),
        points=epinn.Points(collocation=8),
    )
    pinn = epinn.fit(problem, base=BASE)
    assert compare_held_out(epinn.attach(pinn, method="laplace").posterior, pinn.data_sigmas) is None
    with rejects("noise", "sigma"):
        epinn.attach(pinn, method="conformal")


def test_noise_is_not_added_to_some_measurements_only(rejects):
    with rejects("held-out", "leave out"):
        epinn.problems.poisson1d(0.1).holding_out(0.5, 0).disturbed({"data": 0.1}, 1)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0.0, 3.0])  # errors of their own, and mainly one that all measurements share
def test_percentiles_of_a_right_band_are_uniform(shared):
    rng, number = np.random.default_rng(0), 12

    def one():
        offset, offsets = shared * rng.normal(), shared * rng.normal(size=(1000, 1))
        return HeldOut(offset + rng.normal(size=number), np.repeat(offsets, number, axis=1), np.ones(number))

    percentiles = np.sort([one().percentile for _ in range(300)])
    assert np.max(np.abs(percentiles - np.linspace(0, 1, 300))) < 0.1  # Kolmogorov and Smirnov: 0.094 at 1%
