"""Functions that do the same are one function; those that may not are left alone."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.recurring import KEPT, LARGEST, _known, afresh, recurring
from epinn.problem.scales import Scales

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


def test_arrays_are_known_by_what_is_in_them():
    table = np.array([1.0, 2.0])
    function = recurring(made(table))
    assert recurring(made(table.copy())) is function
    assert recurring(made(table.astype(np.float32))) is not function
    table[1] = 3.0
    assert recurring(made(table)) is not function
    assert function.__closure__[0].cell_contents[1] == 2.0


LARGE = np.zeros(LARGEST // 8 + 1)


@pytest.mark.parametrize("value", [LARGE, np.array(["a"]), [1], {"k": 1}, object()])
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


TABLE = np.linspace(0.0, 1.0, 11)


def looked_up(x):
    return jnp.interp(x, TABLE, TABLE**2)


def from_tables(place):
    """Functions that use arrays, each in another way."""
    own = np.linspace(0.0, 1.0, 11)
    return {
        "closure": lambda x: jnp.sum(own * x),
        "global": lambda x: jnp.interp(x, TABLE, TABLE),
        "helper": lambda x: looked_up(x),
        "default": lambda x, table=own: jnp.sum(table * x),
        "list": lambda x, tables=[own, {"a": own}]: jnp.sum(tables[1]["a"] * x),
        "partial": functools.partial(lambda table, x: jnp.sum(table * x), own),
    }[place]


@pytest.mark.parametrize("place", ["closure", "global", "helper", "default", "list", "partial"])
def test_arrays_are_taken_in_the_precision_of_each_trace(place):
    function = from_tables(place)
    traced = jax.jit(lambda x: afresh(function)(x))
    for precision in (32, 64, 32, 64):
        with jax.enable_x64(precision == 64):
            assert traced(jnp.asarray(0.37)).dtype == f"float{precision}"
    with jax.enable_x64(True):
        assert float(traced(jnp.asarray(0.1))) == pytest.approx(float(function(np.float64(0.1))), rel=1e-14)


def test_functions_without_arrays_stay_what_they_are():
    def odd(n):
        return even(n - 1) if n else False

    def even(n):
        return odd(n - 1) if n else True

    for function in (made(3), even, odd, jnp.sin, functools.partial(helper, 1)):
        assert afresh(function) is function


def test_a_wall_follows_a_table_of_readings():
    """A wall of measured temperature is an interpolated table: looked at in single and in double precision by turns."""
    hours, readings = np.linspace(0, 1, 11), 300 + 20 * np.sin(3 * np.linspace(0, 1, 11))
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 1)),
        equation=lambda T, k: T.t - k * jnp.interp(T, readings, hours) * T.xx,
        boundary=epinn.Dirichlet(lambda t: jnp.interp(t, hours, readings)),
        initial=epinn.Initial(300.0),
        data=epinn.Data([[0.5, 0.5]], [301.0], sigma=0.1),
        unknowns={"k": 1.0},
        fields="T",
    )
    for _ in range(2):
        problem.check()
        channels = Scales.of(problem).channels(problem, 0)
        assert all(np.all(np.isfinite(channel.target)) for channel in channels)
