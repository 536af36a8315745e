"""Conditions that cannot all be meant are refused before anything is trained, and what may be meant is not."""

import warnings

import jax.numpy as jnp
import pytest

import epinn
from epinn.errors import EpinnWarning
from epinn.problem.boundary import Dirichlet, Neumann, Robin
from epinn.problem.conditions import Data, Initial
from epinn.problem.context import Points
from epinn.problem.domain import Box
from epinn.problem.mistakes import check_together
from epinn.problem.problem import Problem

pytestmark = pytest.mark.usefixtures("quick_compile")

LINE = Box(x=(0, 1))
PLANE = Box(x=(0, 1), y=(0, 2))
SPACETIME = Box(x=(0, 1), t=(0, 1))
PLATE = epinn.Rectangle(x=(0, 1), y=(0, 1)) - epinn.Disc(x=0.5, y=0.5, radius=0.2)
HALF = {"on": "y=2"}


def made(domain, *conditions, **options):
    return Problem(domain, lambda u: u.x, extra=conditions, points=Points(8, 4), **options)


@pytest.mark.parametrize(
    ("domain", "conditions", "words"),
    [
        (PLANE, [Dirichlet(0.0), Dirichlet(1.0, **HALF)], ("u", "y=2", "0", "1", "'boundary at y=2'", "on=")),
        (PLANE, [Dirichlet(293.0, **HALF), Dirichlet(293.1, **HALF)], ("y=2", "293", "293.1")),
        (PLANE, [Dirichlet(1e-12, **HALF), Dirichlet(2e-12, **HALF)], ("y=2", "1e-12", "2e-12")),
        (PLANE, [Dirichlet(lambda x: x**2, **HALF), Dirichlet(lambda x: x**3, on="y")], ("y=2", "at x")),
        (PLANE, [Neumann(0.0), Neumann(1.0, on="x=0")], ("du/dn", "x=0")),
        (PLANE, [Robin(1.0, 2.0, 3.0), Robin(2.0, 4.0, 5.0, on="x=0")], ("x=0", "3", "2.5")),
        (LINE, [Dirichlet([0.0, 1.0]), Dirichlet(1.5, on="x=1")], ("x=1", "1", "1.5")),
        (SPACETIME, [Initial(1.0), Initial(2.0)], ("u", "t=0", "1", "2")),
        (SPACETIME, [Initial(1.0, order=1), Initial(lambda x: x, order=1)], ("u.t", "t=0")),
        (SPACETIME, [Initial(1.0), Dirichlet(2.0, on="t=min")], ("t=0", "1", "2")),
        (PLATE, [Dirichlet(0.0), Dirichlet(1.0, on="disc")], ("disc", "0", "1")),
        (PLATE.during(t=(0, 1)), [Initial(1.0), Initial(2.0)], ("t=0", "1", "2")),
    ],
)
def test_two_values_in_one_place_are_refused(domain, conditions, words, rejects):
    with rejects("given twice", *words):
        made(domain, *conditions).check()


@pytest.mark.parametrize(
    ("domain", "conditions"),
    [
        (PLANE, [Dirichlet(0.0), Dirichlet(0, **HALF)]),
        (PLANE, [Dirichlet(1.0, on="x"), Dirichlet(0.0, on="y")]),  # corners are no faces
        (PLANE, [Dirichlet(1.0, on="x=0"), Neumann(0.0, on="x=0")]),  # a clamped end of a beam
        (PLANE, [Robin(1.0, 2.0, 3.0), Robin(2.0, 4.0, 6.0)]),
        (PLANE, [Dirichlet(0.0, on="x"), Dirichlet(lambda x: jnp.sin(jnp.pi * x), on="x")]),  # rounded
        (PLANE, [Dirichlet(lambda x: jnp.sin(2000 * x)), Dirichlet(lambda x: 2 * jnp.sin(1000 * x) * jnp.cos(1000 * x))]),
        (PLANE, [Dirichlet(0.0, sigma=0.1), Dirichlet(0.1, sigma=0.1)]),  # measured twice
        (PLANE, [Dirichlet(0.0, tolerance=0.1), Dirichlet(0.1)]),
        (PLANE, [Dirichlet([0.5], points=[[0.0, 1.0]]), Dirichlet(0.0)]),  # a place of its own
        (SPACETIME, [Initial(1.0), Initial(2.0, order=1), Dirichlet(0.0)]),
        (Box(x=(1.7e9, 1.7e9 + 1e-3)), [Dirichlet(0.0, on="x=min"), Dirichlet(1.0, on="x=max")]),
    ],
)
def test_what_may_be_meant_is_taken(domain, conditions):
    check_together(made(domain, *conditions))


def test_fields_have_values_of_their_own():
    check_together(made(PLANE, Dirichlet(0.0, field="u"), Dirichlet(1.0, field="v"), fields=("u", "v")))


def test_a_fit_does_not_begin_with_two_values(rejects):
    with rejects("given twice", "x=1"):
        epinn.fit(made(LINE, Dirichlet(0.0), Dirichlet(1.0, on="x=1")))


@pytest.mark.parametrize(
    ("domain", "condition", "words"),
    [
        (PLANE, Dirichlet(-1e-9), ("-1e-09", "boundary")),
        (PLANE, Robin(-2.0, 0.0, 1.0), ("-0.5",)),
        (PLANE, Dirichlet(lambda x: jnp.cos(jnp.pi * x), on="x=1"), ("-1", "x=1")),
        (SPACETIME, Initial(-1.0), ("-1", "initial", "t=0")),
        (LINE, Data([0.1, 0.2], [1.0, -1.0], sigma=None), ("-1", "data", "x=0.2")),
    ],
)
def test_a_field_that_is_positive_has_no_negative_values(domain, condition, words, rejects):
    with rejects("u", "positive=", *words):
        made(domain, condition, positive="u").check()


@pytest.mark.parametrize(
    ("domain", "condition"),
    [
        (PLANE, Dirichlet(0.0)),
        (PLANE, Dirichlet(lambda x: jnp.sin(2 * jnp.pi * x), on="x")),  # nothing, but for roundings
        (PLANE, Neumann(-1.0)),
        (SPACETIME, Initial(-1.0, order=1)),
        (LINE, Data([0.1, 0.2], [1.0, -0.1], sigma=0.1)),  # noise may be larger than what is measured
        (LINE, Data([0.1, 0.2], [1.0, -0.1])),
        (LINE, Data([0.1, 0.2], [1.0, -0.1], sigma=None, operator=lambda u: u.x)),
    ],
)
def test_a_field_that_is_positive_may_be_near_zero_fall_and_be_measured_with_noise(domain, condition):
    made(domain, condition, positive="u").check()


def of_k(u, k):
    return k * u - 1


@pytest.mark.parametrize(
    "conditions",
    [
        {"equation": lambda u, k: u.x + k},
        {"equation": lambda u, p: u.x + p.k},
        {"equation": lambda u, point: (u.x * getattr(point, "k")).x - 1},  # noqa: B009
        {"boundary": epinn.Boundary(of_k)},
        {"data": Data([0.5], [1.0], operator=of_k)},
        {"data": Data([0.5], [1.0], operator=of_k, held_out=True)},
    ],
)
def test_an_unknown_that_is_somewhere_is_used(conditions):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Problem(LINE, **({"equation": lambda u: u.x, "extra": Dirichlet(2.0)} | conditions), unknowns={"k": 1.0}).check()


@pytest.mark.parametrize("equation", [lambda u: u.x, lambda u, p: u.x + p.x, lambda u, **others: u.x])
def test_an_unknown_that_is_nowhere_gets_a_warning(equation):
    with pytest.warns(EpinnWarning, match="unknown k: it is in no equation"):
        Problem(LINE, equation, unknowns={"k": 1.0}).check()
