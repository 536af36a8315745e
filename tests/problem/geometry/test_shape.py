"""Planar shapes: what is inside, exact points and normals on curved edges, names of parts, set operations, mistakes."""

import math
import sys

import jax
import numpy as np
import pytest

import epinn
from epinn.problem.geometry.outline import tracks

KEY = jax.random.key(3)
PLATE = epinn.Rectangle(x=(0, 200), y=(0, 100)) - epinn.Disc(x=100, y=50, radius=20, name="hole")
CORNER = epinn.Rectangle(x=(-1, 1), y=(-1, 1)) - epinn.Rectangle(x=(0, 1), y=(0, 1))


def lengths(shape):
    return {track.name: track.length for track in tracks(shape.form)}


def placed(shape, on, n=200):
    (part,) = shape.faces(on)
    with jax.enable_x64(True):
        points, normals = part.placed(n, "sobol", key=KEY)
        return np.asarray(points), np.asarray(normals)


def test_points_are_inside_as_many_as_asked_and_even():
    points = np.asarray(PLATE.points(1000, "sobol", key=KEY))
    assert points.shape == (1000, 2)
    assert np.all(np.hypot(points[:, 0] - 100, points[:, 1] - 50) > 20 - 1e-3)
    area = 20000 - math.pi * 400
    left = np.sum(points[:, 0] < 60) / 1000
    assert left == pytest.approx(6000 / area, abs=0.01)


@pytest.mark.parametrize("sampling", ["grid", "uniform", "latin", "sobol"])
def test_a_key_gives_the_same_points_again(sampling):
    first, again = (PLATE.points(50, sampling, key=KEY) for _ in range(2))
    assert np.array_equal(first, again)
    assert np.all(PLATE.contains(np.asarray(first)))
    other = PLATE.points(50, sampling, key=jax.random.key(4))
    assert np.array_equal(first, other) == (sampling == "grid")


def test_points_can_be_drawn_inside_compiled_code():
    draw = jax.jit(lambda key: PLATE.points(64, "sobol", key=key))
    first, other = np.asarray(draw(KEY)), np.asarray(draw(jax.random.key(8)))
    assert first.shape == (64, 2)
    assert not np.array_equal(first, other)
    assert np.all(PLATE.contains(first))
    hole = PLATE.faces("hole")[0]
    points, normals = jax.jit(lambda key: tuple(hole.placed(32, "sobol", key=key)))(KEY)
    away = np.asarray(points) - [100, 50]
    assert np.allclose(normals, -away / 20, atol=1e-5)


def test_circles_are_exact_and_normals_point_out_of_the_domain():
    points, normals = placed(PLATE, "hole")
    away = points - [100, 50]
    assert np.allclose(np.linalg.norm(away, axis=1), 20, rtol=1e-12)
    assert np.allclose(normals, -away / 20, atol=1e-12)


def test_ellipses_are_exact_and_points_even_by_length():
    shape = epinn.Ellipse(x=1, y=2, radii=(3, 1), angle=30)
    points, normals = placed(shape, "ellipse", 4096)
    cosine, sine = math.cos(math.pi / 6), math.sin(math.pi / 6)
    own = (points - [1, 2]) @ np.array([[cosine, -sine], [sine, cosine]])
    assert np.allclose((own[:, 0] / 3) ** 2 + own[:, 1] ** 2, 1, rtol=1e-12)
    assert np.all(shape.contains(points - 1e-4 * normals))
    assert not np.any(shape.contains(points + 1e-4 * normals))
    assert lengths(shape)["ellipse"] == pytest.approx(13.36489322055496, rel=1e-9)  # 4 a E(e)
    near_the_tip = np.sum(np.abs(own[:, 0]) > 2.9) / 4096
    angles = np.linspace(0, 2 * np.pi, 200_001)
    speed = np.hypot(3 * np.sin(angles), np.cos(angles))
    assert near_the_tip == pytest.approx(np.sum(speed[np.abs(3 * np.cos(angles)) > 2.9]) / np.sum(speed), abs=2e-3)


def test_outward_flux_is_the_divergence():
    """The integral of x . n over the boundary is twice the area, whatever the shape."""
    shape = (PLATE | epinn.Disc(x=200, y=50, radius=30)) - epinn.Polygon(x=(20, 40, 30), y=(20, 20, 50), name="wedge")
    flux = 0.0
    for track in tracks(shape.form):
        unit = (np.arange(20_000) + 0.5) / 20_000
        points, normals = track.at(unit)
        flux += track.length * np.mean(np.sum(points * normals, axis=1))
    area = 20_000 - math.pi * 400 + math.pi * 900 / 2 - 20 * 30 / 2
    assert flux / 2 == pytest.approx(area, rel=1e-5)


def test_edges_have_the_names_of_faces():
    assert lengths(PLATE) == pytest.approx({"x=0": 100, "x=200": 100, "y=0": 200, "y=100": 200, "hole": 40 * math.pi})
    assert [part.name for part in PLATE.faces("x")] == ["x=0", "x=200"]
    assert [part.name for part in PLATE.faces("x=0.0, hole")] == ["x=0", "hole"]
    assert [part.name for part in epinn.Rectangle(x=(1, 1.5), y=(0, 1)).faces("x=1")] == ["x=1"]
    assert lengths(CORNER) == pytest.approx({"x=-1": 2, "x=1": 1, "y=-1": 2, "y=1": 1, "x=0": 1, "y=0": 1})


def test_shapes_without_names_are_numbered_and_polygons_have_edges():
    two = epinn.Rectangle(x=(0, 4), y=(0, 2)) - epinn.Disc(x=1, y=1, radius=0.5) - epinn.Disc(x=3, y=1, radius=0.5)
    assert [part.name for part in two.faces("disc")] == ["disc.1", "disc.2"]
    wedge = epinn.Polygon(x=(0, 0, 1), y=(0, 1, 0), name="wedge")  # clockwise
    assert lengths(wedge) == pytest.approx({"wedge.1": 1, "wedge.2": 2**0.5, "wedge.3": 1})
    _, normals = placed(wedge, "wedge.1")
    assert np.allclose(normals, [-1, 0])
    assert len(wedge.faces("wedge")) == 3


def test_what_two_shapes_share_is_no_boundary_or_counts_once():
    side_by_side = epinn.Rectangle(x=(0, 1), y=(0, 1)) | epinn.Rectangle(x=(1, 2), y=(0, 1))
    assert lengths(side_by_side) == pytest.approx({"x=0": 1, "y=0": 2, "y=1": 2, "x=2": 1})
    overlapping = epinn.Rectangle(x=(0, 1), y=(0, 1)) | epinn.Rectangle(x=(0.5, 2), y=(0, 1))
    assert lengths(overlapping) == pytest.approx({"x=0": 1, "y=0": 2, "y=1": 2, "x=2": 1})
    assert np.all(side_by_side.contains(np.array([[1.0, 0.5], [0.3, 0.2]])))


def test_a_lens_ends_where_its_circles_meet():
    lens = epinn.Disc(x=0, y=0, radius=1, name="left") & epinn.Disc(x=1, y=0, radius=1, name="right")
    assert lengths(lens) == pytest.approx({"left": 2 * math.pi / 3, "right": 2 * math.pi / 3}, rel=1e-6)
    assert lens.fill == pytest.approx((2 * math.pi / 3 - 3**0.5 / 2) / 3**0.5, rel=1e-4)


def test_points_are_shared_by_length():
    def equation(u):
        return u.xx + u.yy

    problem = epinn.Problem(domain=PLATE, equation=equation, boundary=[epinn.Neumann(0.0), epinn.Dirichlet(1.0, on="x=0")])
    _, everywhere, left = problem.channels(0)
    assert len(left.points) == round(256 * 100 / (600 + 40 * math.pi))
    assert abs(len(everywhere.points) - 256) <= 2
    twice = problem.with_times_as_many_points(2).channels(0)
    assert abs(len(twice[1].points) - 512) <= 2
    assert len(twice[0].points) == 2048


def test_shapes_compare_by_what_they_are():
    again = epinn.Rectangle(x=(0, 200), y=(0, 100)) - epinn.Disc(x=100, y=50, radius=20, name="hole")
    assert again == PLATE
    assert hash(again) == hash(PLATE)
    assert epinn.Rectangle(x=(0, 200), y=(0, 101)) != epinn.Rectangle(x=(0, 200), y=(0, 100))
    assert str(PLATE) == "Rectangle(x=(0, 200), y=(0, 100)) - Disc(x=100, y=50, radius=20, name='hole')"


def test_problems_on_the_same_shape_are_the_same():
    def made(radius):
        ring = epinn.Disc(x=0, y=0, radius=radius) - epinn.Disc(x=0, y=0, radius=1, name="hole")
        return epinn.Problem(domain=ring, equation=lambda u: u.xx + u.yy, boundary=1.0)

    assert made(2).same_as(made(2))
    assert not made(2).same_as(made(3))


def test_outlines_have_holes_the_other_way_round():
    outer, inner = PLATE.outlines()

    def area(ring):
        return 0.5 * np.sum(ring[:-1, 0] * ring[1:, 1] - ring[1:, 0] * ring[:-1, 1])

    assert area(outer) == pytest.approx(20_000)
    assert area(inner) == pytest.approx(-math.pi * 400, rel=1e-4)


@pytest.mark.filterwarnings("error::epinn.errors.EpinnWarning")
def test_a_hole_beside_the_plate_is_said():
    with pytest.warns(epinn.EpinnWarning, match="does not overlap"):
        same = PLATE - epinn.Disc(x=500, y=0, radius=1, name="far")
    assert same == PLATE


@pytest.mark.parametrize("size", [1e-10, 1.0, 1e10])
def test_edges_are_found_in_any_unit(size):
    shape = epinn.Rectangle(x=(0, 2 * size), y=(0, size))
    slotted = shape - epinn.Rectangle(x=(size / 4, size / 2), y=(size / 4, size / 2), name="slot")
    for on in ("x=0", f"x={2 * size:.12g}", f"slot.x={size / 2:.12g}"):
        assert [face.name for face in slotted.faces(on)] == [on]


def test_an_end_needs_no_number():
    slotted = CORNER - epinn.Rectangle(x=(-0.75, -0.5), y=(-0.75, -0.5), name="slot")
    assert [face.name for face in slotted.faces("x=min, y=max, slot.x=max")] == ["x=-1", "y=1", "slot.x=-0.5"]
    assert [face.name for face in slotted.during(t=(0, 5)).faces("t=max, x=max")] == ["t=5", "x=1"]


def test_mistakes_are_one_line(rejects, monkeypatch):
    with rejects("holle", "hole", "x=0", "y=100"):
        PLATE.faces("holle")
    with rejects("x=17", "hole", "x=0", "y=100"):
        PLATE.faces("x=17")
    with rejects("z=min", "hole", "x=0", "y=100"):
        PLATE.faces("z=min")
    with rejects("nothing is left"):
        _ = PLATE & epinn.Disc(x=500, y=0, radius=1)
    with rejects("a Box"):
        _ = PLATE - epinn.Box(x=(0, 1), y=(0, 1))
    with rejects("x, y", "y, x"):
        _ = PLATE - epinn.Disc(y=50, x=100, radius=1)
    with rejects("radius"):
        epinn.Disc(x=0, y=0, radius=-1)
    with rejects("radius"):
        epinn.Disc(x=0, y=0, radius="large")
    with rejects("two coordinates"):
        epinn.Rectangle(x=(0, 1))
    with rejects("during"):
        epinn.Rectangle(x=(0, 1), t=(0, 1))
    with rejects("no zones"):
        epinn.Rectangle(x=(0, 1, 2), y=(0, 1))
    with rejects("cross"):
        epinn.Polygon(x=(0, 1, 1, 0), y=(0, 1, 0, 1))
    with rejects("three corners"):
        epinn.Polygon(x=(0, 1), y=(0, 1))
    with rejects("name"):
        epinn.Disc(x=0, y=0, radius=1, name="a,b")
    with rejects("zones"):
        PLATE.broken({"x": (50.0,)})
    monkeypatch.setitem(sys.modules, "shapely", None)
    with rejects("pip install", "epinn[geometry]"):
        epinn.Polygon(x=(0, 2, 1), y=(0, 0, 1))


def test_conditions_that_need_a_box_are_refused(rejects):
    def problem(**what):
        return epinn.Problem(domain=PLATE, equation=lambda u: u.xx + u.yy, **what)

    with rejects("periodic", "Box"):
        problem(boundary=epinn.Periodic("x")).check()
    with rejects("during"):
        problem(initial=epinn.Initial(0.0)).check()
    sensors = np.array([[10.0, 10.0], [100.0, 55.0], [95.0, 45.0]])
    with rejects("2 of 3", "rows 1, 2", "in hole"):
        problem(data=epinn.Data(sensors, np.zeros(3), sigma=0.1)).check()


def test_a_polygon_may_be_given_by_pairs(rejects):
    pairs = [(0, 0), (2, 0), (1, 1)]
    by_pairs, by_columns = epinn.Polygon(pairs, name="roof"), epinn.Polygon(x=(0, 2, 1), y=(0, 0, 1), name="roof")
    assert by_pairs.coordinates == ("x", "y")
    key = jax.random.key(0)
    np.testing.assert_array_equal(by_pairs.points(20, "sobol", key=key), by_columns.points(20, "sobol", key=key))
    for wrong in ([1, 2, 3], [(0, 0, 0), (1, 1, 1), (0, 1, 0)], "triangle", [(0, 0), (1,)]):
        with rejects("pairs", "columns"):
            epinn.Polygon(wrong)
    with rejects("pairs", "columns"):
        epinn.Polygon(pairs, x=(0, 1, 2))
