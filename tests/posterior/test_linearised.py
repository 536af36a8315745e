"""A problem that is linear in its parameters, with noise on every row: the posterior is known in closed form."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import trainable
from epinn.posterior.linearised import Linearised, changed

pytestmark = pytest.mark.usefixtures("quick_compile")

BASE = epinn.Base(hidden=(), fourier=12, fourier_scale=0.4, epochs=1, newton=60, restarts=0, dimensionless=False)
SIGMA = {"equation": 0.5, "boundary": 0.05, "data": 0.2}
GRID = np.linspace(-1, 1, 41)
NEAR = {"laplace": {"samples": 8000}, "epinet": {}, "ensemble": {"members": 1200}}
CHAINS = {"hmc": {"samples": 1000}, "nuts": {"samples": 600}}


def spring():
    """u'' + 4 u = f with noise on f, on both ends and on some readings, by random Fourier features: 25 parameters."""
    rng = np.random.default_rng(0)
    interior, sensors = np.linspace(-0.95, 0.95, 20), np.linspace(-0.8, 0.8, 7)
    return epinn.Problem(
        domain=epinn.Box(x=(-1, 1)),
        equation=epinn.Equation(
            lambda u: u.xx + 4 * u,
            points=interior,
            target=np.cos(interior) + SIGMA["equation"] * rng.normal(size=20),
            sigma=SIGMA["equation"],
        ),
        boundary=epinn.Dirichlet(0.1, sigma=SIGMA["boundary"]),
        data=epinn.Data(sensors, np.sin(sensors) + SIGMA["data"] * rng.normal(size=7), sigma=SIGMA["data"]),
    )


@pytest.mark.slow
def test_the_prior_of_a_method_is_that_of_the_base_unless_it_has_its_own():
    pinn = epinn.fit(spring(), base=dataclasses.replace(BASE, prior=0.3))

    def width(method, **own):
        return float(epinn.attach(pinn, method=method, key=1, settings=own).predict(GRID, draws=1000).std.mean())

    for method in ("laplace", "epinet", "ensemble"):
        assert width(method) == width(method, prior_sd=0.3)
        assert width(method) != width(method, prior_sd=1.0)


def closed_form(pinn):
    """Mean and sd on the grid, from the features and nothing else of epinn."""
    omega = np.asarray(pinn.solution.network.encoding.frequencies.content, float)[:, 0]

    def design(x, order=0):
        phase = np.asarray(x, float)[:, None] * omega
        waves = np.concatenate([np.sin(phase), np.cos(phase)], axis=1) * np.concatenate([-(omega**2)] * 2) ** (order // 2)
        return np.concatenate([waves, np.full((len(x), 1), float(order == 0))], axis=1)

    rows, targets = [], []
    for channel in pinn.channels:
        x, sigma = np.asarray(channel.points)[:, 0], float(channel.sigma[0])
        operator = design(x, 2) + 4 * design(x) if channel.name == "equation" else design(x)
        rows.append(operator / sigma)
        targets.append(np.asarray(channel.target)[:, 0] / sigma)
    a, y = np.concatenate(rows), np.concatenate(targets)
    covariance = np.linalg.inv(a.T @ a + np.eye(a.shape[1]))
    at = design(GRID)
    return at @ covariance @ a.T @ y, np.sqrt(np.einsum("ni,ij,nj->n", at, covariance, at))


@pytest.fixture(scope="module")
def pinn():
    return epinn.fit(spring(), base=BASE)


def test_the_base_is_the_mode(pinn):
    np.testing.assert_allclose(pinn(GRID)[:, 0], closed_form(pinn)[0], atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("method", NEAR | CHAINS)
def test_the_spread_is_that_of_the_exact_posterior(pinn, method):
    mean, sd = closed_form(pinn)
    found = epinn.attach(pinn, method=method, key=1, settings=(NEAR | CHAINS)[method]).predict(GRID, draws=8000)
    ratio = found.std / sd
    assert abs(ratio.mean() - 1) < 0.03
    assert ratio.std() < 0.1
    np.testing.assert_array_less(np.abs(found.mean - mean), 0.1 * sd + 2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("method", NEAR)
def test_a_base_that_has_not_seen_the_data_is_moved_by_them(method):
    """A line fitted to nothing, attached to readings: the posterior of the readings, not a band around the wrong line."""
    x = np.linspace(-1, 1, 9)
    blank = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data([0.0], [0.0], sigma=10.0))
    pinn = epinn.fit(blank, base=epinn.Base(hidden=(), epochs=0, newton=10, restarts=0, dimensionless=False))
    told = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, 2 * x + 1, sigma=0.05))
    found = epinn.attach(pinn, told, method, key=1).predict(x, draws=4000)
    np.testing.assert_allclose(found.mean, 2 * x + 1, atol=0.02)


@pytest.mark.slow
def test_too_few_directions_scatter(pinn):
    """What the default dimension of z is for: 8 directions have the right spread on average, not at every point."""
    sd = closed_form(pinn)[1]
    ratios = [
        epinn.attach(pinn, method="epinet", key=k, settings={"index_dim": 8}).predict(GRID, draws=4000).std / sd
        for k in range(4)
    ]
    assert np.std(ratios) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("method", NEAR)
def test_more_noise_means_a_wider_band(method):
    def width(sigma):
        x = np.linspace(-1, 1, 9)
        problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, 0 * x, sigma=sigma))
        base = epinn.Base(hidden=(), epochs=0, newton=5, restarts=0, dimensionless=False)
        return epinn.attach(epinn.fit(problem, base=base), method=method).predict(GRID).std.mean()

    assert width(0.4) > 1.5 * width(0.1)


@pytest.mark.slow
def test_a_linearised_network_is_the_first_order_expansion(x64):
    problem = epinn.problems.poisson1d()
    solution = problem.solution(epinn.Base(hidden=(6,)).network(problem, epinn.problem.problem.as_key(0)))
    parameters, rest = trainable(solution)
    small = jax.tree.map(lambda leaf: 1e-4 * jnp.ones_like(leaf), parameters)
    moved = eqx.combine(jax.tree.map(jnp.add, parameters, small), rest)
    x = jnp.linspace(-1, 1, 5)[:, None]
    first_order = changed(solution, small)
    assert isinstance(first_order.network, Linearised)
    np.testing.assert_allclose(first_order(x), moved(x), atol=1e-6)
    assert np.max(np.abs(first_order(x) - solution(x))) > 1e-5


def test_fields_of_some_coordinates_that_are_too_large_are_refused_before_training(monkeypatch, rejects):
    monkeypatch.setattr("epinn.solve.optimise.smaller_space.DENSE", 5)
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 1)),
        fields=("u", epinn.Field("k", of="x")),
        equation=lambda u, k: u.t - k * u.xx,
        boundary=epinn.Dirichlet(0.0, field="u"),
        initial=epinn.Initial(lambda x: jnp.sin(np.pi * x), field="u"),
    )
    with rejects("too many", "fewer points", "another method"):
        epinn.fit(problem, method="laplace")
