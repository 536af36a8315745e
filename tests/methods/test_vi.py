"""Mean-field VI against the factorised Gaussian that is known to be nearest: precisions are the diagonal of the posterior's."""

import numpy as np
import pytest

import epinn
from epinn.solve.config import Base

pytestmark = pytest.mark.usefixtures("quick_compile")
SIGMA = 0.3


def line(x, sigma=SIGMA):
    """u = w x + b with N(0, 1) priors; where the mean of x is not zero, w and b are correlated."""
    y = 0.7 * x - 0.4
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, y, sigma=sigma))
    return epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=20, restarts=0, dimensionless=False))


@pytest.mark.slow
def test_means_and_widths_are_those_of_the_nearest_factorised_gaussian():
    x = np.linspace(-0.2, 1, 12)
    band = epinn.attach(line(x), method="vi", settings={"steps": 3000, "learning_rate": 0.01, "draws": 8})
    design = np.stack([x, np.ones_like(x)], axis=1)
    precision = np.eye(2) + design.T @ design / SIGMA**2
    mean = np.linalg.solve(precision, design.T @ (0.7 * x - 0.4) / SIGMA**2)
    ends = band.predict(np.array([0.0, 1.0]), draws=20_000)
    widths = np.diag(precision) ** -0.5
    np.testing.assert_allclose(ends.mean, [mean[1], mean.sum()], atol=0.02)
    np.testing.assert_allclose(ends.std, [widths[1], np.linalg.norm(widths)], rtol=0.06)
    assert band.warnings == ()


@pytest.mark.slow
def test_unknown_noise_is_inferred():
    x = np.linspace(-1, 1, 200)
    y = 0.5 * x + 0.2 * np.random.default_rng(2).normal(size=200)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, y))
    pinn = epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=20, restarts=0, dimensionless=False))
    band = epinn.attach(pinn, method="vi", settings={"steps": 1000, "learning_rate": 0.01})
    assert abs(band.sigmas["data"] - 0.2) < 0.03


def test_a_bound_that_still_rises_is_reported():
    band = epinn.attach(line(np.linspace(-1, 1, 12)), method="vi", settings={"steps": 300, "learning_rate": 0.001})
    assert "ViMethod(steps=...)" in band.warnings[0]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"steps": 0}, {"draws": 0}, {"learning_rate": 0.0}, {"tolerance": -1.0}])
def test_settings_that_make_no_sense_are_refused(rejects, settings):
    with rejects():
        epinn.attach(line(np.linspace(-1, 1, 5)), method="vi", settings=settings)
