"""The stages of training: what took part in them."""

import dataclasses

import numpy as np
import pytest

import epinn

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
