"""The error equation: what can be estimated at all. Estimates are tested with what uses them."""

import pytest

import epinn
from epinn.solve.error_equation import can_be_estimated

pytestmark = pytest.mark.usefixtures("quick_compile")


@pytest.mark.parametrize(
    ("conditions", "can_be"),
    [
        ({}, True),
        ({"data": epinn.Data([0.5], [0.1], sigma=0.1)}, False),
        ({"extra": [epinn.Equation(lambda u: u.x - 1, sigma=0.1)]}, False),
    ],
)
def test_noise_is_not_the_error_of_a_network(conditions, can_be):
    problem = epinn.Problem(epinn.Box(x=(0, 1)), lambda u: u.xx - 1, boundary=epinn.Dirichlet(0.0), **conditions)
    pinn = epinn.fit(problem, base=epinn.Base(hidden=(4,), epochs=1, newton=0, restarts=0))
    assert can_be_estimated([pinn]) == can_be
