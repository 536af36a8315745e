"""NetCDF and MAT: arrays over coordinates become one row for each value, with the right coordinates."""

import h5py
import numpy as np
import pytest
import xarray
from scipy import io

from epinn.tables import table as table_module
from epinn.tables.read import read
from epinn.tables.table import Wanted

X, TIMES = np.array([0.0, 0.5, 1.0]), np.array([0.0, 2.0])
U = 10 * X[:, None] + TIMES  # what it is at any place tells the place
WANTED = Wanted(("x", "t"), ("u",))


def check(table, wanted=WANTED):
    assert (len(table), table.headers) == (U.size, wanted.names)
    columns = dict(zip(table.headers, table.columns, strict=True))
    np.testing.assert_allclose(columns["u"], 10 * columns["x"] + columns["t"])
    assert len({*zip(columns["x"], columns["t"], strict=True)}) == U.size


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])  # NetCDF 4 and NetCDF 3
@pytest.mark.parametrize("dims", [("x", "t"), ("t", "x")])
def test_netcdf(tmp_path, engine, dims):
    values = U if dims == ("x", "t") else U.T
    coords = {"x": ("x", X, {"units": "cm"}), "t": ("t", TIMES, {"units": "minutes since 2024-05-01"})}
    xarray.Dataset({"u": (dims, values, {"units": "degC"})}, coords).to_netcdf(tmp_path / "a.nc", engine=engine)
    table = read(tmp_path / "a.nc", WANTED)
    check(table)
    assert [table.unit(name) for name in WANTED.names] == ["cm", "minutes since 2024-05-01", "degC"]


def test_stations_have_places_of_their_own(tmp_path):
    dataset = xarray.Dataset({"u": (("station", "t"), U), "x": ("station", X)}, {"t": TIMES})
    dataset.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    check(read(tmp_path / "a.nc", WANTED))


def test_a_dimension_that_is_no_coordinate_is_refused(tmp_path, rejects):
    xarray.Dataset({"u": (("x", "t"), U)}, {"x": X, "t": TIMES}).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with rejects("'u'", "'t'", "none of the coordinates"):
        read(tmp_path / "a.nc", Wanted(("x",), ("u",)))
    with rejects("no column 'uu'", "'u'"):
        read(tmp_path / "a.nc", Wanted(("x", "t"), ("uu",)))


def hdf5(path, arrays):
    """As MATLAB writes it since version 7.3."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file[name] = np.atleast_2d(array).T
        file.create_group("settings")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")


@pytest.mark.parametrize("write", [io.savemat, hdf5])
@pytest.mark.parametrize("coordinates", [("x", "t"), ("t", "x")])
def test_matlab_over_a_grid(tmp_path, write, coordinates):
    write(tmp_path / "a.mat", {"x": X, "t": TIMES, "u": U})
    wanted = Wanted(coordinates, ("u",))
    check(read(tmp_path / "a.mat", wanted), wanted)


@pytest.mark.parametrize("write", [io.savemat, hdf5])
def test_matlab_in_columns(tmp_path, write):
    x, t = np.meshgrid(X, TIMES, indexing="ij")
    write(tmp_path / "flat.mat", {"x": x.ravel(), "t": t.ravel(), "u": U.ravel()})
    write(tmp_path / "mesh.mat", {"x": x, "t": t, "u": U})
    check(read(tmp_path / "flat.mat", WANTED))
    check(read(tmp_path / "mesh.mat", WANTED))


def test_where_axes_are_of_one_length_they_are_in_the_order_of_the_coordinates(tmp_path):
    io.savemat(tmp_path / "a.mat", {"x": X, "y": X, "u": 10 * X[:, None] + X})
    x, y, u = read(tmp_path / "a.mat", Wanted(("x", "y"), ("u",))).columns
    np.testing.assert_allclose(u, 10 * x + y)


@pytest.mark.parametrize("write", [io.savemat, hdf5])
def test_what_is_wrong_with_a_mat_file(tmp_path, rejects, monkeypatch, write):
    path = tmp_path / "a.mat"
    write(path, {"x": X, "t": TIMES, "u": U, "v": U[:2]})
    with rejects("do not belong together", "v (2, 2)"):
        read(path, Wanted(("x", "t"), ("v",)))
    with rejects("no column 'usol'"):
        read(path, Wanted(("x", "t"), ("usol",)))
    monkeypatch.setattr(table_module, "LARGEST", 16)
    with rejects("thin"):
        read(path, WANTED)


def test_what_is_no_array_of_numbers(tmp_path, rejects):
    io.savemat(tmp_path / "old.mat", {"x": X, "u": "text"})
    hdf5(tmp_path / "new.mat", {"x": X})
    for name, value in (("old", "u"), ("new", "settings")):
        with rejects("not an array of numbers", f"'{value}'"):
            read(tmp_path / f"{name}.mat", Wanted(("x",), (value,)))


@pytest.mark.parametrize("name", ["a.nc", "a.mat"])
@pytest.mark.parametrize("content", [b"x,T\n1,2\n", b"\x89HDF\r\n\x1a\n" + 100 * b"\0", b"CDF\x01" + 20 * b"\0"])
def test_damaged_files_are_one_line(tmp_path, rejects, name, content):
    (tmp_path / name).write_bytes(content)
    with rejects(name):
        read(tmp_path / name, WANTED)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("cut", [40, 600, 2000])
def test_a_damaged_netcdf_file_is_refused_without_a_traceback_of_its_reader(cut, tmp_path, rejects):
    path = tmp_path / "lab.nc"
    xarray.Dataset({"T": ("x", np.ones(3))}, {"x": [0.1, 0.2, 0.3]}).to_netcdf(path, engine="h5netcdf")
    content = path.read_bytes()
    path.write_bytes(content[:cut] + bytes(64) + content[cut + 64 :])
    with rejects("damaged"):
        read(path, Wanted(("x",), ("T",)))
