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


def over_x(equation, unknowns=(), data=SEEN, domain=epinn.Box(x=(0, 5)), **more):
    guesses = dict.fromkeys(unknowns, 1e-3) if isinstance(unknowns, str) else dict(unknowns)
    return epinn.Problem(domain, equation, data=data, unknowns=guesses, **more)


def on_a_square(equation, unknowns, boundary=epinn.Dirichlet(20.0)):
    data = epinn.Data([[0.2, 0.3], [0.5, 0.6]], [21.0, 23.0], sigma=0.1)
    return epinn.Problem(epinn.Box(x=(0, 1), y=(0, 1)), equation, boundary=boundary, data=data, unknowns=unknowns)


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
    "a local source": on_a_square(
        lambda u, x, y, k: k * (u.xx + u.yy) + jnp.where((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.03**2, 100.0, 0.0), {"k": 1.0}
    ),
    "a heater on a part of a wall": on_a_square(
        lambda u: u.xx + u.yy,
        {"k": 1.0},
        boundary=epinn.Boundary(lambda u, y, k: k * u.x + jnp.where(jnp.abs(y - 0.5) < 0.02, 100.0, 0.0), on="x=0"),
    ),
    "a prior and a guess of zero": over_x(
        lambda u, D, v: D * u.xx - v * u.x, {"D": 1.0, "v": Unknown(0.0, prior=Normal(1, 0.3))}
    ),
    "where a small source is": over_x(
        lambda u, x, D, x0: D * u.xx + 5 * jnp.exp(-(((x - x0) / 1e-4) ** 2)),
        {"D": 1.0, "x0": 0.0},
        domain=epinn.Box(x=(-1e-3, 1e-3)),
        data=epinn.Data([0.0, 1e-4, 2e-4], [3.0, 2.0, 1.5], sigma=0.1),
    ),
    "a reaction at some temperatures": over_x(
        lambda u, D: D * u.xx + 5 * jnp.exp(-(((u - 300) / 5) ** 2)), {"D": 1.0}, boundary=epinn.Dirichlet(290.0)
    ),
    "a field that is zero": over_x(
        lambda u, w: [u.x - 0.1 * u.xx, w.x - 0.1 * w.xx + u * w],
        fields=("u", "w"),
        boundary=epinn.Dirichlet(0.0, field="w"),
        data=epinn.Data([1.0], [2.0], field="u"),
    ),
    "a positive field that falls": over_x(
        lambda q, T, K, v: [K * jnp.sqrt(-q.x) - 2, K * T.xx - v * T.x],
        {"K": 1.0, "v": 1.0},
        fields=("q", "T"),
        positive="q",
        data=[epinn.Data([1.0], [2.0], field=name) for name in ("q", "T")],
    ),
    "an unknown that hardly matters": over_x(lambda u, x, k, eps: u.x + (k + eps * x) * u, {"k": 1.0, "eps": 1e-8}),
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


@pytest.mark.parametrize("size", [1e-24, 1.0, 1e24])
def test_no_unit_of_a_field_decides(size):
    def problem(source):
        return over_x(
            lambda n, D, v: D * n.xx - v * n.x + source * size,
            {"D": 0.1, "v": 0.1},
            fields=("n",),
            boundary=epinn.Dirichlet(size),
            data=epinn.Data([1.0, 2.0], [1.5 * size, 2 * size], sigma=0.1 * size),
        )

    assert free_combinations(problem(3.0)) == []
    assert free_combinations(over_x(lambda u, D, v: D * u.xx - v * u.x, "Dv", boundary=epinn.Dirichlet(size))) == [
        Combination(("D", "v"), (), shrinks=True, together=True)
    ]


def test_what_no_fit_sees_tells_nothing():
    flux = epinn.Data([2.0], [0.3], sigma=0.1, operator=lambda u, v: v * u, held_out=True)
    problem = over_x(lambda u, D, v: D * u.xx - v * u.x, "Dv", data=[SEEN, flux])
    assert free_combinations(problem) == [Combination(("D", "v"), (), shrinks=True, together=True)]


@pytest.mark.parametrize("name", OPEN)
def test_what_holds_best_for_nothing_at_all_is_refused_before_the_work(name, rejects):
    problem, unknowns, fields = OPEN[name]
    assert free_combinations(problem) == [Combination(unknowns, fields, shrinks=True, together=True)]
    with rejects("how large", *unknowns, *fields, "give"):
        problem.check()


COMBINED = {
    "a product": (lambda u, a, b: u.x + a * b * u, False),
    "a quotient": (lambda u, a, b: u.x + a / b * u, True),
    "a sum": (lambda u, a, b: u.x + (a + b) * u, False),
}


@pytest.mark.parametrize("name", COMBINED)
def test_what_can_be_told_in_combination_only_gets_a_warning(name):
    equation, together = COMBINED[name]
    problem = over_x(equation, "ab")
    assert free_combinations(problem) == [Combination(("a", "b"), (), shrinks=False, together=together)]
    with pytest.warns(EpinnWarning, match="only a combination of a and b"):
        problem.check()


OPPOSITE = {
    "a resistance": over_x(lambda u, a, b: u.xx / a - b * u.x, "ab"),
    "a gain": over_x(
        lambda u: u.xx - u,
        "ab",
        boundary=epinn.Dirichlet(1.0),
        data=epinn.Data([1.0], [2.0], sigma=0.1, operator=lambda u, a, b: a * b * u),
    ),
}


@pytest.mark.parametrize("name", OPPOSITE)
def test_so_does_what_may_grow_while_the_other_one_shrinks(name):
    (found,) = free_combinations(OPPOSITE[name])
    assert found.unknowns == ("a", "b")
    assert not found.together
    with pytest.warns(EpinnWarning, match="only a combination of a and b"):
        OPPOSITE[name].check()


def spot(x, y):
    return jnp.where((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.03**2, 100.0, 0.0)


SETTLED = {
    "no value at zero": on_a_square(lambda u, x, y, k: (k / u * u.x).x + (k / u * u.y).y + spot(x, y), {"k": 1.0}),
    "a wire": on_a_square(lambda u, x, y, k: k * (u.xx + u.yy) + jnp.where(jnp.abs(x - 0.3) < 2e-3, 1.0, 0.0), {"k": 1.0}),
    "a thin source": over_x(lambda u, x, k: k * u.xx + jnp.where(jnp.abs(x - 2.5) < 0.005, 100.0, 0.0), "k"),
    "a guess far off": over_x(lambda u, D, k: D * u.xx - (k + 0.5) * u, {"D": 1e9, "k": 1e9}),
    "a large clock": over_x(
        lambda u, x, k, a, b, c: u.x + k * u - (a + b * x + c * x**2), {"k": 1.0, "a": 1.0, "b": 1.0, "c": 1.0},
        domain=epinn.Box(x=(0, 86400)),
        data=epinn.Data([1e4, 5e4], [2.0, 3.0], sigma=0.1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTLED)
def test_what_settles_it_may_be_small_or_far_from_the_guess(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SETTLED[name].check()


def test_each_combination_is_told_by_itself():
    problem = over_x(lambda u, a, b, c, d: u.x + a * b * u + c * d * u**2, "abcd")
    assert {found.names for found in free_combinations(problem)} == {("a", "b"), ("c", "d")}
