"""Corners at which given values contradict each other."""

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problem.corners import RADIUS, contradicting_parts, contradictions, in_words
from epinn.problem.scales import Scales

pytestmark = pytest.mark.usefixtures("quick_compile")

PLATE = epinn.Rectangle(x=(0, 2), y=(0, 1)) - epinn.Disc(x=1, y=0.5, radius=0.2, name="hole")


def plate(**targets):
    """A plate of 200 by 100 mm; sides without a target have none."""
    return epinn.Problem(
        domain=epinn.Box(x=(0, 200), y=(0, 100)),
        equation=lambda u: u.xx + u.yy,
        boundary=[epinn.Dirichlet(target, on=side.replace("_", "=")) for side, target in targets.items()],
    )


def test_a_hot_edge_between_cold_ones_has_two_corners():
    corners = contradictions(plate(y_100=373.0, x=293.0, y_0=293.0))
    assert [(corner.axes, corner.at) for corner in corners] == [((0, 1), (0.0, 100.0)), ((0, 1), (200.0, 100.0))]
    assert in_words(corners, plate(x=0.0).domain) == (
        "next to (x = 0, y = 100) and (x = 200, y = 100) given values contradict each other"
    )


def test_values_that_agree_have_none():
    assert not contradictions(plate(y_100=293.0, x=293.0, y_0=293.0))
    assert not contradictions(plate(y_100=lambda x: 293 + x * (200 - x), x=293.0, y_0=293.0))
    assert not contradictions(plate(y_100=373.0, y_0=293.0))  # these two never meet


def test_a_rod_that_is_put_between_cold_ends_contradicts_them_when_time_begins():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 60)),
        equation=lambda u: u.t - u.xx,
        boundary=epinn.Dirichlet(20.0),
        initial=epinn.Initial(95.0),
    )
    assert [corner.at for corner in contradictions(problem)] == [(0.0, 0.0), (1.0, 0.0)]


def test_many_coordinates_take_no_more_time():
    sides = {f"x{i}": (0, 1) for i in range(12)}
    problem = epinn.Problem(
        domain=epinn.Box(**sides),
        equation=lambda u: sum(u.diff(x, x) for x in sides),
        boundary=[epinn.Dirichlet(0.0, on="x0"), epinn.Dirichlet(1.0, on=", ".join([*sides][1:]))],
    )
    assert len(contradictions(problem)) == 2 * 22


def test_what_has_noise_contradicts_nothing():
    noisy = epinn.Problem(
        domain=epinn.Box(x=(0, 1), y=(0, 1)),
        equation=lambda u: u.xx + u.yy,
        boundary=[epinn.Dirichlet(1.0, on="y=1", sigma=0.1), epinn.Dirichlet(0.0, on="x, y=0")],
    )
    assert not contradictions(noisy)


def test_points_keep_clear_stay_on_their_faces_and_are_as_many():
    problem = plate(y_100=373.0, x=293.0, y_0=293.0)
    (first, second) = contradictions(problem)
    usual, clear = problem.channels(0), problem.clear_of((first, second)).channels(0)
    for before, after in zip(usual, clear, strict=True):
        assert after.points.shape == before.points.shape
        for corner in (first, second):
            distances = (np.asarray(after.points) - corner.at) / corner.radius
            assert np.linalg.norm(distances, axis=1).min() > 1 - 1e-5
        far = np.linalg.norm((np.asarray(before.points) - first.at) / first.radius, axis=1) > 2
        far &= np.linalg.norm((np.asarray(before.points) - second.at) / second.radius, axis=1) > 2
        np.testing.assert_array_equal(after.points[far], before.points[far])
        assert np.all(problem.domain.contains(np.asarray(after.points)))
    np.testing.assert_allclose(clear[1].points[:, 1], 100.0)
    assert set(np.unique(np.asarray(clear[2].points[:, 0]))) == {0.0, 200.0}


def test_a_point_in_the_corner_leaves_it_along_its_face():
    (corner, _) = contradictions(plate(y_100=373.0, x=293.0, y_0=293.0))
    on_top = corner.outside(jnp.asarray([[0.0, 100.0]]), face=1)
    np.testing.assert_allclose(on_top, [[RADIUS * 200, 100.0]], rtol=1e-6)


def test_scales_know_corners_and_their_channels_keep_clear():
    problem = plate(y_100=373.0, x=293.0, y_0=293.0)
    scales = Scales.of(problem)
    assert len(scales.corners) == 2
    inside = np.asarray(scales.channels(problem, 0)[0].points)
    assert np.linalg.norm((inside - [-1, 1]) / (2 * RADIUS), axis=1).min() > 1 - 1e-5
    everywhere = np.asarray(scales.everywhere().channels(problem, 0)[0].points)
    assert np.linalg.norm((everywhere - [-1, 1]) / (2 * RADIUS), axis=1).min() < 1


def test_what_is_to_be_kept_clear_is_no_text():
    with pytest.raises(epinn.InputError, match="leave out clear="):
        epinn.Points(clear=("corner",))


def drilled(**values):
    conditions = [epinn.Dirichlet(value, on=part) for part, value in values.items()]
    return epinn.Problem(domain=PLATE, equation=lambda u: u.xx + u.yy, boundary=conditions)


def test_parts_of_a_shape_that_meet_with_different_values():
    plate = drilled(**{"x=0": 300.0, "y=0": 400.0, "x=2": lambda x, y: 400.0 + y, "hole": 0.0})
    assert contradicting_parts(plate) == ["x=0 and y=0"]
    assert contradicting_parts(drilled(**{"x=0": 300.0, "x=2": 400.0, "hole": 0.0})) == []
    quenched = epinn.Problem(
        domain=PLATE.during(t=(0, 60)),
        equation=lambda u: u.t - u.xx - u.yy,
        boundary=[epinn.Dirichlet(300.0, on="hole"), epinn.Dirichlet(lambda t: 400.0 + t, on="x=0")],
        initial=epinn.Initial(400.0),
    )
    assert contradicting_parts(quenched) == ["hole and t=0"]
    assert contradictions(quenched) == ()
