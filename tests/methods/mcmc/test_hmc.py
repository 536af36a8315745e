"""HMC against posteriors that are known in closed form."""

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.methods import configured
from epinn.methods.mcmc.hmc import DynamicTrajectory, FixedTrajectory
from epinn.posterior.log_density import posteriors_of
from epinn.solve.config import Base
from epinn.solve.pinn import Pinn

pytestmark = pytest.mark.slow

SIGMA = 0.3
PLAIN = {"start": "trained", "precondition": False}


def linear_model(sigma=SIGMA, n=12):
    """u = w x + b: a network without hidden layers, N(0, 1) priors, Gaussian noise."""
    x = np.linspace(-1, 1, n)
    y = 0.7 * x - 0.4 + SIGMA * np.random.default_rng(0).normal(size=n)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, y, sigma=sigma))
    return problem, x, y


def closed_form(x, y, sigma):
    """Mean and covariance of (w, b)."""
    design = np.stack([x, np.ones_like(x)], axis=1)
    precision = np.eye(2) + design.T @ (design / np.square(sigma)[:, None])
    covariance = np.linalg.inv(precision)
    return covariance @ design.T @ (y / np.square(sigma)), covariance


@pytest.mark.parametrize("per_point", [False, True])
def test_mean_and_sd_agree_with_the_closed_form_posterior(per_point):
    sigma = np.linspace(0.1, 0.5, 12) if per_point else SIGMA
    problem, x, y = linear_model(sigma)
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=0, restarts=0, dimensionless=False))
    band = epinn.attach(
        pinn,
        problem,
        "hmc",
        key=1,
        settings={
            "adapt": False,
            "precondition": False,
            "step_size": 0.02,
            "leapfrog": 5,  # far from half a revolution, where the scale of a Gaussian never mixes
            "burn_in": 300,
            "samples": 4000,
            "chains": 4,
            "start": "prior",
        },
    )
    mean, covariance = closed_form(x, y, np.broadcast_to(sigma, 12))
    grid = np.linspace(-1, 1, 9)
    rows = np.stack([grid, np.ones_like(grid)], axis=1)
    exact_mean, exact_sd = rows @ mean, np.sqrt(np.einsum("ni,ij,nj->n", rows, covariance, rows))
    found = band.predict(grid, draws=20_000)
    ess = band.diagnostics["ess"]
    assert band.diagnostics["rhat"] < 1.01
    assert ess > 300
    # within four Monte Carlo standard errors: sd / sqrt(ESS) for the mean, sd / sqrt(2 ESS) for the sd
    np.testing.assert_array_less(np.abs(found.mean - exact_mean), 4 * exact_sd / np.sqrt(ess))
    np.testing.assert_array_less(np.abs(found.std - exact_sd), 4 * exact_sd / np.sqrt(2 * ess))


def test_an_unknown_parameter_follows_its_closed_form_posterior():
    """Readings of c alone: y = c + noise, c ~ N(guess, scale^2)."""
    rng = np.random.default_rng(1)
    y = 1.5 + 0.5 * rng.normal(size=10)
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=(),
        data=epinn.Data(np.linspace(0, 1, 10), y, sigma=0.5, operator=lambda u, c: c + 0 * u),
        unknowns={"c": epinn.Unknown(guess=0.5, prior=epinn.Normal(0.5, 0.7))},
    )
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=0, restarts=0, dimensionless=False))
    band = epinn.attach(
        pinn,
        problem,
        "hmc",
        settings={"adapt": False, "step_size": 0.3, "leapfrog": 5, "burn_in": 200, "samples": 3000, "chains": 4},
    )
    precision = 1 / 0.7**2 + 10 / 0.5**2
    c = band.unknowns()["c"]
    assert abs(c.mean - (0.5 / 0.7**2 + y.sum() / 0.5**2) / precision) < 0.01
    assert abs(c.std - precision**-0.5) < 0.01


def test_unknown_noise_is_inferred_with_the_weights():
    rng = np.random.default_rng(2)
    x = np.linspace(-1, 1, 200)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, 0.5 * x + 0.2 * rng.normal(size=200)))
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=500, learning_rate=1e-2, newton=0, restarts=0, dimensionless=False))
    for start in ("spread", "prior"):
        band = epinn.attach(pinn, problem, "hmc", settings={"chains": 2, "start": start, "samples": 1500})
        assert abs(band.sigmas["data"] - 0.2) < 0.03
        assert band.noise["u"] == pytest.approx(band.sigmas["data"])
        assert band.diagnostics["rhat"] < 1.01


@pytest.mark.parametrize(("varied", "leaves"), [(False, False), (True, True)])
def test_a_chain_whose_steps_are_too_long_for_where_it_is_leaves_if_they_vary(varied, leaves):
    def density(x):
        return -0.5 * jnp.sum(x**2)  # leapfrog steps longer than 2 run away

    kernel, state = FixedTrajectory(50, varied=varied), blackjax.hmc.init(jnp.ones(1), density)
    accepted = [float(kernel(density, state, jax.random.key(i), jnp.asarray(2.3))[1]) for i in range(20)]
    assert (max(accepted) > 0.1) is leaves


def test_lengths_of_dynamic_trajectories_vary_within_their_bounds():
    kernel = DynamicTrajectory(20)
    steps = [int(kernel._steps(key, jnp.asarray(0.4))) for key in jax.random.split(jax.random.key(0), 200)]
    assert min(steps) == 5  # just above a quarter of a revolution, 1.6
    assert 12 <= max(steps) <= 16
    assert int(kernel._steps(jax.random.key(0), jnp.asarray(0.01))) == 20
    assert int(kernel._steps(jax.random.key(0), jnp.asarray(100.0))) == 1


def test_chains_that_do_not_move_are_reported():
    problem, *_ = linear_model()
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=0, restarts=0, dimensionless=False))
    band = epinn.attach(
        pinn, problem, "hmc", settings={"step_size": 10000.0, "leapfrog": 3, "burn_in": 0, "samples": 20, "chains": 2, **PLAIN}
    )
    assert band.diagnostics["acceptance"] < 0.05
    assert "step_size" in band.warnings[0]


def test_a_step_size_far_too_large_or_small_is_mended_during_burn_in():
    problem, *_ = linear_model()
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=0, restarts=0, dimensionless=False))
    for step_size in (100.0, 1e-4):
        band = epinn.attach(
            pinn,
            problem,
            "hmc",
            settings={"step_size": step_size, "leapfrog": 3, "burn_in": 400, "samples": 100, "chains": 2, **PLAIN},
        )
        assert 0.4 < band.diagnostics["acceptance"] < 0.99


def test_chains_that_have_not_mixed_are_reported():
    problem, *_ = linear_model()
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=0, restarts=0, dimensionless=False))
    lazy = {"step_size": 1e-3, "leapfrog": 1, "burn_in": 0, "samples": 40, "start": "prior", "precondition": False}
    band = epinn.attach(pinn, problem, "hmc", key=3, settings=lazy)
    assert band.diagnostics["rhat"] > 1.1
    assert "not mixed" in band.warnings[0]
    assert "HmcMethod(samples=...)" in band.warnings[0]
    assert "long trajectories" not in band.warnings[0]
    assert "HmcMethod(precondition=False, " in configured("hmc").remedy


def test_thinning_stores_fewer_but_watches_all():
    problem, *_ = linear_model()
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=0, restarts=0, dimensionless=False))
    band = epinn.attach(
        pinn,
        problem,
        "hmc",
        settings={"step_size": 0.05, "leapfrog": 5, "burn_in": 0, "samples": 100, "chains": 2, "thin": 5, **PLAIN},
    )
    assert band.sampler.members == 2 * 100 // 5
    assert band.diagnostics["samples"] == 100


@pytest.mark.parametrize("start", ["spread", "trained", "prior", "xavier"])
def test_chains_start_where_they_are_told_to(start):
    problem, *_ = linear_model()
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=500, learning_rate=1e-2, newton=0, restarts=0, dimensionless=False))
    band = epinn.attach(
        pinn,
        problem,
        "hmc",
        settings={"step_size": 1e-09, "leapfrog": 1, "burn_in": 0, "samples": 10, "chains": 3, "start": start},
    )
    first = np.stack([np.asarray(w).ravel()[::10] for w in band.sampler.solutions.network.weights])
    trained = float(pinn.solution.network.weights[0][0, 0])
    at_trained = np.allclose(first, trained, atol=1e-4)
    assert at_trained == (start == "trained")
    if start != "trained":
        assert np.ptp(first) > 1e-3


@pytest.mark.parametrize(
    "settings",
    [
        {"start": "warm"},
        {"leapfrog": 0},
        {"step_size": -1.0},
        {"samples": 0},
        {"prior_sd": 0.0},
        {"tolerance": 0.0},
        {"chain": 2},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    problem, *_ = linear_model()
    network = Base(hidden=()).network(problem, jax.random.key(0))
    untrained = Pinn(problem.solution(network), problem, problem.channels(0))
    with pytest.raises(epinn.InputError):
        epinn.attach(untrained, problem, "hmc", settings=settings)


@pytest.fixture(scope="module")
def curved():
    """A problem of the usual kind, small."""
    base = Base(hidden=(10, 10), epochs=300, newton=50, restarts=0, dimensionless=False)
    return epinn.fit(epinn.problems.poisson1d_nonlinear(0.1, collocation=16, sensors=12), base=base)


def test_chains_in_charts_mix_where_plain_ones_do_not():
    """Precise readings close together: the level is known a hundred times better than the slope."""
    x = np.linspace(-0.02, 0.02, 12)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, 0.7 * x - 0.4, sigma=1e-3))
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=20, restarts=0, dimensionless=False))
    charted = epinn.attach(pinn, method="hmc", key=1).diagnostics
    plain = epinn.attach(pinn, method="hmc", key=1, settings={"precondition": False, "step_size": 0.0003}).diagnostics
    assert charted["rhat"] < 1.01
    assert charted["ess"] > 5 * plain["ess"]


def test_what_is_exact_counts_as_known_to_the_tolerance(curved):
    """The network may have reached more; a chain could not move in so thin a shell."""
    precise = curved.with_sigmas({"equation": 1e-3, "boundary": 0.05})
    target = posteriors_of([precise], prior_sd=1.0, tolerance=0.01)
    found = {channel.name: float(channel.sigma[0, 0]) for channel in target.channels}
    assert found == {"equation": pytest.approx(0.01), "boundary": pytest.approx(0.05), "data": pytest.approx(0.1)}
    read = {channel.name: float(epinn.methods.configured("hmc").traits.reads(channel).sigma[0]) for channel in precise.channels}
    assert read == found
