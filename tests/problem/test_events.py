"""What happens suddenly in the middle of time, and where."""

import jax
import jax.numpy as jnp
import pytest

import epinn
from epinn.problem.events import Event, events
from epinn.problem.scales import Scales, _Search

pytestmark = pytest.mark.usefixtures("quick_compile")

LEFT, RIGHT = (0, 0.0), (0, 10.0)


def happening(equation=lambda u: u.t - u.xx, boundary=epinn.Dirichlet(20.0), **more):
    problem = epinn.Problem(epinn.Box(x=(0, 10), t=(0, 6)), equation, boundary=boundary, initial=epinn.Initial(20.0), **more)
    with jax.enable_x64(True):
        search = _Search(problem)
        found = events(problem, search.channels, search.scales().units)
    return [(pytest.approx(event.time, rel=1e-6), event.walls) for event in found]


def test_a_wall_that_is_heated_from_some_time_on():
    step = epinn.Dirichlet(lambda t: jnp.where(t < 2, 20.0, 50.0), on="x=0")
    assert happening(boundary=[step, epinn.Dirichlet(20.0, on="x=10")]) == [(2.0, (LEFT,))]


def test_a_flux_that_begins_to_rise():
    rising = epinn.Neumann(lambda t: jnp.maximum(t - 1.5, 0.0), on="x=10")
    assert happening(boundary=[rising, epinn.Dirichlet(20.0, on="x=0")]) == [(1.5, (RIGHT,))]


def test_a_lamp_that_shines_for_a_while():
    lamp = epinn.Boundary(lambda u, t: u.x + jnp.where((t > 1) & (t < 4), 3.0, 0.0), on="x=0")
    assert happening(boundary=[lamp, epinn.Dirichlet(20.0, on="x=10")]) == [(1.0, (LEFT,)), (4.0, (LEFT,))]


def test_what_begins_inside_is_felt_at_all_walls():
    expected = [(2.5, (LEFT, RIGHT))]
    assert happening(lambda u, t: u.t - u.xx - jnp.where(t > 2.5, 12.0, 0.0)) == expected
    assert happening(epinn.Equation(lambda u: u.t - u.xx, target=lambda t: jnp.where(t > 2.5, 12.0, 0.0))) == expected
    around = happening(lambda u, t: u.t - u.xx - jnp.where(t > 2.5, 12.0, 0.0), epinn.Periodic("x"))
    assert around == [(2.5, ())]


def test_many_pulses_are_as_many_events():
    assert len(happening(lambda u, t: u.t - u.xx - jnp.where(jnp.sin(6 * t) > 0, 1.0, 0.0))) == 11


@pytest.mark.parametrize(
    "target",
    [lambda t: 20 + jnp.tanh(50 * (t - 2)), lambda t: 20 * jnp.cos(5 * t), 20.0],
    ids=["steep", "wave", "number"],
)
def test_what_is_only_fast_is_none(target):
    assert happening(boundary=epinn.Dirichlet(target)) == []


def test_a_place_that_moves_is_none():
    assert happening(lambda u, x, t: u.t - u.xx - jnp.where(x < t, 1.0, 0.0)) == []


def test_what_happens_at_one_time_is_one_event_however_it_was_found():
    third = happening(
        lambda u, t: u.t - u.xx - jnp.where(t < 1 / 3, 0.0, 1.0),
        [epinn.Dirichlet(lambda t: jnp.where(t < 1 / 3, 20.0, 21.0), on="x=0"), epinn.Dirichlet(20.0, on="x=10")],
    )
    assert third == [(1 / 3, (LEFT, RIGHT))]
    step = epinn.Dirichlet(lambda t: jnp.where(t < 0.3, 20.0, 21.0), on="x=0")
    bend = epinn.Dirichlet(lambda t: 20 + jnp.minimum(t, 0.3), on="x=10")
    assert happening(boundary=[step, bend]) == [(0.3, (LEFT, RIGHT))]


def test_times_that_are_too_near_are_one():
    first, second = (
        epinn.Dirichlet(lambda t, at=at: jnp.where(t < at, 20.0, 21.0), on=on) for at, on in ((2.0, "x=0"), (2.0003, "x=10"))
    )
    third = lambda u, t: u.t - u.xx - jnp.where(t < 4, 0.0, 1.0)  # noqa: E731
    assert happening(third, [first, second]) == [(2.0, (LEFT, RIGHT)), (4.0, (LEFT, RIGHT))]


def test_a_short_pulse_has_a_beginning_and_an_end():
    pulse = epinn.Dirichlet(lambda t: jnp.where((t > 2) & (t < 2.01), 21.0, 20.0), on="x=0")
    assert happening(boundary=[pulse, epinn.Dirichlet(20.0, on="x=10")]) == [(2.0, (LEFT,)), (2.01, (LEFT,))]


def test_all_of_many_switches_are_seen_or_none():
    def switched(often):
        return [
            epinn.Dirichlet(lambda t: jnp.where(jnp.floor(t * often / 6) % 2 == 0, 20.0, 21.0), on="x=0"),
            epinn.Dirichlet(20.0, on="x=10"),
        ]

    assert len(happening(boundary=switched(13))) == 12
    assert happening(boundary=switched(40)) == []


def test_every_component_of_a_target_is_followed():
    both = epinn.Equation(lambda u, w: [u.t - u.xx, w.t - w.xx], target=lambda t: [0.0 * t, jnp.where(t < 2.5, 0.0, 1.0)])
    problem = epinn.Problem(epinn.Box(x=(0, 10), t=(0, 6)), both, fields=("u", "w"))
    assert Scales.of(problem).events == (pytest.approx(2.5),)


def test_with_unknowns_no_window_ends_there():
    problem = epinn.Problem(
        epinn.Box(x=(0, 10), t=(0, 6)),
        lambda u, t, k: u.t - k * u.xx - jnp.where(t < 2.5, 0.0, 1.0),
        boundary=epinn.Dirichlet(20.0),
        initial=epinn.Initial(20.0),
        data=epinn.Data([[5.0, 3.0]], [21.0]),
        unknowns={"k": 1.0},
    )
    scales = Scales.of(problem)
    assert scales.events == ()
    assert {fan.at for fan in scales.fans} == {(0.0, 2.5), (10.0, 2.5)}


def test_times_may_be_counted_from_long_ago():
    begin = 1.7e9
    wall = epinn.Dirichlet(lambda t: jnp.where(t < begin + 2, 20.0, 21.0), on="x=0")
    problem = epinn.Problem(
        epinn.Box(x=(0, 10), t=(begin, begin + 6)),
        lambda u: u.t - u.xx,
        boundary=[wall, epinn.Dirichlet(20.0, on="x=10")],
        initial=epinn.Initial(20.0),
    )
    (found,) = Scales.of(problem).events
    assert found - begin == pytest.approx(2, abs=1e-4)


def test_windows_end_there_and_what_follows_fans_out():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 10), t=(0, 6)),
        equation=lambda u: u.t - u.xx,
        boundary=[epinn.Dirichlet(lambda t: jnp.where(t < 2, 20.0, 50.0), on="x=0"), epinn.Dirichlet(20.0, on="x=10")],
        initial=epinn.Initial(20.0),
    )
    scales = Scales.of(problem)
    assert scales.ends == (pytest.approx(2.0),)
    assert [(fan.at, fan.times) for fan in scales.fans] == [((0.0, 0.0), (pytest.approx(2.0),))]


def test_an_event_is_a_value():
    assert Event(1.0, (LEFT,)) == Event(1.0, (LEFT,))
