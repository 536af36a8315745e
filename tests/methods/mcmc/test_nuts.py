"""NUTS has the target and the coordinates of HMC; that its draws are right is shown in test_linear.py."""

import numpy as np
import pytest

import epinn
from epinn.solve.config import Base

pytestmark = pytest.mark.usefixtures("quick_compile")


@pytest.fixture(scope="module")
def pinn():
    x = np.linspace(-1, 1, 12)
    data = epinn.Data(x, 0.7 * x - 0.4 + 0.1 * np.cos(9 * x), sigma=0.2)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=data)
    return epinn.fit(problem, base=Base(hidden=(), epochs=1, newton=20, restarts=0))


@pytest.mark.slow
def test_it_finds_the_length_of_its_trajectories_itself(pinn):
    """Steps a tenth of what they might be: trajectories of many of them still mix at once."""
    band = epinn.attach(pinn, method="nuts", settings={"adapt": False, "step_size": 0.1, "burn_in": 20, "samples": 800})
    assert band.diagnostics["rhat"] < 1.05
    assert band.diagnostics["ess"] > 200
    assert band.warnings == ()


@pytest.mark.slow
def test_trajectories_that_may_not_grow_are_short(pinn):
    short = epinn.attach(
        pinn, method="nuts", settings={"adapt": False, "step_size": 0.01, "doublings": 1, "burn_in": 0, "samples": 100}
    )
    assert short.diagnostics["rhat"] > 1.05


@pytest.mark.parametrize("settings", [{"doublings": 0}, {"doublings": 11}, {"step_size": 0.0}, {"start": "cold"}])
def test_settings_that_make_no_sense_are_refused(pinn, rejects, settings):
    with rejects():
        epinn.attach(pinn, method="nuts", settings=settings)
