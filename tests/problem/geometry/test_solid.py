"""Solids: volumes and areas, the divergence theorem, exact normals, names of parts, set operations, time, mistakes."""

import math

import jax
import numpy as np
import pytest

import epinn
from epinn.problem.corners import contradicting_parts
from epinn.problem.domain import sobol
from epinn.problem.geometry.meeting import meeting
from epinn.problem.geometry.skin import skins
from epinn.problem.scales import Scales

KEY = jax.random.key(3)
BLOCK = epinn.Cuboid(x=(0, 200), y=(0, 100), z=(0, 50))
DRILLED = BLOCK - epinn.Cylinder(x=100, y=50, z=(-10, 60), radius=20, name="bore")
HOLLOW = BLOCK - epinn.Sphere(x=60, y=40, z=25, radius=15, name="void")
LEANING = epinn.Cylinder(x=0, y=(0, 3), z=(0, 4), radius=0.5)
PLATE = epinn.Rectangle(x=(0, 2), y=(0, 1)) - epinn.Disc(x=1, y=0.5, radius=0.2, name="hole")
SHEET = epinn.Extrusion(PLATE, z=(0, 0.1))
LENS = epinn.Sphere(x=0, y=0, z=-100, radius=101, name="top") & epinn.Sphere(x=0, y=0, z=100, radius=101, name="bottom")


def areas(solid):
    return {skin.name: skin.area for skin in skins(solid.form)}


def placed(solid, on, n=500):
    (part,) = solid.faces(on)
    with jax.enable_x64(True):
        points, normals = part.placed(n, "sobol", key=KEY)
        return np.asarray(points), np.asarray(normals)


def volume(solid):
    return solid.fill * np.prod(np.subtract(solid.upper, solid.lower))


def flux(solid):
    """The integral of x . n over the boundary."""
    total = 0.0
    for skin in skins(solid.form):
        points, normals = skin.at(sobol(2**15 + 1, 2)[1:])
        total += sum(piece.area for piece in skin.pieces) * np.mean(np.sum(points * normals, axis=1))
    return total


def cap(radius, height):
    """The volume of a spherical cap."""
    return math.pi * height**2 * (radius - height / 3)


VOLUMES = [
    (BLOCK, 1e6),
    (DRILLED, 1e6 - math.pi * 400 * 50),
    (HOLLOW, 1e6 - 4 / 3 * math.pi * 15**3),
    (LEANING, math.pi * 0.25 * 5),
    (SHEET, 0.1 * (2 - math.pi * 0.04)),
    (LENS, 2 * cap(101, 1)),
    (epinn.Cuboid(x=(0, 1), y=(0, 1), z=(0, 1)) | epinn.Sphere(x=1, y=0.5, z=0.5, radius=0.5), 1 + math.pi / 12),
    (epinn.Sphere(x=0, y=0, z=0, radius=2) & epinn.Cuboid(x=(1, 3), y=(-3, 3), z=(-3, 3), name="cut"), cap(2, 1)),
]


@pytest.mark.parametrize(("solid", "exact"), VOLUMES, ids=lambda value: str(value)[:40])
def test_volumes_are_those_of_formulas_and_of_the_divergence_theorem(solid, exact):
    assert volume(solid) == pytest.approx(exact, rel=0.02)
    assert flux(solid) / 3 == pytest.approx(exact, rel=2e-3)


def test_areas_are_those_of_formulas():
    disc = math.pi * 400
    exact = {"x=0": 5000, "x=200": 5000, "y=0": 10000, "y=100": 10000, "z=0": 20000 - disc, "z=50": 20000 - disc}
    assert areas(DRILLED) == pytest.approx({**exact, "bore.side": 40 * math.pi * 50}, rel=2e-3)
    assert areas(HOLLOW)["void"] == pytest.approx(4 * math.pi * 225, rel=1e-12)
    ends = {"cylinder.begin": math.pi / 4, "cylinder.end": math.pi / 4}
    assert areas(LEANING) == pytest.approx({"cylinder.side": 5 * math.pi, **ends}, rel=5e-3)
    assert areas(LENS) == pytest.approx({"top": 202 * math.pi, "bottom": 202 * math.pi}, rel=0.02)
    assert areas(SHEET)["hole"] == pytest.approx(0.1 * 0.4 * math.pi, rel=1e-6)


@pytest.mark.parametrize("solid", [solid for solid, _ in VOLUMES], ids=lambda value: str(value)[:40])
def test_normals_point_out_and_are_the_slope_of_the_distance(solid):
    with jax.enable_x64(True):
        drawn = [part.placed(200, "sobol", key=KEY) for part in solid.faces()]
    points, normals = (np.concatenate([np.asarray(one) for one in columns]) for columns in zip(*drawn, strict=True))
    size = max(np.subtract(solid.upper, solid.lower))
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    assert np.all(np.abs(solid.form.distance(points)) < 1e-12 * size)
    assert np.all(solid.contains(points))
    assert not np.any(solid.contains(points + 1e-4 * size * normals))
    step = 1e-7 * size
    slopes = [solid.form.distance(points + step * e) - solid.form.distance(points - step * e) for e in np.eye(3)]
    away_from_edges = np.abs(np.linalg.norm(slopes, axis=0) / (2 * step) - 1) < 1e-6
    assert np.mean(away_from_edges) > 0.99
    assert np.allclose((np.array(slopes).T / (2 * step))[away_from_edges], normals[away_from_edges], atol=1e-5)


def test_points_are_inside_and_even():
    points = np.asarray(DRILLED.points(2000, "sobol", key=KEY))
    assert points.shape == (2000, 3)
    assert np.all(np.hypot(points[:, 0] - 100, points[:, 1] - 50) > 20 - 1e-3)
    assert np.mean(points[:, 0] < 60) == pytest.approx(0.3 * 1e6 / (1e6 - math.pi * 400 * 50), abs=0.01)


def test_points_on_a_curved_side_are_even_by_area():
    points, normals = placed(HOLLOW, "void", 1024)
    assert np.allclose(np.linalg.norm(points - [60, 40, 25], axis=1), 15, rtol=1e-12)
    assert np.allclose(normals, -(points - [60, 40, 25]) / 15)
    for axis in np.eye(3):
        assert np.mean((points - [60, 40, 25]) @ axis > 7.5) == pytest.approx(0.25, abs=0.01)


def test_points_can_be_drawn_inside_compiled_code():
    points, normals = jax.jit(lambda key: tuple(DRILLED.faces("bore")[0].placed(32, "sobol", key=key)))(KEY)
    away = np.asarray(points)[:, :2] - [100, 50]
    assert np.allclose(np.linalg.norm(away, axis=1), 20, rtol=1e-5)
    assert np.allclose(np.asarray(normals)[:, :2], -away / 20, atol=1e-5)
    assert np.all(DRILLED.contains(np.asarray(jax.jit(lambda key: DRILLED.points(64, "sobol", key=key))(KEY))))


def test_parts_have_names():
    assert [part.name for part in DRILLED.faces("x")] == ["x=0", "x=200"]
    assert [part.name for part in DRILLED.faces("bore, z=0.0")] == ["bore.side", "z=0"]
    blind = BLOCK - epinn.Cylinder(x=100, y=50, z=(20, 60), radius=20, name="bore")
    assert [part.name for part in blind.faces("bore")] == ["bore.side", "bore.z=20"]
    two = BLOCK - epinn.Sphere(x=50, y=50, z=25, radius=9) - epinn.Sphere(x=150, y=50, z=25, radius=9)
    assert [part.name for part in two.faces("sphere")] == ["sphere.1", "sphere.2"]
    assert [part.name for part in SHEET.faces()] == ["x=0", "x=2", "y=0", "y=1", "hole", "z=0", "z=0.1"]
    assert [part.name for part in epinn.Extrusion(PLATE, z=(0, 1), name="part").faces("part.hole")] == ["part.hole"]
    shares = [part.share for part in SHEET.faces()]
    assert sum(shares) == pytest.approx(6)


def test_what_two_solids_share_is_no_boundary_or_counts_once():
    first = epinn.Cuboid(x=(0, 1), y=(0, 1), z=(0, 1))
    exact = {"x=0": 1, "x=2": 1, "y=0": 2, "y=1": 2, "z=0": 2, "z=1": 2}
    assert areas(first | epinn.Cuboid(x=(1, 2), y=(0, 1), z=(0, 1))) == pytest.approx(exact, rel=1e-3)
    assert areas(first | epinn.Cuboid(x=(0.5, 2), y=(0, 1), z=(0, 1))) == pytest.approx(exact, rel=1e-3)


def test_the_box_around_a_solid_has_nothing_that_is_not_there():
    half = BLOCK - epinn.Cuboid(x=(120, 300), y=(-1, 101), z=(-1, 51))
    assert (half.lower, half.upper) == ((0, 0, 0), (120, 100, 50))
    radius = math.sqrt(101**2 - 100**2)
    assert LENS.upper[2] == pytest.approx(1)
    assert radius < LENS.upper[0] < 1.05 * radius
    pin = epinn.Cylinder(x=5, y=7, z=(0, 2), radius=1)
    assert (pin.lower, pin.upper) == ((4, 6, 0), (6, 8, 2))


def test_solids_compare_by_what_they_are():
    again = BLOCK - epinn.Cylinder(x=100, y=50, z=(-10, 60), radius=20, name="bore")
    assert again == DRILLED
    assert hash(again) == hash(DRILLED)
    assert BLOCK != DRILLED
    assert str(DRILLED) == (
        "Cuboid(x=(0, 200), y=(0, 100), z=(0, 50)) - Cylinder(x=100, y=50, z=(-10, 60), radius=20, name='bore')"
    )


def test_parts_meet_where_their_surfaces_cross():
    bore, bottom, left = (DRILLED.faces(on)[0] for on in ("bore", "z=0", "x=0"))
    places = meeting(bore, bottom)
    assert np.allclose(np.hypot(places[:, 0] - 100, places[:, 1] - 50), 20)
    assert np.allclose(places[:, 2], 0, atol=1e-9)
    assert not len(meeting(bore, left))
    rim = meeting(*LENS.faces())
    assert np.allclose(np.hypot(rim[:, 0], rim[:, 1]), math.sqrt(101**2 - 100**2))


def test_values_that_contradict_each_other_where_parts_meet_are_found():
    def asked(cold):
        given = [epinn.Dirichlet(300.0, on="bore"), epinn.Dirichlet(cold, on="z=0"), epinn.Dirichlet(0.0, on="x=0")]
        return epinn.Problem(domain=DRILLED, equation=lambda u: u.xx + u.yy + u.zz, boundary=given)

    assert contradicting_parts(asked(280.0)) == ["bore.side and z=0", "z=0 and x=0"]
    assert contradicting_parts(asked(300.0)) == ["z=0 and x=0"]


def test_millimetres_and_metres_are_the_same_problem():
    def points(unit):
        solid = epinn.Cuboid(x=(0, 200 * unit), y=(0, 100 * unit), z=(0, 50 * unit)) - epinn.Cylinder(
            x=100 * unit, y=50 * unit, z=(-10 * unit, 60 * unit), radius=20 * unit, name="bore"
        )
        asked = epinn.Problem(
            domain=solid,
            equation=lambda u: u.xx + u.yy + u.zz,
            boundary=[epinn.Dirichlet(lambda x: 300 + x / unit, on="x"), epinn.Neumann(0.0, on="bore")],
        )
        return [np.asarray(channel.points) for channel in Scales.of(asked).channels(asked, 0)]

    for one, other in zip(points(1.0), points(1e-3), strict=True):
        assert np.allclose(one, other, atol=2e-6)


def test_a_solid_during_some_time():
    heated = HOLLOW.during(t=(0, 60))
    assert heated.coordinates == ("x", "y", "z", "t")
    (void,) = heated.faces("void")
    points, normals = (np.asarray(one) for one in void.placed(256, "sobol", key=KEY))
    assert points.shape == (256, 4)
    assert np.allclose(normals, -(points[:, :3] - [60, 40, 25]) / 15, atol=1e-5)
    assert np.ptp(points[:, 3]) > 55
    again, _ = jax.jit(lambda key: tuple(void.placed(16, "sobol", key=key)))(KEY)
    assert np.allclose(np.linalg.norm(np.asarray(again)[:, :3] - [60, 40, 25], axis=1), 15, rtol=1e-5)
    begin = heated.faces("t")[0]
    assert np.all(meeting(void, begin)[:, 3] == 0)


@pytest.mark.filterwarnings("error::epinn.errors.EpinnWarning")
def test_a_second_void_of_the_same_name_is_taken_away_however_small(recwarn):
    block = epinn.Cuboid(x=(-50, 50), y=(-50, 50), z=(-50, 50)) - epinn.Sphere(x=0, y=0, z=0, radius=20, name="void")
    hollow = block - epinn.Sphere(x=40, y=0, z=0, radius=1.5, name="void")
    assert not hollow.contains(np.array([[40.0, 0, 0]]))[0]
    assert not recwarn.list


def test_a_void_beside_the_block_is_said():
    with pytest.warns(epinn.EpinnWarning, match="does not overlap"):
        same = BLOCK - epinn.Sphere(x=500, y=0, z=0, radius=1)
    assert same == BLOCK


def test_mistakes_are_one_line(rejects):
    with rejects("bor", "bore.side", "x=0"):
        DRILLED.faces("bor")
    with rejects("nothing is left"):
        _ = BLOCK & epinn.Sphere(x=500, y=0, z=0, radius=1)
    with rejects("solids", "Cuboid"):
        _ = BLOCK - PLATE
    with rejects("x, y, z", "z, y, x"):
        _ = BLOCK - epinn.Sphere(z=50, y=50, x=100, radius=1)
    with rejects("radius"):
        epinn.Sphere(x=0, y=0, z=0, radius=-1)
    with rejects("three coordinates"):
        epinn.Cuboid(x=(0, 1), y=(0, 1))
    with rejects("during"):
        epinn.Cuboid(x=(0, 1), y=(0, 1), t=(0, 1))
    with rejects("no zones"):
        epinn.Cuboid(x=(0, 1, 2), y=(0, 1), z=(0, 1))
    with rejects("interval along its axis"):
        epinn.Cylinder(x=0, y=0, z=0, radius=1)
    with rejects("z of the axis"):
        epinn.Cylinder(x=0, y=0, z=(0, 1, 2), radius=1)
    with rejects("planar shape"):
        epinn.Extrusion(BLOCK, z=(0, 1))
    with rejects("three coordinates"):
        epinn.Extrusion(PLATE, x=(0, 1))
    with rejects("name"):
        epinn.Sphere(x=0, y=0, z=0, radius=1, name="a,b")
    with rejects("zones"):
        DRILLED.broken({"x": (50.0,)})
    sensors = np.array([[10.0, 10.0, 10.0], [100.0, 55.0, 10.0]])
    with rejects("1 of 2", "in bore"):
        epinn.Problem(domain=DRILLED, equation=lambda u: u.xx, data=epinn.Data(sensors, np.zeros(2), sigma=0.1)).check()
