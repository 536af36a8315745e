"""Shapes times an interval of time: points, parts, breaks, and what is handed on from one stretch of time to the next."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problem.scales import Scales
from epinn.solve.stretch import Stretch, can_march

KEY = jax.random.key(3)
DISC = epinn.Disc(x=1, y=2, radius=0.5, name="rim")
HEATED = DISC.during(t=(0, 60))


def problem(domain, **what):
    return epinn.Problem(domain=domain, equation=lambda u: u.t - u.xx - u.yy, boundary=epinn.Neumann(0.0), **what)


def test_time_is_the_last_coordinate_and_points_are_inside():
    assert HEATED.coordinates == ("x", "y", "t")
    assert HEATED.space == ("x", "y")
    points = np.asarray(HEATED.points(500, "sobol", key=KEY))
    assert points.shape == (500, 3)
    assert np.all(np.hypot(points[:, 0] - 1, points[:, 1] - 2) < 0.5 + 1e-5)
    assert abs(points[:, 2].mean() - 30) < 1


def test_the_boundary_is_that_of_space_at_all_times():
    (rim,) = HEATED.faces()
    points, normals = rim.placed(256, "sobol", key=KEY)
    away = np.asarray(points)[:, :2] - [1, 2]
    assert np.allclose(np.linalg.norm(away, axis=1), 0.5, atol=1e-6)
    assert np.allclose(normals, away / 0.5, atol=1e-5)
    assert np.ptp(np.asarray(points)[:, 2]) > 55
    assert [part.name for part in HEATED.faces("t")] == ["t=0", "t=60"]
    assert [part.name for part in HEATED.faces("rim, t=60")] == ["rim", "t=60"]


def test_initial_values_are_asked_for_on_the_shape_when_time_begins():
    channels = problem(HEATED, initial=epinn.Initial(lambda x, y: x + y)).channels(0)
    initial = channels[-1]
    points = np.asarray(initial.points)
    assert np.all(points[:, 2] == 0)
    assert np.all(DISC.contains(points[:, :2]))
    assert np.allclose(initial.target[:, 0], points[:, 0] + points[:, 1])


def test_breaks_in_time_have_points_on_both_sides_and_a_joint():
    broken = problem(HEATED, initial=epinn.Initial(0.0)).broken({"t": (20.0,)})
    equation, _, _, joint = broken.channels(0)
    times = np.asarray(equation.points)[:, 2]
    assert np.sum(times < 20) == np.sum(times > 20) == len(times) // 2
    assert joint.name == "joint at t=20"
    assert np.all(DISC.contains(np.asarray(joint.points)[:, :2]))
    assert [(piece.lower[2], piece.upper[2]) for piece in broken.domain.pieces] == [(0, 20), (20, 60)]


def test_time_can_be_solved_in_windows():
    assert can_march(problem(HEATED, initial=epinn.Initial(0.0)), {})
    window = HEATED.between(10, 20)
    assert (window.lower[2], window.upper[2]) == (10, 20)
    assert window.of == DISC


@pytest.mark.usefixtures("quick_compile")
def test_a_window_asks_for_the_shape_during_a_stretch_of_time():
    asked = problem(HEATED, initial=epinn.Initial(lambda x, y: x + y)).with_points(collocation=64, boundary=16)
    window = Stretch([asked], [Scales.of(asked)], 20.0, 40.0, jax.random.split(KEY, 1))
    equation, rim, initial = (np.asarray(channel.points[0]) for channel in window.channels(None))
    for points in (equation, rim, initial):  # in units of the disc and of the window
        assert np.all(np.hypot(points[:, 0], points[:, 1]) < 1 + 1e-5)
    assert np.allclose(np.hypot(rim[:, 0], rim[:, 1]), 1, atol=1e-5)
    assert np.all(initial[:, 2] == -1)
    assert np.ptp(equation[:, 2]) > 1.9


def test_points_drawn_anew_bring_their_normals():
    asked = problem(HEATED).with_points(resample=1, collocation=64, boundary=16)

    @jax.jit
    def flux(key):
        old, new = asked.channels(0)[1], asked.channels(key)[1]
        moved = old.moved_to(new)
        normals = jnp.stack([moved.given["normal_x"], moved.given["normal_y"]], axis=1)
        return moved.points[:, :2], normals

    points, normals = flux(KEY)
    assert np.allclose(normals, (np.asarray(points) - [1, 2]) / 0.5, atol=1e-4)


def test_mistakes_are_one_line(rejects):
    with rejects("during", "t"):
        DISC.during(time=(0, 1))
    with rejects("interval of t"):
        DISC.during(t=(1, 0))
    with rejects("before time"):
        _ = DISC - HEATED
    with rejects("time has no normal"):
        epinn.Problem(domain=HEATED, equation=lambda u: u.t, boundary=epinn.Neumann(0.0, on="t=0")).check()
    with rejects("rims", "rim"):
        HEATED.faces("rims")
