"""A network that does not solve its problem: what is said of it, and what may mend it."""

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.interop import adopt

pytestmark = pytest.mark.usefixtures("quick_compile")

RATE = 0.5


def problem(**changes):
    given = {
        "domain": epinn.Box(x=(0, 1), t=(0, 1)),
        "equation": lambda u: u.t - RATE * u.xx,
        "initial": epinn.Initial(lambda x: jnp.sin(np.pi * x)),
        "points": epinn.Points(16),
    }
    return epinn.Problem(**given | changes)


def solution(order):
    """The exact solution of the heat equation, whose columns come in some order."""

    def function(p, x):
        at = dict(zip(order, x, strict=True))
        return p["a"] * jnp.exp(-RATE * np.pi**2 * at["t"]) * jnp.sin(np.pi * at["x"])

    return function, {"a": np.ones(1, np.float32)}


def test_a_solution_is_left_in_peace():
    assert not adopt(solution("xt"), problem()).warnings


@pytest.mark.slow
def test_coordinates_in_another_order_are_named():
    warnings = adopt(solution("tx"), problem()).warnings
    assert "does not solve" in warnings[0]
    assert "seems to take (t, x), and the problem has (x, t)" in warnings[-1]
    assert "Box(t=..., x=...)" in warnings[-1]


@pytest.mark.slow
def test_an_order_that_helps_nobody_is_not_named():
    function, weights = solution("xt")
    warnings = adopt((lambda p, x: 3 * function(p, x), weights), problem()).warnings
    assert warnings
    assert not any("seems to take" in text for text in warnings)


@pytest.mark.slow
def test_unknowns_at_their_guesses_are_named():
    inverse = problem(equation=lambda u, k: u.t - k * u.xx, unknowns={"k": epinn.Unknown(0.1)})
    assert any('k is still at its guess: pass the value' in text and 'unknowns={"k": 0.1}' in text
               for text in adopt(solution("xt"), inverse).warnings)  # fmt: skip
    assert not adopt(solution("xt"), inverse, unknowns={"k": RATE}).warnings
    assert not any("guess" in text for text in adopt(solution("xt"), inverse, unknowns={"k": 3.0}).warnings)
