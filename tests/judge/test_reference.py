"""What methods are compared with: the posterior that each of them looks for, linearised."""

import numpy as np
import pytest

import epinn
from epinn.derivatives.memory import limited_to
from epinn.judge.reference import allowance, reference_for
from epinn.methods import configured

pytestmark = pytest.mark.usefixtures("quick_compile")

BASE = {"hidden": (8, 8), "epochs": 20, "restarts": 0}


def spread(pinn, method, **settings):
    found = reference_for(configured(method, settings), [pinn], [0], epinn.Progress())
    return None if found is None else float(np.mean(found[0]))


@pytest.fixture(scope="module")
def pinn():
    return epinn.fit(epinn.problems.poisson1d(), base=epinn.Base(newton=50, **BASE))


@pytest.mark.slow
def test_a_wider_tolerance_of_exact_conditions_or_a_wider_prior_makes_it_wider(pinn):
    assert spread(pinn, "hmc", tolerance=5.0) > 1.5 * spread(pinn, "hmc", tolerance=1e-9)
    assert spread(pinn, "vi", tolerance=5.0, prior_sd=0.1) < 0.8 * spread(pinn, "vi", tolerance=5.0)


@pytest.mark.slow
def test_a_method_that_moves_on_has_no_part_in_the_error_of_the_base():
    far_off = epinn.fit(epinn.problems.poisson1d(), base=epinn.Base(newton=0, tolerance=1e-4, **BASE))
    theirs = spread(far_off, "dropout")
    assert spread(far_off, "hmc", tolerance=1e-9) < 0.5 * theirs
    assert spread(far_off, "ensemble") < 0.5 * theirs


@pytest.mark.parametrize(
    ("method", "settings"), [("laplace", {}), ("epinet", {}), ("hmc", {"start": "prior"}), ("conformal", {})]
)
def test_some_methods_have_nothing_to_be_compared_with(pinn, method, settings):
    assert spread(pinn, method, **settings) is None


def test_nor_has_a_problem_that_is_too_large(pinn):
    with limited_to(1e-4):
        assert spread(pinn, "dropout") is None


def test_what_exact_conditions_are_allowed_is_told_where_it_is_more_than_the_network_needs(pinn):
    assert allowance(configured("laplace"), pinn) is None
    assert allowance(configured("hmc", {"tolerance": 1e-15}), pinn) is None
    hmc = configured("hmc", {"tolerance": 5.0})
    assert allowance(hmc, pinn) == pytest.approx(5.0)
    equation = next(channel for channel in pinn.channels if channel.kind == "equation")
    assert not equation.precision.is_settled
    assert hmc.traits.reads(equation).precision.is_settled
