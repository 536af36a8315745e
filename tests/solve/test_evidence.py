"""Evidence against its closed form, and as a judge between explanations."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

import epinn
from epinn.solve.evidence import log_evidence
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
