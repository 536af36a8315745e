"""Corners that fields fan out from: which they are, and where points go."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.units import Units
from epinn.problem.corners import contradictions
from epinn.problem.fans import fans as found_fans
from epinn.problem.fans import places_of
from epinn.problem.scales import Scales

pytestmark = pytest.mark.usefixtures("quick_compile")


def rod(length=0.05, time=60.0, diffusivity=12e-6, **more):
    """A rod that is suddenly heated at one end."""
    usual = {
        "domain": epinn.Box(x=(0, length), t=(0, time)),
        "equation": lambda T: T.t - diffusivity * T.xx,
        "boundary": [epinn.Dirichlet(473.0, on="x=min", field="T"), epinn.Dirichlet(293.0, on="x=max", field="T")],
        "initial": epinn.Initial(293.0, field="T"),
    }
    return epinn.Problem(**{"fields": ("T",)} | usual | more)


def fans(problem):
    """Without the search for the sizes of fields and conditions, which matter little here."""
    lower, upper, one = np.asarray(problem.domain.lower), np.asarray(problem.domain.upper), jnp.ones(len(problem.fields))
    with jax.enable_x64(True):
        units = Units(jnp.asarray(lower + upper) / 2, jnp.asarray(upper - lower) / 2, 0 * one, one, {})
        sizes = {condition.label: 1.0 for condition in problem.conditions}
        return found_fans(problem, contradictions(problem), (), problem.channels(0), units, sizes, in_windows=True)


def test_a_rod_that_is_suddenly_heated_has_one_and_diffusion_is_its_measure():
    (fan,) = fans(rod())
    assert (fan.axes, fan.at, fan.in_time) == ((0, 1), (0.0, 0.0), True)
    assert fan.by == pytest.approx(4 * 12e-6 * 30 / 0.025**2)


def test_it_is_the_same_in_other_units():
    (fan,) = fans(rod(length=50.0, time=1.0, diffusivity=12e-6 * 1e6 * 60))
    assert fan.by == pytest.approx(4 * 12e-6 * 30 / 0.025**2)


def test_a_coefficient_may_depend_on_the_field():
    (fan,) = fans(dataclasses.replace(rod(), equation=lambda T: 4e6 * T.t - ((40 + 0.02 * T) * T.x).x))
    assert 4e-6 * 0.5 < fan.by * 0.025**2 / (4 * 30) < 40e-6


def test_an_unknown_coefficient_is_taken_at_its_guess():
    unknowns = {"a": epinn.Unknown(guess=6e-6, positive=True)}
    readings = epinn.Data([[0.01, 30.0]], [300.0], sigma=0.5, field="T")
    problem = rod(equation=lambda T, a: T.t - a * T.xx, unknowns=unknowns, data=readings)
    (fan,) = fans(problem)
    assert fan.by == pytest.approx(4 * 6e-6 * 30 / 0.025**2)


def test_a_network_that_is_trained_among_measurements_is_shown_directions_from_the_start():
    readings = epinn.Data([[0.01, 30.0]], [300.0], sigma=0.5, field="T")
    scales = Scales.of(rod(data=readings))
    assert scales.directions is not None
    assert Scales.of(rod()).directions is None  # there, what needs no training comes first
    assert Scales.of(rod(data=readings, points=epinn.Points(resample=100))).directions is None
    equation, *_ = scales.channels(rod(data=readings), 0)
    away = np.abs(np.asarray(equation.points) + 1)  # in the coordinates of the network the corner is at -1, -1
    assert np.min(away[:, 0] ** 2 + away[:, 1]) < 1e-3
    assert np.all(away.max(axis=1) > 0)


def test_what_happens_later_is_shown_where_it_happens_if_time_is_taken_as_a_whole():
    readings = epinn.Data([[0.01, 30.0]], [300.0], sigma=0.5, field="T")
    late = [
        epinn.Dirichlet(lambda t: jnp.where(t < 20, 293.0, 473.0), on="x=min", field="T"),
        epinn.Dirichlet(293.0, on="x=max", field="T"),
    ]
    scales = Scales.of(rod(boundary=late, data=readings))
    assert [fan.at for fan in scales.fans] == [(0.0, pytest.approx(20.0))]
    assert scales.ends == ()
    assert Scales.of(rod(boundary=late)).ends == (pytest.approx(20.0),)
    assert scales.directions.size == 4
    equation, *_ = scales.channels(rod(boundary=late, data=readings), 0)
    (fan,), points = scales.fans, np.asarray(scales.units.outside(equation.points))
    near = np.asarray(fan.squared_distance(jnp.asarray(points))) < 0.01
    assert np.sum(near & (points[:, 1] > 20)) > 10  # of those that are spread evenly, none is
    assert np.all(np.asarray(fan.growth(jnp.asarray(points)))[points[:, 1] < 19.99] == 0)


def test_a_plate_at_rest_has_directions_in_space_alike_along_both_coordinates():
    plate = epinn.Problem(
        domain=epinn.Box(x=(0, 2), y=(0, 1)),
        equation=lambda u: u.xx + 4 * u.yy,
        boundary=[epinn.Dirichlet(1.0, on="y=max"), epinn.Dirichlet(0.0, on="x, y=min")],
    )
    found = fans(plate)
    assert [fan.at for fan in found] == [(0.0, 1.0), (2.0, 1.0)]
    assert [fan.by for fan in found] == pytest.approx([np.sqrt((1 / 1**2) / (4 / 0.5**2))] * 2)


NONE = {
    "a wave is carried": rod(equation=lambda T: T.tt - T.xx),
    "a stream is carried": rod(equation=lambda T: T.t + T.x),
    "nothing is sudden": rod(boundary=epinn.Dirichlet(293.0)),
    "it takes a while": rod(boundary=epinn.Dirichlet(lambda t: 293 + 0.01 * t**2)),
    "broken": rod(domain=epinn.Box(x=(0, 0.02, 0.05), t=(0, 60))),
    "another kind of spreading": rod(equation=lambda T: T.t + 1e-9 * T.xxxx),
}


@pytest.mark.parametrize("name", NONE)
def test_others_have_none(name):
    assert not fans(NONE[name])


def test_points_come_nearer_in_their_direction_stay_in_the_box_and_leave_no_part_of_it():
    (fan,) = fans(rod())
    problem = rod()
    with jax.enable_x64(True):
        points = problem.domain.points(4096, "sobol", key=jax.random.key(0))
        moved = np.asarray(fan.outside(points))
        assert np.all(problem.domain.contains(moved))
        ratio = np.asarray(points[:, 0] / jnp.sqrt(points[:, 1])) / (moved[:, 0] / np.sqrt(moved[:, 1]))
        np.testing.assert_allclose(ratio[np.isfinite(ratio)], 1.0, rtol=1e-9)
        distance = np.sqrt(np.asarray(fan.squared_distance(jnp.asarray(moved))))
    assert 1e-4 < np.min(distance) < 0.05
    for corner in ([0.05, 60.0], [0.05, 0.0], [0.0, 60.0]):  # the others of the box
        assert np.min(np.max(np.abs(moved - corner) / [0.05, 60.0], axis=1)) < 0.05


def test_points_on_faces_stay_on_them():
    (fan,) = fans(rod())
    wall = jnp.stack([jnp.zeros(16), jnp.linspace(0.0, 60.0, 16)], axis=1)
    moved = fan.outside(wall, 0)
    assert np.all(np.asarray(moved[:, 0]) == 0)
    assert np.all(np.diff(np.asarray(moved[:, 1])) > 0)
    later = jnp.stack([jnp.linspace(0.001, 0.05, 16), jnp.full(16, 3.0)], axis=1)
    assert np.all(np.asarray(fan.outside(later, 1)) == np.asarray(later))


def test_what_an_equation_leaves_near_a_corner_counts_by_its_terms():
    scales = Scales.of(rod()).with_directions()
    equation = next(channel for channel in scales.channels(rod(), 0) if channel.kind == "equation")
    square = np.asarray(scales.fans[0].squared_distance(scales.units.outside(equation.points)))
    size = np.asarray(equation.size)[:, 0]
    assert np.corrcoef(np.log(size), np.log(1 + 1 / square))[0, 1] > 0.99
    assert size.max() > 100 * size.min()


def test_what_happens_later_has_its_place_where_windows_begin():
    step = epinn.Dirichlet(lambda t: jnp.where(t < 20, 293.0, 473.0), on="x=min")
    (fan,) = Scales.of(rod(boundary=[step, epinn.Dirichlet(293.0, on="x=max")])).fans
    assert (fan.at, fan.times) == ((0.0, 0.0), (pytest.approx(20.0),))
    assert fan.by == pytest.approx(4 * 12e-6 * 30 / 0.025**2)
    assert places_of([fan]) == [((0, 1), (0.0, pytest.approx(20.0)))]


def test_equations_in_a_list_are_looked_at_one_by_one():
    apart = fans(rod(equation=[lambda T: T.t - 12e-6 * T.xx, lambda S: S.xx], fields=("T", "S")))
    together = fans(rod(equation=lambda T, S: [T.t - 12e-6 * T.xx, S.xx], fields=("T", "S")))
    assert [fan.by for fan in together] == [fan.by for fan in apart]
    assert together
