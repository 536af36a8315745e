"""A band as a table, as arrays over the domain, and as files for ParaView."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from ...errors import InputError
from ...extras import optional
from ...meshes.mesh import Cells
from ...posterior.gaussian import quantile
from ...posterior.posterior import Posterior
from ...problem.checks import as_points
from ...problem.domain import Box
from ...problem.region import TIME
from ..store.files import write_atomically
from .places import Places

CELLS = {1: "line", 2: "quad", 3: "hexahedron"}  # of VTK, by dimension
CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))  # in the order of VTK

Statistics = dict[str, Float[np.ndarray, " n"]]


def statistics(posterior: Posterior, points: Any, *, level: float, draws: int, key: PRNGKeyArray | int) -> Statistics:
    """Mean, standard deviation and ends of the band of every field: "u_mean", "u_std", "u_lower", "u_upper"."""
    if not 0 < level < 1:
        raise InputError(f"the level of a band lies between 0 and 1, unlike {level:g}.")
    found = posterior.predict(points, draws=draws, key=key)
    columns: Statistics = {}
    for i, name in enumerate(posterior.problem.fields):
        mean, std = found if found.mean.ndim == 1 else found.column(i)
        half = quantile(level) * std
        columns |= {f"{name}_mean": mean, f"{name}_std": std, f"{name}_lower": mean - half, f"{name}_upper": mean + half}
    return columns


def on_grid(posterior: Posterior, at: Places, **options: Any) -> Statistics:
    """The statistics at all places of a grid; no numbers outside a shape."""
    points, domain = at.points, posterior.problem.domain
    if isinstance(domain, Box):
        return statistics(posterior, points, **options)
    inside = domain.contains(points)
    found = statistics(posterior, points[inside], **options)
    columns = {name: np.full(len(points), np.nan) for name in found}
    for name, values in found.items():
        columns[name][inside] = values
    return columns


def to_dataframe(posterior: Posterior, points: Any, **options: Any) -> Any:
    """One row for each point: its coordinates, and the statistics there."""
    pandas = optional("pandas", "data frames", "data")
    domain = posterior.problem.domain
    rows = np.asarray(as_points(points, domain))
    columns = {**dict(zip(domain.coordinates, rows.T, strict=True)), **statistics(posterior, rows, **options)}
    return pandas.DataFrame(columns)


def to_xarray(posterior: Posterior, at: Places, **options: Any) -> Any:
    """Arrays over the free coordinates; those that are held are scalar coordinates."""
    xarray = optional("xarray", "arrays with names", "data")
    found = on_grid(posterior, at, **options)
    coordinates = {name: axis[0] if name in at.held else axis for name, axis in at.axes.items()}
    arrays = {name: (at.free, values.reshape(at.shape)) for name, values in found.items()}
    return xarray.Dataset(arrays, coordinates)


def to_vtu(posterior: Posterior, path: Path, at: Places, **options: Any) -> Path:
    """Write a grid with the statistics at its points; with several times, one file each and a .pvd that lists them.

    Gives back the file to open.
    """
    meshio = optional("meshio", "files for ParaView", "geometry")
    space = tuple(name for name in at.free if name != TIME) or at.free
    is_series = TIME in at.free and TIME not in space
    _check(path, space, at, is_series)
    places, cells = _mesh([at.axes[name] for name in space])
    found = {name: values.reshape(at.shape) for name, values in on_grid(posterior, at, **options).items()}

    def write(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
        values = {name: array.ravel() for name, array in arrays.items()}
        _write(file, _as_file(meshio.Mesh(places, [(CELLS[len(space)], cells)], point_data=values)))

    if not is_series:
        write(path, found)
        return path
    times, axis = at.axes[TIME], at.free.index(TIME)
    files = [path.with_name(f"{path.stem}-{i:0{len(str(len(times)))}}.vtu") for i in range(len(times))]
    for i, file in enumerate(files):
        write(file, {name: np.take(array, i, axis) for name, array in found.items()})
    listing = path.with_suffix(".pvd")
    _write(listing, _series(files, times))
    return listing


def to_vtu_on_mesh(posterior: Posterior, path: Path, points: np.ndarray, cells: Cells, **options: Any) -> Path:
    """Write the statistics at the points of a mesh."""
    meshio = optional("meshio", "files for ParaView", "geometry")
    _check_name(path, (".vtu",))
    values = statistics(posterior, points, **options)
    places = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    _write(path, _as_file(meshio.Mesh(places, list(cells), point_data=values)))
    return path


def _check_name(path: Path, ends: tuple[str, ...]) -> None:
    if path.suffix not in ends:
        raise InputError(f"the name of a file for ParaView ends with {' or '.join(ends)}, unlike {path.name!r}.")


def _check(path: Path, space: tuple[str, ...], at: Places, is_series: bool) -> None:
    """Refuse what ParaView cannot show, before anything is computed."""
    _check_name(path, (".vtu", ".pvd") if is_series else (".vtu",))
    if not 1 <= len(space) <= len(CELLS):
        raise InputError(
            f"ParaView shows one to three dimensions, and there are {len(space)}; hold others at a value, at={{'x': 0.5}} say."
        )
    if min(len(at.axes[name]) for name in space) < 2:
        raise InputError("a grid for ParaView needs at least 2 points along each coordinate; at= holds one at a value.")


def _mesh(axes: list[np.ndarray]) -> tuple[Float[np.ndarray, "n 3"], Int[np.ndarray, "cells corners"]]:
    """The points of a grid, in three dimensions as VTK has them, and the points at the corners of each cell."""
    shape = [len(axis) for axis in axes]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))
    points = np.pad(grid, ((0, 0), (0, 3 - len(axes))))
    number = np.arange(len(points)).reshape(shape)
    corners = [corner[: len(axes)] for corner in CORNERS[: 2 ** len(axes)]]
    cells = [number[tuple(slice(o, n - 1 + o) for o, n in zip(corner, shape, strict=True))].ravel() for corner in corners]
    return points, np.stack(cells, axis=1)


def _as_file(mesh: Any) -> bytes:
    """What a file with a mesh holds; meshio writes to names alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mesh.vtu"
        mesh.write(path)
        return path.read_bytes()


def _series(files: list[Path], times: np.ndarray) -> bytes:
    """ParaView's list of files and times."""
    root = ElementTree.Element("VTKFile", type="Collection", version="0.1")
    collection = ElementTree.SubElement(root, "Collection")
    for file, time in zip(files, times, strict=True):
        ElementTree.SubElement(collection, "DataSet", timestep=repr(float(time)), file=file.name)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another place.") from None
