"""Where chains begin."""

import numpy as np
import pytest

import epinn
from epinn.methods.mcmc import starts as starts_module
from epinn.methods.mcmc.starts import starts
from epinn.posterior.log_density import posteriors_of
from epinn.problem.problem import as_key
from epinn.progress import Progress
from epinn.solve.config import Base

pytestmark = pytest.mark.usefixtures("quick_compile")


@pytest.mark.slow
def test_spread_starts_of_a_linear_problem_are_draws_from_its_posterior():
    x = np.linspace(-1, 1, 12)
    data = epinn.Data(x, 0.7 * x - 0.4, sigma=0.3)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=data)
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=20, restarts=0, dimensionless=False))
    targets = posteriors_of([pinn], 1.0, 0.01)
    found = np.asarray(starts("spread", [pinn], targets, as_key(0)[None], 300, Progress(), "start"))[0]
    design = np.stack([x, np.ones_like(x)], axis=1)
    covariance = np.linalg.inv(np.eye(2) + design.T @ design / 0.09)
    np.testing.assert_allclose(found.mean(axis=0), covariance @ design.T @ (0.7 * x - 0.4) / 0.09, atol=0.04)
    np.testing.assert_allclose(found.std(axis=0), np.diag(covariance) ** 0.5, rtol=0.15)


@pytest.mark.slow
def test_refits_that_lost_the_solution_start_at_the_trained_network(monkeypatch):
    monkeypatch.setattr(starts_module, "FAR", -1e9)
    problem = epinn.problems.poisson1d(0.1, collocation=8, sensors=4)
    pinn = epinn.fit(problem, base=Base(hidden=(4,), epochs=10, newton=5, restarts=0))
    targets = posteriors_of([pinn], 1.0, 0.01)
    spread, same = (starts(k, [pinn], targets, as_key(0)[None], 2, Progress(), "start") for k in ("spread", "trained"))
    np.testing.assert_array_equal(spread, same)
