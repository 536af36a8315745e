"""What happens when time begins."""

import jax
import jax.numpy as jnp
import pytest

import epinn
from epinn.problem.sudden import sudden

pytestmark = pytest.mark.usefixtures("quick_compile")


def places(initial, boundary=epinn.Neumann(0.0), domain=None, sizes=1.0):
    problem = epinn.Problem(
        domain=domain or epinn.Box(x=(-1, 3), t=(5, 8)), equation=lambda u: u.t - u.xx, boundary=boundary, initial=initial
    )
    with jax.enable_x64(True):
        return sudden(problem, {condition.label: sizes for condition in problem.conditions})


JUMPS = {
    "jump": (lambda x: jnp.where(x < 0.3, 1.0, 2.0), [0.3]),
    "two": (lambda x: jnp.where((x > 0.25) & (x < 1.7), 1.0, 0.0), [0.25, 1.7]),
    "bend": (lambda x: jnp.maximum(x - 0.4, 0.0), [0.4]),
    "hat": (lambda x: jnp.abs(x - 1 / 3), [1 / 3]),
}
SMOOTH = {
    "wave": lambda x: jnp.sin(20 * x),
    "steep": lambda x: jnp.tanh(2000 * (x - 0.3)),
    "pulse": lambda x: jnp.exp(-(((x - 1) / 0.01) ** 2)),
    "line": lambda x: 2.0 + x,
}


@pytest.mark.parametrize("name", JUMPS)
def test_places_at_which_initial_values_jump_or_bend_are_found(name):
    function, expected = JUMPS[name]
    found = [at for (axes, at) in places(epinn.Initial(function), boundary=epinn.Dirichlet(lambda x: function(x)))]
    assert [at[1] for at in found] == [5.0] * len(expected)
    assert [at[0] for at in found] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_only_steep_is_none(name):
    function = SMOOTH[name]
    found = places(epinn.Initial(function), boundary=epinn.Dirichlet(lambda x: function(x)))
    assert not [at for _, at in found if -1 < at[0] < 3]


def test_a_flux_that_begins_is_one():
    assert places(epinn.Initial(290.0), epinn.Neumann(4.0, on="x=-1")) == [((0, 1), (-1.0, 5.0))]
    assert not places(epinn.Initial(lambda x: -4.0 * x), epinn.Neumann(4.0, on="x=-1"))


def test_a_wall_that_cools_is_one_whatever_it_is_written_as():
    cooled = epinn.Boundary(lambda u: 2 * u.x + 3 * (u - 20), on="x=3")
    assert places(epinn.Initial(95.0), cooled) == [((0, 1), (3.0, 5.0))]
    assert not places(epinn.Initial(20.0), cooled)


def test_what_is_small_beside_the_terms_of_a_condition_is_none():
    assert not places(epinn.Initial(20.001), epinn.Dirichlet(20.0), sizes=100.0)


def test_an_edge_must_be_straight():
    square = epinn.Box(x=(0, 1), y=(0, 1), t=(0, 1))
    straight = epinn.Initial(lambda x, y: jnp.where(y < 0.5, 0.0, 1.0 + x))
    assert [axes for axes, _ in places(straight, domain=square, sizes=1e9)] == [(1, 2)]
    assert not places(epinn.Initial(lambda x, y: jnp.where(x + y < 1.0, 0.0, 1.0)), domain=square, sizes=1e9)


def test_values_at_ones_own_points_say_nothing():
    assert not places(epinn.Initial([0.0, 1.0], points=[0.0, 1.0]))
