"""Domains from files with meshes: planar ones, and solids."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from ...arguments import number
from ...errors import InputError, shown
from ...meshes.mesh import Cells, MeshFile
from ...meshes.read import read_mesh
from ..region import Domain
from .composed import RESERVED, checked_name
from .forms import OutlineForm
from .shape import Shape
from .solid import Solid
from .triangles import MeshForm, Triangles

ALIKE = 1e-12  # of an area: a triangle that has less is a line


def Mesh(file: Any, /, *, scale: float = 1.0, name: str = "") -> Shape | Solid:  # noqa: N802  (named like other domains)
    """`Mesh("part.stl", scale=1e-3)`: what a mesh in a file fills, in x, y and z, or in x and y if it is flat; lengths are
    multiplied by `scale`.

    STL and OBJ have closed surfaces of triangles, Gmsh (.msh) and VTU meshes of cells. Physical groups are the parts of the
    boundary; what is in none is "mesh", and a group without a name is "mesh.3", say. With a name, "part", they are "part.inlet"
    and so on.
    """
    if not isinstance(file, str | Path):
        raise InputError(f"a mesh is in a file, as in Mesh('part.stl'), not {shown(file)}.")
    number(scale, "scale=", positive=True)
    path, name = Path(file), checked_name(name)
    found = read_mesh(path)
    parts = tuple(_part(group, name) for group in found.groups)
    if found.points.shape[1] == 2:
        return _planar(found, parts, path.name, scale, name)
    corners = np.asarray(found.points, np.float64) * scale
    sides = corners[found.facets]
    area = np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]), axis=1)
    kept = area > ALIKE * np.max(area, initial=0)
    if not np.all(np.isfinite(corners)) or not np.any(kept):
        raise InputError(f"{path} has no surface with an area; save the mesh anew.")
    of = tuple(part for part, is_kept in zip(parts, kept, strict=True) if is_kept)
    surface = Triangles(corners, np.asarray(found.facets[kept]), of, found.cells)
    return Solid(MeshForm(name, surface.digest, path.name, surface), ("x", "y", "z"))


def _part(group: str, name: str) -> str:
    """What a part of the boundary is called within its mesh, without what means something in the name of a part."""
    if not group or group.isdigit():
        return ".".join(part for part in ("" if name else "mesh", group) if part)
    return "".join("_" if letter in RESERVED else letter for letter in group).strip()


def _planar(found: MeshFile, parts: tuple[str, ...], file: str, scale: float, name: str) -> Shape:
    points = np.asarray(found.points, np.float64) * scale
    edges = points[found.facets]
    digest = hashlib.sha256(edges.tobytes() + "\n".join(parts).encode()).hexdigest()[:16]
    outline = {tuple(map(tuple, edge.tolist())): part for edge, part in zip(edges, parts, strict=True)}
    return Shape(OutlineForm(name, digest, file, outline, points, found.cells), ("x", "y"))


def own_mesh(domain: Domain) -> tuple[Float[np.ndarray, "n d"], Cells] | None:
    """The points and the cells of the mesh that a domain is, alone; None for others."""
    match domain:
        case Solid(form=MeshForm(surface=surface)):
            return surface.corners, surface.cells
        case Shape(form=OutlineForm(corners=corners, cells=cells)):
            return corners, cells
    return None
