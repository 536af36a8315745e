"""Evidence against its closed form, and as a judge between explanations."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

import epinn
from epinn.solve.evidence import LOOSER, log_evidence, resting_on_the_network
from epinn.solve.prior import bayesian_prior
from epinn.solve.seeds import stack
from epinn.solve.stages import _all_noise, _better
from epinn.solve.task import Fit

X = np.linspace(-1, 1, 12)
Y = 0.8 * X - 0.3 + 0.1 * np.random.default_rng(0).normal(size=12)


def line(sigma):
    """A straight line at the mode of its posterior, and the measurements with unknown noise taken to be sigma."""
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(X, Y))
    base = epinn.Base(hidden=(), epochs=0, newton=0, dimensionless=False)
    pinn = epinn.fit(problem, base=base)
    features = np.stack([X, np.ones(12)], axis=1)
    weight, bias = np.linalg.solve(features.T @ features / sigma**2 + np.eye(2), features.T @ Y / sigma**2)
    network = eqx.tree_at(
        lambda n: (n.weights[0], n.biases[0]), pinn.solution.network, (jnp.full((1, 1), weight), jnp.full(1, bias))
    )
    solution = dataclasses.replace(pinn.solution, network=network)
    channels = tuple(channel.with_sigma(sigma) for channel in problem.channels(0))
    return channels, solution, bayesian_prior([problem], stack([solution]), 1.0), features


@pytest.mark.parametrize("sigma", [0.05, 0.1, 1.0])
def test_a_linear_model_has_the_evidence_of_its_gaussian(sigma):
    channels, solution, prior, features = line(sigma)
    exact = multivariate_normal.logpdf(Y, np.zeros(12), sigma**2 * np.eye(12) + features @ features.T)
    found = log_evidence(channels, solution, prior)
    assert found == pytest.approx(exact + 6 * np.log(2 * np.pi), abs=1e-3)


def fit_of(channels, solution, misfit):
    return Fit(solution, channels, [], np.zeros((0, 1)), 0.0, None, [], misfit, 0.0, True)


def test_the_explanation_that_calls_all_of_it_noise_loses():
    """Its residuals are within what it calls noise, as good as those of the other."""
    channels, solution, prior, _ = line(0.1)
    flat = dataclasses.replace(solution, network=eqx.tree_at(lambda n: n.weights[0], solution.network, jnp.zeros((1, 1))))
    noise = tuple(channel.with_sigma(float(np.std(Y))) for channel in channels)
    good, bad = fit_of(channels, solution, 1.0), fit_of(noise, flat, 0.9)
    assert _better(bad, good, prior) is good
    assert _better(good, bad, prior) is good
    assert good.is_found
    assert not bad.is_found


def test_measurements_of_which_nothing_is_explained_are_named():
    channels, _, _, _ = line(float(np.std(Y)))
    (text,) = _all_noise(channels)
    assert "'data'" in text
    assert "sigma=" in text
    assert _all_noise(line(0.1)[0]) == []


@pytest.mark.parametrize("sigma", [0.01, 10.0])
def test_what_a_network_could_say_as_well_rests_on_its_prior(sigma):
    """An unknown that is added to a straight line beside its own bias, and one that nothing else can say: both are linear, and
    have closed forms."""
    offset, bend = epinn.Unknown(0.0, prior=epinn.Normal(0, 40)), epinn.Unknown(0.0, prior=epinn.Normal(0, 40))
    problem = epinn.Problem(
        domain=epinn.Box(x=(-1, 1)),
        equation=(),
        data=epinn.Data(X, Y, sigma=sigma, operator=lambda u, x, offset, bend: u + offset + bend * x**2),
        unknowns={"offset": offset, "bend": bend},
    )
    pinn = epinn.fit(problem, base=epinn.Base(hidden=(), epochs=0, newton=0, dimensionless=False))
    prior = bayesian_prior([problem], stack([pinn.solution]), 1.0)
    found = resting_on_the_network(problem.channels(0), pinn.solution, prior)
    features = np.stack([X, np.ones(12), X**2, np.ones(12)], axis=1)  # weight, bias, bend, offset

    def spreads(width):
        precision = features.T @ features / sigma**2 + np.diag([width**-2, width**-2, 40**-2, 40**-2])
        return np.sqrt(np.diag(np.linalg.inv(precision)))[2:]

    bend_times, offset_times = spreads(LOOSER) / spreads(1.0)
    assert found["offset"] == pytest.approx(offset_times, rel=1e-3)
    assert found["bend"] == pytest.approx(bend_times, rel=1e-3)
    assert found["bend"] < 1.5 < found["offset"]
