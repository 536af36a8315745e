"""What leaves for other programs: every value at its own place, under its name, and a cell with its corners in order."""

import sys
from xml.etree import ElementTree

import jax.numpy as jnp
import meshio
import numpy as np
import pytest
import xarray

import epinn
from epinn.app.band.export import to_dataframe, to_vtu, to_xarray
from epinn.app.band.places import places
from epinn.derivatives.network import Opaque, Solution
from epinn.posterior.sampler import FiniteSampler

pytestmark = pytest.mark.usefixtures("quick_compile")

HOW = {"level": 0.95, "draws": 10, "key": 0}
WEIGHTS = {"x": 1.0, "y": 10.0, "z": 100.0, "t": 1000.0}


class Two(FiniteSampler):
    """u = x + 10 y + 100 z + 1000 t ± 0.5 and, where there are two fields, v = -2 u."""

    weights: tuple[float, ...]
    fields: int

    @property
    def members(self):
        return 2

    def solution(self, index):
        return Solution(Opaque(self._value(index)), {})

    def _value(self, index):
        return lambda x: (
            jnp.stack([x @ jnp.asarray(self.weights) + index - 0.5] * self.fields) * jnp.array([1.0, -2.0])[: self.fields]
        )


def posterior(fields=("u",), **box):
    problem = epinn.Problem(epinn.Box(**box), lambda u: u, fields=fields)
    return epinn.Posterior(Two(tuple(WEIGHTS[name] for name in box), len(fields)), problem, "two")


def expected(coordinates):
    return sum(WEIGHTS[name] * np.asarray(values) for name, values in coordinates.items())


def test_a_table_has_a_row_for_each_point():
    found = to_dataframe(posterior(("u", "v"), x=(0, 1), t=(0, 2)), [[0.5, 1.0], [0.25, 2.0]], **HOW)
    names = [f"{field}_{what}" for field in "uv" for what in ("mean", "std", "lower", "upper")]
    assert list(found.columns) == ["x", "t", *names]
    np.testing.assert_allclose(found["u_mean"], expected(found[["x", "t"]]), rtol=1e-6)
    np.testing.assert_allclose(found["v_mean"], -2 * found["u_mean"], rtol=1e-6)
    np.testing.assert_allclose(found["v_std"], 1.0, rtol=1e-3)
    np.testing.assert_allclose(found["v_upper"] - found["v_lower"], 2 * 1.959964, rtol=1e-3)


def test_arrays_have_the_coordinates_as_dimensions(tmp_path):
    two = posterior(x=(0, 1), y=(0, 2), t=(0, 3))
    found = to_xarray(two, places(two.problem, {"x": 3, "y": [0.5, 1.5]}, {"t": 2.5}), **HOW)
    assert dict(found.sizes) == {"x": 3, "y": 2}
    assert found.t.item() == 2.5
    np.testing.assert_allclose(found.u_mean, found.x + 10 * found.y + 1000 * found.t, rtol=1e-6)
    found.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    data = epinn.Data.from_file(tmp_path / "a.nc", coordinates=("t", "y", "x"), value="u_mean", sigma="u_std")
    np.testing.assert_allclose(data.values, data.points @ [1000.0, 10.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize(("box", "kind"), [({"x": (0, 2)}, "line"), ({"x": (0, 2), "y": (1, 2)}, "quad")])
def test_one_and_two_dimensions_for_paraview(tmp_path, box, kind):
    two = posterior(**box)
    assert to_vtu(two, tmp_path / "a.vtu", places(two.problem, 3, None), **HOW) == tmp_path / "a.vtu"
    mesh = meshio.read(tmp_path / "a.vtu")
    (cells,) = mesh.cells
    assert (cells.type, len(cells.data)) == (kind, 2 ** len(box))
    columns = dict(zip(box, mesh.points.T, strict=False))
    np.testing.assert_allclose(mesh.point_data["u_mean"], expected(columns), rtol=1e-6)
    assert {*mesh.point_data} == {"u_mean", "u_std", "u_lower", "u_upper"}


def test_hexahedra_have_their_corners_in_order(tmp_path):
    two = posterior(x=(0, 1), y=(0, 2), z=(0, 3))
    to_vtu(two, tmp_path / "a.vtu", places(two.problem, {"x": 2, "y": 3, "z": 4}, None), **HOW)
    mesh = meshio.read(tmp_path / "a.vtu")
    corners = mesh.points[mesh.cells_dict["hexahedron"]]
    assert corners.shape == (1 * 2 * 3, 8, 3)
    edges = [corners[:, i] - corners[:, 0] for i in (1, 3, 4)]
    np.testing.assert_allclose(np.linalg.det(np.stack(edges, axis=1)), 1.0)  # positive: not inside out
    np.testing.assert_allclose(corners[:, 6] - corners[:, 0], sum(edges))
    np.testing.assert_allclose(corners[:, 2] - corners[:, 1], edges[1])
    np.testing.assert_allclose(corners[:, 5] - corners[:, 4], edges[0])
    np.testing.assert_allclose(corners[:, 7] - corners[:, 4], edges[1])
    np.testing.assert_allclose(mesh.point_data["u_mean"], expected(dict(zip("xyz", mesh.points.T, strict=True))), rtol=1e-6)


@pytest.mark.parametrize("name", ["rod.vtu", "rod.pvd"])
def test_times_are_a_series(tmp_path, name):
    two = posterior(t=(0, 3), x=(0, 1))  # time first, and still no axis of space
    listing = to_vtu(two, tmp_path / name, places(two.problem, {"t": [0.0, 0.1, 3.0], "x": 4}, None), **HOW)
    assert listing == tmp_path / "rod.pvd"
    entries = ElementTree.parse(listing).findall("Collection/DataSet")
    assert [float(entry.get("timestep")) for entry in entries] == [0.0, 0.1, 3.0]
    for entry in entries:
        mesh = meshio.read(tmp_path / entry.get("file"))
        wanted = expected({"x": mesh.points[:, 0], "t": float(entry.get("timestep"))})
        np.testing.assert_allclose(mesh.point_data["u_mean"], wanted, rtol=1e-6, atol=1e-6)
    assert len(list(tmp_path.iterdir())) == 4


def test_where_there_is_only_time_it_is_the_axis(tmp_path):
    two = posterior(t=(0, 3))
    to_vtu(two, tmp_path / "a.vtu", places(two.problem, 4, None), **HOW)
    np.testing.assert_allclose(meshio.read(tmp_path / "a.vtu").points[:, 0], [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("grid", "at", "words"),
    [
        ({"w": 3}, None, ("no coordinate 'w'",)),
        (None, {"w": 3.0}, ("no coordinate 'w'",)),
        ({"x": 3}, {"x": 0.5}, ("x", "grid=", "at=")),
        ({"x": 1}, None, ("x", "at least 2", "at=")),
        ({"x": "many"}, None, ("x", "'many'")),
        ({"x": [1.0, 0.5]}, None, ("x", "rise")),
        (None, {"x": "begin"}, ("x", "'begin'")),
        (None, {"x": float("nan")}, ("x", "nan")),
        (True, None, ("x", "True")),
    ],
)
def test_wrong_grids_are_one_line(rejects, grid, at, words):
    with rejects(*words):
        places(posterior(x=(0, 1), t=(0, 2)).problem, grid, at)


def test_what_paraview_cannot_have_is_one_line(tmp_path, rejects, monkeypatch):
    two = posterior(x=(0, 1), t=(0, 2))
    still = places(two.problem, 3, {"t": 1.0})
    with rejects(".vtu", "'a.vtk'"):
        to_vtu(two, tmp_path / "a.vtk", still, **HOW)
    with rejects("one to three dimensions", "there are 0"):
        to_vtu(two, tmp_path / "a.vtu", places(two.problem, 3, {"x": 0.5, "t": 1.0}), **HOW)
    with rejects("at least 2 points"):
        to_vtu(two, tmp_path / "a.vtu", places(two.problem, {"x": [0.5]}, {"t": 1.0}), **HOW)
    with rejects("cannot be written", "nowhere"):
        to_vtu(two, tmp_path / "nowhere" / "a.vtu", still, **HOW)
    with rejects("level", "95"):
        to_xarray(two, still, **{**HOW, "level": 95.0})
    monkeypatch.setitem(sys.modules, "meshio", None)
    with rejects("meshio", "pip install 'epinn[geometry]'"):
        to_vtu(two, tmp_path / "a.vtu", still, **HOW)


@pytest.mark.parametrize("package", ["pandas", "xarray"])
def test_without_the_packages_the_extra_is_named(rejects, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    two = posterior(x=(0, 1))
    with rejects(package, "pip install 'epinn[data]'"):
        to_dataframe(two, [0.5], **HOW) if package == "pandas" else to_xarray(two, places(two.problem, 3, None), **HOW)


# By a band


@pytest.fixture(scope="module")
def band():
    problem = epinn.problems.poisson1d(noise=0.1, key=0)
    pinn = epinn.fit(problem, base=epinn.Base(hidden=(8, 8), epochs=20, newton=0, restarts=0))
    return epinn.attach(pinn, method="laplace", settings={"samples": 10})


def test_a_band_says_how_far_to_trust_what_leaves(band, tmp_path, rejects):
    dataset = band.to_xarray(grid=11)
    prediction = band.predict(np.linspace(-1, 1, 11))
    np.testing.assert_allclose(dataset.u_mean, prediction.mean)
    np.testing.assert_allclose(dataset.u_upper, prediction.mean + 1.959964 * prediction.std, rtol=1e-6)
    dataset.to_netcdf(tmp_path / "band.nc", engine="h5netcdf")
    about = xarray.load_dataset(tmp_path / "band.nc", engine="h5netcdf").attrs
    assert (about["method"], about["verdict"], about["epinn"]) == ("laplace", band.verdict.word, epinn.__version__)
    frame = band.to_dataframe([-0.5, 0.5])
    assert frame.attrs["verdict"] == band.verdict.word
    np.testing.assert_allclose(frame["u_std"], band.predict([-0.5, 0.5]).std)
    assert len(band.to_dataframe(grid={"x": 5})) == 5
    assert band.to_vtu(tmp_path / "band.vtu", grid=5) == tmp_path / "band.vtu"
    with rejects("points", "grid"):
        band.to_dataframe([-0.5, 0.5], grid=3)
