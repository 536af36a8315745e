"""Unknowns that only a combination is told of are found by what the conditions do, however these are written."""

import warnings

import jax.numpy as jnp
import pytest

import epinn
from epinn.errors import EpinnWarning
from epinn.problem.combinations import Combination, free_combinations
from epinn.problem.shorthand import Normal, Unknown

pytestmark = pytest.mark.usefixtures("quick_compile")

SEEN = epinn.Data([1.0, 2.0, 4.0], [3.0, 2.0, 1.5], sigma=0.1)


def over_x(equation, unknowns=(), data=SEEN, **more):
    guesses = dict.fromkeys(unknowns, 1e-3) if isinstance(unknowns, str) else dict(unknowns)
    return epinn.Problem(epinn.Box(x=(0, 5)), equation, data=data, unknowns=guesses, **more)


TOLD = {
    "rate and surroundings": over_x(lambda u, k, c: u.x + k * (u - c), "kc"),
    "a source of known size": over_x(lambda u, D, v: D * u.xx - v * u.x - 1e-9, "Dv"),
    "a flux": over_x(lambda u, D, v: D * u.xx - v * u.x, "Dv", boundary=epinn.Boundary(lambda u, D: D * u.x - 2.0, on="x=0")),
    "a flux on the way": over_x(
        lambda u, D, v: D * u.xx - v * u.x, "Dv", extra=epinn.Data([2.0], [0.3], sigma=0.1, operator=lambda u, v: v * u)
    ),
    "a prior": over_x(lambda u, D, v: D * u.xx - v * u.x, {"D": Unknown(1.0, prior=Normal(2, 1)), "v": 1.0}),
    "an exponent": over_x(lambda u, k, n: u.x + k * jnp.abs(u) ** n, "kn"),
    "a field with values": over_x(
        lambda u, K: (K * u.x).x,
        fields=("u", "K"),
        data=epinn.Data([1.0], [2.0], field="u"),
        boundary=epinn.Dirichlet(3.0, on="x=0", field="K"),
    ),
    "nothing sought": over_x(lambda u: u.xx, data=()),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_can_be_told_is_left_alone(name):
    assert free_combinations(TOLD[name]) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TOLD[name].check()


OPEN = {
    "all terms": (over_x(lambda u, D, v: D * u.xx - v * u.x, "Dv"), ("D", "v"), ()),
    "in a square": (over_x(lambda u, D, v: D**2 * u.xx - v * u.x * u, "Dv"), ("D", "v"), ()),
    "behind the point": (over_x(lambda u, p: p.D * u.xx - p.v * u.x, "Dv"), ("D", "v"), ()),
    "terms of unlike size": (over_x(lambda u, D, v: 1e6 * D * u.xx - 1e-6 * v * u.x, "Dv"), ("D", "v"), ()),
    "alone": (over_x(lambda u, k: k * u.xx, "k"), ("k",), ()),
    "a field": (over_x(lambda u, K: (K * u.x).x, fields=("u", "K"), data=epinn.Data([1.0], [2.0], field="u")), (), ("K",)),
    "a positive field": (
        over_x(lambda u, K: (K * u.x).x, fields=("u", "K"), positive="K", data=epinn.Data([1.0], [2.0], field="u")),
        (),
        ("K",),
    ),
    "a source beside an unknown": (
        over_x(lambda u, q, k: k * u.xx + q, "k", fields=("u", "q"), data=epinn.Data([1.0], [2.0], field="u")),
        ("k",),
        ("q",),
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_holds_best_for_nothing_at_all_is_refused_before_the_work(name, rejects):
    problem, unknowns, fields = OPEN[name]
    assert free_combinations(problem) == [Combination(unknowns, fields, shrinks=True)]
    with rejects("how large", *unknowns, *fields, "give"):
        problem.check()


COMBINED = {
    "a product": lambda u, a, b: u.x + a * b * u,
    "a quotient": lambda u, a, b: u.x + a / b * u,
    "a sum": lambda u, a, b: u.x + (a + b) * u,
}


@pytest.mark.parametrize("name", COMBINED)
def test_what_can_be_told_in_combination_only_gets_a_warning(name):
    problem = over_x(COMBINED[name], "ab")
    assert free_combinations(problem) == [Combination(("a", "b"), (), shrinks=False)]
    with pytest.warns(EpinnWarning, match="only a combination of a and b"):
        problem.check()


def test_each_combination_is_told_by_itself():
    problem = over_x(lambda u, a, b, c, d: u.x + a * b * u + c * d * u**2, "abcd")
    assert {found.names for found in free_combinations(problem)} == {("a", "b"), ("c", "d")}
