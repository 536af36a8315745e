"""Meshes in files, as their boundaries: closed surfaces of triangles (STL, OBJ), and meshes of cells (Gmsh, VTU)."""

import contextlib
import io
from pathlib import Path
from typing import Any

from ..errors import InputError, one_line
from ..extras import optional
from .boundary import boundary_of
from .mesh import MeshFile

LARGEST = 50 * 2**20  # bytes of a file: a million triangles; text takes some twenty times that while it is read
WHAT = "meshes from files"


def read_mesh(path: Path) -> MeshFile:
    """The mesh in a file."""
    readers = {".stl": _surface, ".obj": _surface, ".msh": _cells, ".vtu": _cells}
    if path.suffix.lower() not in readers:
        raise InputError(f"{path.name} has no format that is read; meshes are in {', '.join(readers)} files.")
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    size = path.stat().st_size
    if size > LARGEST:
        most = f"{LARGEST / 2**20:.0f} MB is the most that is read"
        raise InputError(f"{path} has {size / 2**20:,.0f} MB, and {most}; a coarser mesh will do.")
    if not size:
        raise InputError(f"{path} is empty; save the mesh anew.")
    with contextlib.redirect_stderr(io.StringIO()):  # where packages write what they doubt; what is wrong is raised
        return readers[path.suffix.lower()](path)


def _surface(path: Path) -> MeshFile:
    """A surface of triangles. Nothing that the file refers to is opened."""
    trimesh = optional("trimesh", WHAT, "geometry")
    content, kind = io.BytesIO(path.read_bytes()), path.suffix.lower()[1:]
    try:
        mesh = trimesh.load_mesh(content, file_type=kind, **({"skip_materials": True} if kind == "obj" else {}))
        mesh.merge_vertices(merge_tex=True, merge_norm=True)
        is_closed, found = bool(mesh.is_watertight), len(mesh.faces)
    except Exception as error:  # whatever a damaged file makes of a reader
        raise _damaged(path, error) from None
    if not found:
        raise InputError(f"{path} has no triangles; save the surface of a solid.")
    if not is_closed:
        raise InputError(f"the surface in {path} is not watertight: close its gaps and holes, and save it again.")
    return MeshFile(mesh.vertices, mesh.faces, ("",) * found, (("triangle", mesh.faces),))


def _cells(path: Path) -> MeshFile:
    """The boundary of a mesh of cells, with the names of its physical groups."""
    if path.suffix.lower() == ".vtu" and b"compressor=" in path.read_bytes()[:4096]:
        raise InputError(f"{path} is compressed, and could become as large as it wants to; save it without compression.")
    module = optional("meshio.gmsh" if path.suffix.lower() == ".msh" else "meshio.vtu", WHAT, "geometry")
    try:
        mesh: Any = module.read(str(path))
        groups = _groups(mesh)
        return boundary_of(mesh.points, [(block.type, block.data, own) for block, own in zip(mesh.cells, groups, strict=True)])
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except Exception as error:
        raise _damaged(path, error) from None


def _groups(mesh: Any) -> list[list[str]]:
    """The name of the physical group of every cell, block by block; of one without a name its number."""
    if "gmsh:physical" not in mesh.cell_data:  # other data of a field say nothing of parts
        return [[""] * len(block.data) for block in mesh.cells]
    names = {(int(number), int(dimension)): name for name, (number, dimension) in mesh.field_data.items()}
    numbers = mesh.cell_data["gmsh:physical"]
    return [
        [names.get((int(one), block.dim), str(one) if one else "") for one in own]
        for block, own in zip(mesh.cells, numbers, strict=True)
    ]


def _damaged(path: Path, error: BaseException) -> InputError:
    return InputError(f"{path} cannot be read as a mesh ({one_line(error)}); save it anew.")
