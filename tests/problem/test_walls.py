"""Walls that initial values do not meet, or leave at once."""

import jax
import jax.numpy as jnp
import pytest

import epinn
from epinn.problem.walls import not_met

pytestmark = pytest.mark.usefixtures("quick_compile")

FIXED = epinn.Dirichlet(20.0)


def walls(equation, begin, boundary=FIXED, *, fields=("u",), domain=epinn.Box(x=(0, 10), t=(3, 9)), **more):
    """At which ends of x."""
    given = begin if isinstance(begin, dict) else {"u": begin}
    initial = [epinn.Initial(target, field=name) for name, target in given.items()]
    problem = epinn.Problem(domain, equation, boundary=boundary, initial=initial, fields=fields, **more)
    with jax.enable_x64(True):
        found = not_met(problem, given, {condition.label: 20.0 for condition in problem.conditions})
    assert all(at[1] == 3.0 for _, at in found)
    return sorted(at[0] for _, at in found)


def test_what_is_set_free_in_a_wall_that_is_cooled_leaves_it_at_once():
    assert walls(lambda u: u.t - 4 * u.xx - 12, 20.0) == [0.0, 10.0]


def test_unknowns_are_taken_at_their_guesses():
    readings = epinn.Data([[5.0, 5.0]], [24.0], sigma=0.1)
    equation = lambda u, q: u.t - 4 * u.xx - q  # noqa: E731
    assert walls(equation, 20.0, data=readings, unknowns={"q": 12.0}) == [0.0, 10.0]
    assert walls(equation, 20.0, data=readings, unknowns={"q": 1e-3}) == []


def test_so_does_what_diffuses_away_from_it():
    assert walls(lambda u: u.t - 4 * u.xx, lambda x: 20 + x * (10 - x)) == [0.0, 10.0]


def test_and_what_a_flux_would_change():
    flux = [epinn.Neumann(0.0, on="x=10"), epinn.Dirichlet(20.0, on="x=0")]
    assert walls(lambda u, x: u.t - 4 * u.xx - 3 * x**2, 20.0, flux) == [10.0]


def test_a_wall_that_moves_with_what_the_equation_makes_is_met():
    moving = epinn.Dirichlet(lambda t: 20 + 12 * (t - 3))
    assert walls(lambda u: u.t - 4 * u.xx - 12, 20.0, moving) == []
    assert walls(lambda u: u.t - 4 * u.xx, 20.0, moving) == [0.0, 10.0]


@pytest.mark.parametrize(
    "equation",
    [
        lambda u: u.t - 4 * u.xx,
        lambda u, t: u.t - 4 * u.xx - 5 * (t - 3),
        lambda u: u.tt - 4 * u.xx - 12,  # of a wave the rate is given too
        lambda u: u.t - u.txx - 4 * u.xx - 12,  # rates at neighbouring places belong together
    ],
    ids=["at rest", "slowly", "wave", "dispersion"],
)
def test_where_nothing_changes_at_once_there_are_none(equation):
    assert walls(equation, 20.0) == []


def test_a_field_without_a_rate_of_its_own_is_no_matter():
    """The potential follows the charge at once; charge is set free at the walls."""
    found = walls(
        {"charge": lambda u, v: u.t - u.xx - 12, "potential": lambda u, v: v.xx + u},
        {"u": 20.0, "v": 0.0},
        [epinn.Dirichlet(20.0, field="u"), epinn.Dirichlet(0.0, field="v")],
        fields=("u", "v"),
    )
    assert found == [0.0, 10.0]


def test_nothing_is_said_of_a_field_of_which_nobody_knows_how_it_begins():
    boundary = [epinn.Dirichlet(0.0, field="u"), epinn.Dirichlet(5.0, field="v")]
    still = lambda u, v: u.t - u.xx  # noqa: E731
    assert walls([still, lambda u, v: v.xx - u], {"u": lambda x: jnp.sin(jnp.pi * x / 10)}, boundary, fields=("u", "v")) == []
    driven = lambda u, v: u.t - u.xx - v  # noqa: E731
    assert walls([driven, lambda u, v: v.xx - u], {"u": 0.0}, boundary, fields=("u", "v")) == []


def test_times_may_be_counted_from_long_ago():
    domain = epinn.Box(x=(0, 10), t=(1.7e9, 1.7e9 + 6))
    problem = epinn.Problem(domain, lambda u: u.t - 4 * u.xx - 12, boundary=FIXED, initial=epinn.Initial(20.0))
    calm = epinn.Problem(domain, lambda u: u.t - 4 * u.xx, boundary=FIXED, initial=epinn.Initial(20.0))
    with jax.enable_x64(True):
        assert len(not_met(problem, {"u": 20.0}, {"boundary": 20.0})) == 2
        assert not not_met(calm, {"u": 20.0}, {"boundary": 20.0})


def test_roundings_beside_a_large_offset_are_nothing_sudden():
    def solution(x, t):
        return 101325 + 0.01 * jnp.exp((t - 3) / 4) * jnp.cosh(x / 4)

    fixed = epinn.Dirichlet(solution)
    assert walls(lambda u: u.t - 4 * u.xx, lambda x: solution(x, 3.0), fixed) == []
    assert walls(lambda u: u.t - 4 * u.xx - 12, lambda x: solution(x, 3.0), fixed) == [0.0, 10.0]


def test_other_sides_of_a_box_are_told_apart():
    domain = epinn.Box(x=(0, 10), y=(0, 1), t=(3, 9))
    boundary = [epinn.Dirichlet(20.0, on="x=0"), epinn.Neumann(0.0, on="x=10"), epinn.Neumann(0.0, on="y")]
    assert walls(lambda u: u.t - u.xx - u.yy - 12, 20.0, boundary, domain=domain) == [0.0]


def test_functions_with_bends_make_no_numbers_that_are_none():
    assert walls(lambda u: u.t - 4 * u.xx, lambda x: 20 + jnp.abs(x - 4) * 0) == []
