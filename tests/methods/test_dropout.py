"""Dropout: the masks, their mean and variance, and the two variants."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import MLP, Opaque, Solution
from epinn.methods.dropout import DropoutSampler
from epinn.problems import poisson1d
from epinn.solve.config import Base
from epinn.solve.pinn import Pinn


@pytest.mark.slow
def test_masks_keep_the_mean_and_switch_off_the_given_fraction():
    mlp = MLP.create(1, (200, 100), 1, key=jax.random.key(0))
    sampler = DropoutSampler(Solution(mlp), 0.1)
    masks = jax.vmap(sampler.index)(jax.random.split(jax.random.key(1), 200))
    for mask in masks:
        assert abs(float(mask.mean()) - 1) < 0.01
        assert abs(float((mask == 0).mean()) - 0.1) < 0.01
        assert set(np.unique(mask)) == {np.float32(0), np.float32(1 / 0.9)}


@pytest.mark.slow
def test_the_band_of_one_hidden_layer_is_the_one_in_closed_form():
    """u = sum_k w_k m_k h_k(x) + b: mean w.h + b, variance p/(1-p) sum (w_k h_k)^2."""
    mlp = MLP.create(1, (20,), 1, key=jax.random.key(0))
    rate, x = 0.2, np.linspace(-1, 1, 7)
    problem = poisson1d()
    band = epinn.Posterior(DropoutSampler(Solution(mlp), rate), problem, "dropout")
    terms = np.asarray(jax.vmap(mlp.features)(jnp.asarray(x)[:, None]) * mlp.weights[1][0])
    found = band.predict(x, draws=40_000)
    sd = np.sqrt(rate / (1 - rate) * (terms**2).sum(1))
    np.testing.assert_allclose(found.mean, terms.sum(1), atol=float(4 * sd.max() / 200))
    np.testing.assert_allclose(found.std, sd, rtol=0.03)


@pytest.mark.slow
def test_dropout_at_prediction_uses_the_trained_network_as_it_is():
    problem = poisson1d(collocation=20)
    pinn = epinn.fit(problem, base=Base(hidden=(8, 8), epochs=20, newton=0, restarts=0))
    band = epinn.attach(pinn, problem, "dropout", settings={"rate": 0.1})
    assert band.sampler.base is pinn.solution
    assert band.seconds == 0


@pytest.mark.slow
def test_dropout_during_training_trains_a_network_of_its_own():
    problem = poisson1d(collocation=20)
    base = Base(hidden=(8, 8), epochs=20, newton=0, restarts=0)
    pinn = epinn.fit(problem, base=base)
    band = epinn.attach(pinn, problem, "dropout", settings={"rate": 0.1, "during": "training"})
    own, base_network = (solution.network.network for solution in (band.sampler.base, pinn.solution))  # between given values
    assert not np.allclose(own.weights[0], base_network.weights[0])
    assert band.seconds > 0


@pytest.mark.parametrize("settings", [{"rate": 0.0}, {"rate": 1.0}, {"during": "traning"}])
def test_settings_that_make_no_sense_are_refused(settings):
    problem = poisson1d()
    untrained = Pinn(problem.solution(MLP.create(1, (4,), 1, key=jax.random.key(0))), problem, problem.channels(0))
    with pytest.raises(epinn.InputError):
        epinn.attach(untrained, problem, "dropout", settings=settings)


def test_a_network_without_layers_of_ours_is_refused_with_a_sentence():
    problem = poisson1d()
    foreign = Pinn(problem.solution(Opaque(lambda x: jnp.sin(x))), problem, problem.channels(0))
    with pytest.raises(epinn.InputError, match="another method"):
        epinn.attach(foreign, problem, "dropout")
