"""Functions that do the same are one function; those that may not are left alone."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.recurring import KEPT, _known, recurring

factor = 2.0


def made(a, b=1.0):
    return lambda u, x, c=b: a * u.xx + factor * jnp.sin(x) + helper(c)


def helper(x):
    return x**2


def test_a_function_that_is_made_again_is_the_same():
    assert recurring(made(3)) is recurring(made(3))
    assert recurring(made(3)) is not made(3)


@pytest.mark.parametrize("other", [lambda: made(4), lambda: made(3.0), lambda: made(3, b=2.0), lambda: made(True)])
def test_a_function_with_other_values_is_another(other):
    assert recurring(other()) is not recurring(made(3))


def test_a_global_that_has_changed_makes_another_function(monkeypatch):
    before = recurring(made(3))
    monkeypatch.setitem(globals(), "factor", 5.0)
    after = recurring(made(3))
    assert before is not after
    assert before.__globals__["factor"] == 2.0


def test_a_helper_that_has_changed_makes_another_function(monkeypatch):
    before = recurring(made(3))
    monkeypatch.setitem(globals(), "helper", lambda x: x**3)
    assert recurring(made(3)) is not before


def test_a_variable_of_a_loop_is_taken_along():
    functions = [recurring(lambda: i) for i in range(3)]  # noqa: B023
    assert [function() for function in functions] == [0, 1, 2]


def test_zeros_of_both_signs_are_two_values():
    assert recurring(made(0.0)) is not recurring(made(-0.0))


@pytest.mark.parametrize("value", [np.ones(2), [1], {"k": 1}, object()])
def test_what_may_change_is_left_alone(value):
    function = made(value)
    assert recurring(function) is function


def test_decorated_functions_and_other_callables_are_left_alone():
    @functools.wraps(helper)
    def decorated(*given):
        return helper(*given)

    for function in (decorated, functools.partial(helper, 1), jnp.sin, len):
        assert recurring(function) is function


def test_functions_of_epinn_are_left_alone():
    """There may be others of them, with other values around them, where one has been before."""
    function = made(3)
    function.__module__ = "epinn.problems.poisson"
    assert recurring(function) is function


def test_a_function_that_calls_itself_is_left_alone():
    def again(n):
        return again(n - 1) if n else 0

    assert recurring(again) is again


def test_few_are_kept():
    for i in range(KEPT + 5):
        recurring(made(i))
    assert len(_known) <= KEPT
