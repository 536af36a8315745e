"""The stages of training: what took part in them."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problems import poisson1d_nonlinear
from epinn.progress import Progress
from epinn.solve.fit import fit_seeds

pytestmark = pytest.mark.usefixtures("quick_compile")

X = np.linspace(-1, 1, 9)
BASE = epinn.Base(hidden=(), epochs=20, newton=20, restarts=0)


def line():
    return epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(X, 2 * X + 1, sigma=0.5))


@pytest.mark.slow
def test_the_prior_takes_part_where_gauss_newton_does():
    assert epinn.fit(line(), base=BASE).regularised
    assert not epinn.fit(line(), base=dataclasses.replace(BASE, newton=0)).regularised


@pytest.mark.slow
def test_work_for_less_than_one_step_leaves_the_prior_out():
    """The network is then where Adam left it, and its band is that of a network without Gauss-Newton."""
    none, short = (epinn.fit(line(), base=dataclasses.replace(BASE, **how)) for how in ({"newton": 0}, {"newton_work": 1.0}))
    assert not short.regularised
    expected, found = (epinn.attach(pinn, method="laplace", key=1).predict(X) for pinn in (none, short))
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-5)
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-5)


@pytest.mark.slow
def test_measurements_lead_from_another_solution_of_the_equation_to_the_right_one():
    """Seed 54 meets equation and boundary, misses the measurements by six times their noise, and begins again: with these
    first, and without the prior, beside which nothing but zero would be left of the network."""
    problem = poisson1d_nonlinear(0.3, key=54)
    pinn = epinn.fit(problem, key=54)
    x = np.linspace(-0.7, 0.7, 51)
    assert not pinn.warnings
    np.testing.assert_allclose(pinn(x)[:, 0], np.sin(6 * x) ** 3, atol=1e-4)


class Stages(Progress):
    """Remembers what was done."""

    def __init__(self):
        self.steps = {}

    def __call__(self, stage, step, total, values):
        self.steps[stage] = step


def test_a_fit_that_had_to_end_too_early_goes_on_where_it_was():
    """Eight steps at a time: no Adam in between, which would undo what Gauss-Newton has reached."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(-1, 1)), equation=lambda u, x: u.xx + 9 * jnp.sin(3 * x), boundary=epinn.Dirichlet(0.0)
    )
    stages, base = Stages(), epinn.Base(hidden=(8, 8), epochs=20, newton=8, restarts=2, stages=1, hard=False)
    (pinn,) = fit_seeds([problem], keys=[0], base=base, progress=stages)
    done = [stage for stage, steps in stages.steps.items() if steps]
    assert done == ["training", "newton", "newton, continued 1"]
    (short,) = fit_seeds([problem], keys=[0], base=dataclasses.replace(base, restarts=0))
    assert short.warnings
    x = np.linspace(-1, 1, 41)
    exact = np.sin(3 * x) - np.sin(3) * x
    errors = [np.abs(np.asarray(one(x))[:, 0] - exact).max() for one in (short, pinn)]
    assert errors[1] < errors[0] / 3
