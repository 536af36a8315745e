"""Posteriors of networks with too many parameters for a matrix: random units on their features in the place of these."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import trainable
from epinn.derivatives.random_units import UNKNOWNS
from epinn.posterior.beside import Beside, beside
from epinn.posterior.linearised import size_of_posterior
from epinn.problem.channel import thinned

pytestmark = pytest.mark.usefixtures("quick_compile")

GRID = np.linspace(0, 2, 41)
KEYS = jax.random.split(jax.random.key(0), 1)


def rod(**conditions):
    """A rod whose heating is measured, with noise, as is its temperature at some places; the conductivity may be unknown."""
    x = np.linspace(0.1, 1.9, 12)
    noise = 0.1 * np.random.default_rng(0).normal(size=12)
    return epinn.Problem(
        domain=epinn.Box(x=(0, 2)),
        equation=epinn.Equation(lambda u, p: u.xx + 9 * jnp.sin(3 * p.x), sigma=1.0),
        boundary=epinn.Dirichlet(lambda x: jnp.sin(3 * x), sigma=0.05),
        data=epinn.Data(x, np.sin(3 * x) + noise, sigma=0.1),
        exact=lambda p: jnp.sin(3 * p.x),
        **conditions,
    )


@pytest.fixture
def as_if_large(monkeypatch):
    """Every network has too many parameters."""
    monkeypatch.setattr("epinn.posterior.linearised.is_dense", lambda rows, parameters: parameters <= UNKNOWNS)


@pytest.fixture(scope="module")
def noisy():
    problem = rod()
    return problem, epinn.fit(problem, key=0, base=epinn.Base(hidden=(40, 40), epochs=300, newton=30, restarts=0))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["laplace", "epinet"])
def test_the_band_is_that_of_all_weights(noisy, method, request):
    problem, pinn = noisy
    dense = epinn.attach(pinn, problem, method, key=1).predict(GRID)
    request.getfixturevalue("as_if_large")
    wide = epinn.attach(pinn, problem, method, key=1)
    assert isinstance(wide.posterior.draw(0).network.network, Beside)
    found = wide.predict(GRID)
    assert np.sqrt(np.mean(found.std**2) / np.mean(dense.std**2)) == pytest.approx(1, abs=0.07)  # draws: 2% and 4%
    np.testing.assert_allclose(found.mean, dense.mean, atol=0.3 * np.mean(dense.std))


@pytest.mark.slow
def test_unknowns_have_the_interval_of_all_weights(request):
    problem = epinn.problems.heat1d_inverse(0.1, collocation=60, sensors=12)
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(40, 40), epochs=500, newton=60, restarts=0))
    dense = epinn.attach(pinn, problem, "laplace", key=1).unknowns()["kappa"]
    request.getfixturevalue("as_if_large")
    wide = epinn.attach(pinn, problem, "laplace", key=1).unknowns()["kappa"]
    assert float(wide.std / dense.std) == pytest.approx(1, abs=0.2)  # 1.01 where the fit is done


def test_without_noise_the_band_is_as_wide_as_the_error_and_given_values_stay(as_if_large, tmp_path):
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 2)),
        equation=lambda u, p: u.xx + 9000 * jnp.sin(3 * p.x),
        boundary=epinn.Dirichlet(lambda x: 300 + 1000 * jnp.sin(3 * x)),
    )
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(40, 40), epochs=300, newton=0, restarts=0))
    assert pinn.by_construction
    band = epinn.attach(pinn, problem, "epinet", key=1)
    seen = band.predict(GRID)
    error = np.sqrt(np.mean((seen.mean - 300 - 1000 * np.sin(3 * GRID)) ** 2))
    assert 0.4 < error / np.sqrt(np.mean(seen.std**2)) < 1.2
    assert np.max(seen.std[[0, -1]]) < 1e-4 * np.max(seen.std)
    np.testing.assert_allclose(seen.mean, np.asarray(pinn(GRID))[:, 0], atol=1e-3)
    band.save(tmp_path / "band.safetensors")
    again = epinn.load(tmp_path / "band.safetensors", problem)
    np.testing.assert_array_equal(again.predict(GRID).std, seen.std)


def test_only_coefficients_and_unknowns_are_parameters(noisy):
    _, pinn = noisy
    (found,) = beside([pinn.solution], [jnp.linspace(-1, 1, 64)[:, None]], KEYS)
    leaves = jax.tree.leaves(trainable(found)[0])
    assert [leaf.shape for leaf in leaves] == [(1, UNKNOWNS)]
    np.testing.assert_allclose(found(GRID[:, None]), pinn.solution(GRID[:, None]), rtol=1e-6)


def test_a_draw_of_the_prior_is_as_large_as_a_field_may_be(noisy):
    _, pinn = noisy
    (found,) = beside([pinn.solution], [jnp.linspace(-1, 1, 64)[:, None]], KEYS)
    outer = jnp.asarray(np.random.default_rng(0).normal(size=(100, 1, UNKNOWNS)), jnp.float32)

    def moved(one):
        return dataclasses.replace(found, network=dataclasses.replace(found.network, outer=one)).dimensionless(
            jnp.linspace(-1, 1, 21)[:, None]
        )

    assert 1.5 < float(jnp.std(jax.vmap(moved)(outer), axis=0).mean()) < 6


def test_what_is_measured_is_never_left_out(noisy):
    problem, pinn = noisy
    rows = sum(channel.target.size for channel in pinn.channels)
    fewer = thinned(pinn.channels, rows // 2)
    by_name = {channel.name: channel for channel in fewer}
    assert sum(channel.target.size for channel in fewer) <= rows // 2 + 2
    assert by_name["data"].target.size == 12
    assert thinned(pinn.channels, rows) == pinn.channels
    assert size_of_posterior(problem, 10**6, 10**6)[1] == UNKNOWNS
    with epinn.limited_to(0.1):
        assert size_of_posterior(problem, 10**6, 10**6)[0] < 10_000
