"""What a PINN is given a band for: its own problem, however often that is built, or another one."""

import dataclasses

import numpy as np
import pytest

import epinn

pytestmark = pytest.mark.usefixtures("quick_compile")


@pytest.mark.slow
def test_an_equal_problem_that_was_built_again_brings_nothing_new():
    small = {"collocation": 12, "sensors": 6}
    own, again, other = (epinn.problems.poisson1d(0.1, key=key, **small) for key in (0, 0, 1))
    pinn = epinn.fit(own, base=epinn.Base(hidden=(8, 8), epochs=20, newton=0, restarts=0))
    named = dataclasses.replace(again, name="mine", exact=None)
    x = np.linspace(-0.7, 0.7, 5)
    bands = [epinn.attach(pinn, problem, "laplace", settings={"samples": 20}) for problem in (own, again, named, other)]
    means, spreads = zip(*((p.mean, p.std) for p in (band.predict(x) for band in bands)), strict=True)
    for mean, spread in zip(means[1:3], spreads[1:3], strict=True):
        np.testing.assert_array_equal(mean, means[0])
        np.testing.assert_array_equal(spread, spreads[0])
    assert not np.array_equal(means[3], means[0])
    assert bands[2].problem.name == "mine"
