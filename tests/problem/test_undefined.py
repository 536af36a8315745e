"""Equations without a value at some places are found before anything is trained."""

import jax.numpy as jnp
import pytest

from epinn.problem.boundary import Dirichlet
from epinn.problem.domain import Box
from epinn.problem.problem import Problem
from epinn.problem.scales import Scales
from epinn.problem.undefined import undefined

pytestmark = pytest.mark.usefixtures("quick_compile")


def found(equation, **options):
    problem = Problem(Box(r=(0, 3)), equation, boundary=Dirichlet(1.0, on="r=3"), **options)
    return undefined(problem, problem.channels(0), Scales.of(problem).units)


@pytest.mark.parametrize("equation", [lambda u, r: u.rr + 2 / r * u.r + 1, lambda u, p: u.r - jnp.log(p.r)])
def test_a_singular_end_is_named(equation):
    assert found(equation) == ["'equation' is not finite at r=0 (1 of 128 points)"]


def test_an_unknown_may_make_it_so():
    (only,) = found(lambda u, r, k: u.r + jnp.sqrt(r - k), unknowns={"k": 1.0})
    assert "r=0" in only


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, r: r * u.rr + 2 * u.r + r,
        lambda u, r: u.rr + jnp.where(r > 0, 1 / r, 0.0),
        lambda u, r: u.r + r * jnp.log(u),  # of some fields, everywhere
        lambda u, r: u.r + r / u,
    ],
)
def test_what_is_finite_is_not(equation):
    assert found(equation) == []
