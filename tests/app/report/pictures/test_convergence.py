"""How training went."""

import dataclasses

import jax
import numpy as np
import pytest

import epinn
from epinn.app.report.pictures.convergence import how_trained

pytestmark = pytest.mark.usefixtures("quick_compile")
BASE = epinn.Base(hidden=(4,), epochs=200, newton=20, restarts=0, stages=1)


@pytest.fixture(scope="module")
def pinn():
    """A rod with measurements, so that it is trained."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.xx + 1,
        boundary=epinn.Dirichlet(0.0),
        data=epinn.Data([0.2, 0.5, 0.7], [0.08, 0.12, 0.11], sigma=0.01),
    )
    return epinn.fit(problem, key=jax.random.key(0), base=BASE)


def test_all_stages_are_counted_on(pinn):
    assert pinn.steps == sorted(pinn.steps)
    assert pinn.steps[-1] > 200
    assert pinn.losses.shape == (len(pinn.steps), 3)


def test_every_condition_has_a_curve_of_what_was_left(pinn):
    (ax,) = how_trained(pinn)["training"].axes
    assert [line.get_label() for line in ax.lines] == [channel.name for channel in pinn.channels]
    np.testing.assert_allclose(ax.lines[0].get_ydata() ** 2, pinn.losses[:, 0])
    assert ax.get_xticklabels()[-1].get_text() == f"{pinn.steps[-1]:,}"
    assert ax.get_yscale() == "log"


def test_without_training_there_is_no_picture(pinn):
    assert how_trained(None) == {}
    assert how_trained(dataclasses.replace(pinn, steps=[], losses=np.zeros((0, 3)))) == {}


def test_records_of_the_first_stage_alone_are_not_shown_as_all_of_it(pinn):
    assert how_trained(dataclasses.replace(pinn, steps=[50, 100, 200], losses=np.ones((3, 3)))) == {}


@pytest.mark.parametrize("left", [0.0, np.nan])
def test_what_has_no_logarithm_is_left_out(pinn, left):
    (ax,) = how_trained(dataclasses.replace(pinn, losses=np.full_like(pinn.losses, left)))["training"].axes
    assert not np.isfinite(ax.lines[0].get_ydata()).any()
