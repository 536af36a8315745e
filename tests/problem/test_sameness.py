"""Equal problems are recognised, however often they are built; what differs is told apart."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problem.boundary import Dirichlet
from epinn.problem.conditions import Data, Equation
from epinn.problem.context import Points
from epinn.problem.domain import Box
from epinn.problem.problem import Problem
from epinn.problem.sameness import check_same_equations, same_value
from epinn.problem.shorthand import Unknown

pytestmark = pytest.mark.usefixtures("quick_compile")


def build(k=2.0, value=0.0, measured=(1.0, 2.0), guess=1.0, points=8, exact=None, **options):
    """A problem whose functions, arrays and numbers are all made anew."""
    return Problem(
        Box(x=(0, 1)),
        Equation(lambda u, c: u.xx - k * c),
        boundary=Dirichlet(lambda x: value * x),
        data=Data(np.array([0.25, 0.5]), list(measured), sigma=0.1),
        unknowns={"c": Unknown(guess, exact=exact)},
        points=Points(points),
        **options,
    )


def test_a_problem_that_was_built_again_is_the_same():
    assert build().same_as(build())
    assert epinn.problems.poisson1d(noise=0.1, key=3).same_as(epinn.problems.poisson1d(noise=0.1, key=3))


@pytest.mark.parametrize(
    "changes",
    [{"k": 3.0}, {"value": 1.0}, {"measured": (1.0, 2.5)}, {"guess": 2.0}, {"points": 9}, {"positive": "u"}],
    ids=lambda changes: next(iter(changes)),
)
def test_a_problem_that_says_something_else_is_another(changes):
    assert not build().same_as(build(**changes))


def test_what_takes_no_part_in_training_may_differ():
    other = dataclasses.replace(build(exact=2.0, name="mine"), exact=lambda x: x)
    other = dataclasses.replace(other, data=[*other.data, Data([0.75], [0.0], held_out=True)])
    assert build().same_as(other)


def test_noise_that_is_added_makes_another_problem_by_its_key():
    noisy = [build().disturbed({"boundary": 0.1}, key) for key in (0, 0, 1)]
    assert noisy[0].same_as(noisy[1])
    assert not noisy[0].same_as(noisy[2])
    assert not noisy[0].same_as(build())


def test_seeds_that_run_together_differ_in_numbers_only():
    check_same_equations(build(measured=(1.0, 2.0)), build(measured=(3.0, 4.0)))
    with pytest.raises(epinn.InputError, match="differs between seeds"):
        check_same_equations(build(k=1.0), build(k=2.0))


def compiled(code, **known):
    space = {"jnp": jnp, **known}
    exec(code, space)
    return space["f"]


CODE = """
def f(x):
    return jnp.sin(rate * x) + helper(x)

def helper(x):
    return x * shift
"""


def test_functions_of_a_file_that_was_read_twice_are_the_same_if_their_globals_are():
    first, again = (compiled(CODE, rate=2.0, shift=jnp.ones(2)) for _ in range(2))
    assert same_value(first, again)
    assert not same_value(first, compiled(CODE, rate=3.0, shift=jnp.ones(2)))
    assert not same_value(first, compiled(CODE, rate=2.0, shift=jnp.zeros(2)))
    assert not same_value(first, compiled(CODE.replace("sin", "cos"), rate=2.0, shift=jnp.ones(2)))


RECURSIVE = """
def f(x, n=3):
    return x if n == 0 else f(x, n - 1)
"""


def test_functions_that_call_themselves_are_compared():
    assert same_value(compiled(RECURSIVE), compiled(RECURSIVE))
    assert not same_value(compiled(RECURSIVE), compiled(RECURSIVE.replace("n=3", "n=4")))


@dataclasses.dataclass(frozen=True, eq=False)
class Line:
    slope: np.ndarray

    def at(self, x):
        return self.slope * x

    __call__ = at


def plus(a, b):
    return a + b


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: Line(np.arange(3)), lambda: Line(np.arange(1, 4))),
        (lambda: Line(np.arange(3)).at, lambda: Line(np.arange(1, 4)).at),
        (lambda: functools.partial(plus, np.arange(3)), lambda: functools.partial(plus, np.arange(2))),
        (lambda: functools.partial(plus, b=1), lambda: functools.partial(plus, b=2)),
        (lambda: {"a": [1, np.ones(2)]}, lambda: {"a": [1, np.zeros(2)]}),
        (lambda: {"a": 1}, lambda: {"b": 1}),
        (lambda: (1.0, 2.0), lambda: (1.0, 2.0, 3.0)),
        (lambda: jax.random.key(1), lambda: jax.random.key(2)),
        (lambda: np.float64(1.0), lambda: np.float64(2.0)),
        (lambda: 1.0, lambda: "1.0"),
        (lambda: jnp.sin, lambda: jnp.cos),
        (lambda: jnp.sin, lambda: 3.0),
        (lambda: None, lambda: 0.0),
    ],
)
def test_values_are_equal_by_what_is_in_them(make, other):
    assert same_value(make(), make())
    assert not same_value(make(), other())
    assert not same_value(other(), make())


def test_numbers_and_arrays_of_one_value_are_equal():
    assert same_value(1, 1.0)
    assert same_value([1.0, 2.0], np.array([1.0, 2.0]))
