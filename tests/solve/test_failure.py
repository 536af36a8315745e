"""Where a residual is no number is part of the message."""

import jax.numpy as jnp
import pytest

import epinn
from epinn.solve.failure import with_place

pytestmark = pytest.mark.usefixtures("quick_compile")

BASE = epinn.Base(hidden=(4,), epochs=2, newton=0, restarts=0)


def problem(equation):
    points = epinn.Points(collocation=9)
    return epinn.Problem(domain=epinn.Box(x=(0, 2)), equation=equation, boundary=0.0, points=points)


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        (lambda u, x: u.xx - 1 / x, ("'equation' is -inf at x=0 (1 of 9 points)", "step 0")),
        (lambda u, x: u.xx - jnp.sqrt(x - 1.1), ("'equation' is nan at x=0 (", "step 0")),
    ],
)
def test_a_fit_that_cannot_begin_says_where(equation, words):
    with pytest.raises(epinn.Diverged) as caught:
        epinn.fit(problem(equation), base=BASE)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_where_all_residuals_are_numbers_nothing_is_added():
    pinn = epinn.fit(problem(lambda u: u.xx + 1.0), base=BASE)
    assert with_place(None, pinn.channels, pinn.solution, ("x",)) is None
    assert with_place("it exploded.", pinn.channels, pinn.solution, ("x",)) == "it exploded."
