"""Meshes from files: volumes, the divergence theorem, names of groups, scale, set operations, and files that are refused."""

import itertools
import math
import struct
import sys

import jax
import meshio
import numpy as np
import pytest
import trimesh

import epinn
from epinn.meshes import read
from epinn.problem.corners import contradicting_parts
from epinn.problem.domain import sobol
from epinn.problem.geometry.outline import tracks
from epinn.problem.geometry.skin import SHIFT, skins
from epinn.problem.scales import Scales

KEY = jax.random.key(3)


def flux(solid):
    total = 0.0
    for skin in skins(solid.form):
        points, normals = skin.at((sobol(2**14, 2) + SHIFT) % 1)
        total += sum(piece.area for piece in skin.pieces) * np.mean(np.sum(points * normals, axis=1))
    return total


def volume(solid):
    return solid.fill * np.prod(np.subtract(solid.upper, solid.lower))


@pytest.fixture(scope="module")
def torus(tmp_path_factory):
    path = tmp_path_factory.mktemp("mesh") / "torus.stl"
    trimesh.creation.torus(major_radius=50, minor_radius=20, major_sections=64, minor_sections=32).export(path)
    return path


def grid(counts, dimension):
    axes = np.meshgrid(*[np.linspace(0, 1, counts)] * dimension, indexing="ij")
    return np.stack(axes, -1).reshape(-1, dimension)


def simplices(counts, dimension):
    """Every cell of a grid in triangles or tetrahedra, one for each way from its first corner to its last."""
    number = np.arange(counts**dimension).reshape((counts,) * dimension)
    first = number[(slice(-1),) * dimension].ravel()
    strides = counts ** np.arange(dimension)[::-1]
    ways = [np.cumsum([0, *strides[list(order)]]) for order in itertools.permutations(range(dimension))]
    return np.concatenate([first[:, None] + way for way in ways])


@pytest.fixture(scope="module")
def cube(tmp_path_factory):
    """A cube of tetrahedra whose bottom is a group with a name; all else is in one without."""
    points = grid(5, 3)
    inner = np.all((points > 0) & (points < 1), axis=1)
    points[inner] += np.random.default_rng(0).uniform(-0.03, 0.03, (inner.sum(), 3))
    cells = simplices(5, 3)
    sides = np.sort(cells[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3), axis=1)
    unique, number = np.unique(sides, axis=0, return_counts=True)
    faces = unique[number == 1]
    bottom = np.all(points[faces][:, :, 2] == 0, axis=1)
    tags = [np.where(bottom, 1, 2), np.full(len(cells), 3)]
    mesh = meshio.Mesh(
        points,
        [("triangle", faces), ("tetra", cells)],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"hot plate": np.array([1, 2]), "body": np.array([3, 3])},
    )
    path = tmp_path_factory.mktemp("mesh") / "cube.msh"
    mesh.write(path, file_format="gmsh22", binary=False)
    return path


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    """A square with a square hole, in the plane; its left edge is the inlet."""
    points = grid(7, 2)
    cells = simplices(7, 2)
    middles = points[cells].mean(axis=1)
    cells = cells[np.any(np.abs(middles - 0.5) > 1 / 6, axis=1)]
    left = np.flatnonzero(points[:, 0] == 0)
    lines = np.stack([left[:-1], left[1:]], axis=1)
    tags = [np.full(len(lines), 7), np.full(len(cells), 8)]
    mesh = meshio.Mesh(
        np.pad(points, ((0, 0), (0, 1))),
        [("line", lines), ("triangle", cells)],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"inlet": np.array([7, 1])},
    )
    path = tmp_path_factory.mktemp("mesh") / "frame.msh"
    mesh.write(path, file_format="gmsh22", binary=False)
    return path


def test_a_closed_surface_is_a_solid(torus):
    solid, mesh = epinn.Mesh(torus, name="ring"), trimesh.load_mesh(torus)
    assert [part.name for part in solid.faces()] == ["ring"]
    assert volume(solid) == pytest.approx(mesh.volume, rel=0.02)
    assert volume(solid) == pytest.approx(2 * math.pi**2 * 50 * 400, rel=0.03)
    assert flux(solid) / 3 == pytest.approx(mesh.volume, rel=5e-3)
    assert skins(solid.form)[0].area == pytest.approx(mesh.area, rel=1e-9)
    rng = np.random.default_rng(0)
    points = rng.uniform(solid.lower, solid.upper, (5000, 3))
    exact = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 50, points[:, 2]) - 20
    clear = np.abs(exact) > 0.5
    assert np.array_equal(solid.contains(points)[clear], exact[clear] < 0)


def test_points_on_a_mesh_are_even_by_area_and_normals_point_out(torus):
    solid = epinn.Mesh(torus)
    (part,) = solid.faces("mesh")
    with jax.enable_x64(True):
        points, normals = (np.asarray(one) for one in part.placed(2048, "sobol", key=KEY))
    assert np.allclose(solid.form.distance(points), 0, atol=1e-9)
    assert np.all(solid.contains(points))
    assert not np.any(solid.contains(points + 0.01 * normals))
    outer = np.hypot(points[:, 0], points[:, 1]) > 50
    assert np.mean(outer) == pytest.approx(0.5 + 20 / 50 / math.pi, abs=0.01)  # Pappus
    assert np.mean(points[:, 1] > 0) == pytest.approx(0.5, abs=0.01)


def test_a_mesh_goes_with_other_solids(torus):
    cut = epinn.Mesh(torus, name="ring") - epinn.Cuboid(x=(0, 100), y=(-100, 100), z=(-30, 30), name="cut")
    assert volume(cut) == pytest.approx(math.pi**2 * 50 * 400, rel=0.03)
    assert flux(cut) / 3 == pytest.approx(trimesh.load_mesh(torus).volume / 2, rel=5e-3)
    assert {part.name: part.skin.area for part in cut.faces("cut")} == pytest.approx({"cut.x=0": 2 * math.pi * 400}, rel=0.02)


@pytest.mark.usefixtures("quick_compile")
def test_a_small_mesh_can_be_cut_out_of_a_large_solid(tmp_path):
    trimesh.creation.box(extents=(4, 4, 4)).export(tmp_path / "box.stl")
    block = epinn.Cuboid(x=(-50, 50), y=(-50, 50), z=(-50, 50)) - epinn.Mesh(tmp_path / "box.stl", name="slot")
    hollow = block - epinn.Sphere(x=20, y=0, z=0, radius=5, name="void")
    assert np.array_equal(hollow.contains(np.array([[0.0, 0, 0], [20, 0, 0], [3, 0, 0]])), [False, False, True])
    areas = {part.name: part.skin.area for part in hollow.faces("slot, void")}
    assert areas == pytest.approx({"slot": 96, "void": 100 * math.pi}, rel=0.01)


def test_millimetres_become_metres(torus):
    small, large = epinn.Mesh(torus, scale=1e-3), epinn.Mesh(torus)
    assert np.allclose(np.multiply(large.upper, 1e-3), small.upper)

    def points(domain):
        asked = epinn.Problem(domain=domain, equation=lambda u: u.xx + u.yy + u.zz, boundary=epinn.Dirichlet(1.0))
        asked = asked.with_points(collocation=64, boundary=16)
        return [np.asarray(channel.points) for channel in Scales.of(asked).channels(asked, 0)]

    for one, other in zip(points(small), points(large), strict=True):
        assert np.allclose(one, other, atol=1e-5)


def test_the_same_mesh_is_the_same_domain(torus):
    assert epinn.Mesh(torus) == epinn.Mesh(str(torus))
    assert hash(epinn.Mesh(torus)) == hash(epinn.Mesh(torus))
    assert epinn.Mesh(torus) != epinn.Mesh(torus, scale=2.0)


def test_other_formats_of_surfaces(tmp_path):
    box = trimesh.creation.box((1, 2, 3))
    box.export(tmp_path / "box.obj")
    box.export(tmp_path / "box.stl", file_type="stl_ascii")
    for file in ("box.obj", "box.stl"):
        made = epinn.Mesh(tmp_path / file)
        assert (made.lower, made.upper) == ((-0.5, -1, -1.5), (0.5, 1, 1.5))
        points = grid(13, 3) * 4 - 2
        inside = np.all(np.abs(points) <= np.array([0.5, 1, 1.5]) + 1e-9, axis=1)
        assert np.array_equal(made.contains(points), inside)


def test_physical_groups_of_a_mesh_of_cells_are_parts(cube):
    solid = epinn.Mesh(cube)
    assert {part.name: part.skin.area for part in solid.faces()} == pytest.approx({"hot plate": 1, "mesh.2": 5})
    assert flux(solid) / 3 == pytest.approx(1, rel=1e-3)
    _, normals = solid.faces("hot plate")[0].placed(32, "sobol", key=KEY)
    assert np.allclose(normals, [0, 0, -1])
    assert [part.name for part in epinn.Mesh(cube, name="part").faces()] == ["part.hot plate", "part.2"]


def test_values_that_contradict_each_other_where_groups_meet_are_found(cube, frame):
    def asked(file, group, value):
        domain = epinn.Mesh(file)
        rest = [part.name for part in domain.faces() if part.name != group]
        given = [epinn.Dirichlet(value, on=group), epinn.Dirichlet(290.0, on=", ".join(rest))]
        return epinn.Problem(domain=domain, equation=lambda u: u.xx + u.yy, boundary=given)

    for file, group, rest in ((cube, "hot plate", "mesh.2"), (frame, "inlet", "mesh")):
        assert contradicting_parts(asked(file, group, 350.0)) == [f"{group} and {rest}"]
        assert not contradicting_parts(asked(file, group, 290.0))


def test_a_flat_mesh_is_a_shape(frame, rejects):
    shape = epinn.Mesh(frame, scale=6.0)
    assert (shape.lower, shape.upper) == ((0, 0), (6, 6))
    assert shape.fill == pytest.approx(32 / 36)
    assert {track.name: track.length for track in tracks(shape.form)} == pytest.approx({"mesh": 26, "inlet": 6})
    total = 0.0
    for track in tracks(shape.form):
        points, normals = track.at((np.arange(2600) + 0.5) / 2600)
        total += track.length * np.mean(np.sum(points * normals, axis=1))
    assert total / 2 == pytest.approx(32, rel=1e-3)
    assert np.array_equal(shape.contains(np.array([[1.0, 1.0], [3.0, 3.0], [0.0, 3.0]])), [True, False, True])
    assert np.all(shape.contains(np.asarray(shape.points(100, "sobol", key=KEY))))
    solid = epinn.Extrusion(shape, z=(0, 2))
    assert volume(solid) == pytest.approx(64, rel=0.01)
    with rejects("flat mesh"):
        _ = shape - epinn.Disc(x=1, y=1, radius=0.2)


def test_vtu_files_are_read_unless_they_are_compressed(cube, tmp_path, rejects):
    mesh = meshio.read(cube)
    bare = meshio.Mesh(mesh.points, mesh.cells)
    meshio.vtu.write(tmp_path / "cube.vtu", bare, compression=None)
    assert flux(epinn.Mesh(tmp_path / "cube.vtu")) / 3 == pytest.approx(1, rel=1e-3)
    meshio.vtu.write(tmp_path / "small.vtu", bare, compression="zlib")
    plain = tmp_path / "plain.vtu"
    meshio.vtu.write(plain, bare, binary=False)
    field = (
        '<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">0.5</DataArray></FieldData>'
    )
    plain.write_text(plain.read_text().replace("<UnstructuredGrid>", f"<UnstructuredGrid>{field}"))
    assert flux(epinn.Mesh(plain)) / 3 == pytest.approx(1, rel=1e-3)  # data that say nothing of parts
    with rejects("small.vtu", "without compression"):
        epinn.Mesh(tmp_path / "small.vtu")


def test_files_that_are_no_meshes_are_one_line(torus, cube, tmp_path, rejects, monkeypatch):
    with rejects("no file"):
        epinn.Mesh(tmp_path / "missing.stl")
    with rejects("part.step", ".stl"):
        epinn.Mesh(tmp_path / "part.step")
    for name in ("empty.stl", "empty.msh", "empty.vtu", "empty.obj"):
        (tmp_path / name).write_bytes(b"")
        with rejects(name, "empty"):
            epinn.Mesh(tmp_path / name)
    open_surface = trimesh.load_mesh(torus)
    open_surface.update_faces(np.arange(len(open_surface.faces)) > 3)
    open_surface.export(tmp_path / "open.stl")
    with rejects("open.stl", "not watertight"):
        epinn.Mesh(tmp_path / "open.stl")
    for name in ("noise.stl", "noise.obj", "noise.msh", "noise.vtu"):
        (tmp_path / name).write_bytes(bytes(np.random.default_rng(1).integers(0, 256, 5000, np.uint8)))
        with rejects(name):
            epinn.Mesh(tmp_path / name)
    (tmp_path / "liar.stl").write_bytes(b" " * 80 + struct.pack("<I", 2**32 - 1) + b"\0" * 50)
    with rejects("liar.stl"):
        epinn.Mesh(tmp_path / "liar.stl")
    text = cube.read_text()
    (tmp_path / "half.msh").write_text(text[: len(text) // 2])
    with rejects("half.msh"):
        epinn.Mesh(tmp_path / "half.msh")
    lines = meshio.Mesh(np.eye(3), [("line", [[0, 1], [1, 2]])])
    meshio.vtu.write(tmp_path / "lines.vtu", lines, compression=None)
    with rejects("lines.vtu", "no cells with an area"):
        epinn.Mesh(tmp_path / "lines.vtu")
    monkeypatch.setattr(read, "LARGEST", 1000)
    with rejects("MB", "coarser"):
        epinn.Mesh(torus)
    with rejects("scale"):
        epinn.Mesh(torus, scale=-1)
    with rejects("file"):
        epinn.Mesh(3)
    monkeypatch.setattr(read, "LARGEST", 10**9)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with rejects("pip install", "epinn[geometry]"):
        epinn.Mesh(torus)
