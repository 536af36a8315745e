"""Charts: coordinates in which a linear-Gaussian posterior is the standard normal one."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.methods.mcmc.preconditioner import can_be_charted, charts
from epinn.posterior.log_density import posteriors_of, trained
from epinn.solve.config import Base
from epinn.solve.seeds import stack

pytestmark = pytest.mark.usefixtures("quick_compile")


def first(tree):
    return jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, tree)


def chart_of(pinn):
    targets = posteriors_of([pinn], 1.0, 0.01)
    begin = trained(targets, stack([pinn.solution]))[:, None]
    return first(targets), first(first(charts(targets, begin))), begin[0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("readings", [1, 9])  # fewer rows than parameters, and more
def test_a_linear_posterior_becomes_standard_normal(readings):
    x = np.linspace(-1, 1, readings)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, 2 * x, sigma=0.05))
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=20, restarts=0))
    target, chart, begin = chart_of(pinn)
    np.testing.assert_array_equal(chart(jnp.zeros(2)), begin)
    hessian = jax.hessian(lambda eta: -target(chart(eta)))(jnp.zeros(2))
    np.testing.assert_allclose(hessian, np.eye(2), atol=1e-3)


@pytest.mark.slow
def test_a_curved_problem_is_given_less_reach():
    x = np.linspace(-1, 1, 9)
    data = epinn.Data(x, np.sin(3 * x), sigma=0.01)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=data)
    pinn = epinn.fit(problem, base=Base(hidden=(6, 6), epochs=300, newton=30, restarts=0))
    width = np.asarray(chart_of(pinn)[1].width)
    assert width.max() < 0.1


@pytest.mark.slow
def test_unknown_noise_has_the_width_of_its_estimate():
    x = np.linspace(-1, 1, 50)
    data = epinn.Data(x, x + 0.1 * np.random.default_rng(0).normal(size=50))
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=data)
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=20, restarts=0))
    np.testing.assert_allclose(chart_of(pinn)[1].width[-1], 0.1, rtol=1e-5)  # 1 / sqrt(2 n)


@pytest.mark.slow
def test_what_is_too_large_for_a_matrix_is_not_charted(monkeypatch):
    problem = epinn.problems.poisson1d(0.1, collocation=8, sensors=4)
    pinn = epinn.fit(problem, base=Base(hidden=(4,), epochs=0, newton=0, restarts=0))
    targets = posteriors_of([pinn], 1.0, 0.01)
    assert can_be_charted(targets)
    monkeypatch.setattr("epinn.solve.optimise.smaller_space.DENSE", 5)
    assert not can_be_charted(targets)
    band = epinn.attach(pinn, method="hmc", settings={"step_size": 0.0001, "burn_in": 0, "samples": 10})
    assert band.sampler.members == 40
