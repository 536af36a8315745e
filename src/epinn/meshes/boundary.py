"""The boundary of a mesh of cells: the sides that belong to one cell alone, with the groups that they are in."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from ..errors import InputError
from .mesh import Cells, MeshFile

Block = tuple[str, Int[np.ndarray, "_ _"], Sequence[str]]  # cells of one kind, and the group of each

PLANAR = {"triangle": 3, "quad": 4}  # corners, by the beginning of the names that meshio has
SOLID = {  # sides of cells in space, outward by the right-hand rule
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
    "hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
}
FLAT = 1e-9  # of the size of a mesh: one that is no thicker lies in the plane of its first two coordinates


def boundary_of(points: Float[np.ndarray, "n d"], blocks: Sequence[Block]) -> MeshFile:
    """The boundary of a mesh; of a surface in space, which has none, the surface itself."""
    if not np.all(np.isfinite(points)):
        raise InputError("there are points with NaN or infinity; save the mesh anew.")
    for kind, corners, _ in blocks:
        if corners.size and not (corners.min() >= 0 and corners.max() < len(points)):
            raise InputError(f"there are {kind} cells with points that do not exist; save the mesh anew.")
    extent = np.ptp(points, axis=0) if len(points) else np.zeros(3)
    is_flat = points.shape[1] == 2 or extent[2] <= FLAT * extent.max()
    surface, solid = ([one for one in blocks if _shape(one[0]) in shapes] for shapes in (PLANAR, SOLID))
    if solid:
        return _of_solid(points, solid, surface)
    if not surface:
        raise InputError("there are no cells with an area or a volume; save the mesh with its triangles or tetrahedra.")
    return _of_plane(points[:, :2], surface, blocks) if is_flat else _of_surface(points, surface)


def _shape(kind: str) -> str:
    """The kind of a cell without the number of its points: "triangle" for "triangle6", whose sides are taken as straight."""
    return kind.rstrip("0123456789")


def _of_plane(points: Float[np.ndarray, "n 2"], surface: Sequence[Block], blocks: Sequence[Block]) -> MeshFile:
    edges = []
    for kind, corners, _ in surface:
        number = PLANAR[_shape(kind)]
        around = corners[:, :number]
        (x, y), (next_x, next_y) = (np.moveaxis(points[one], 2, 0) for one in (around, np.roll(around, -1, axis=1)))
        is_clockwise = np.sum(x * next_y - y * next_x, axis=1) < 0
        around = np.where(is_clockwise[:, None], around[:, ::-1], around)
        edges.append(np.stack([around, np.roll(around, -1, axis=1)], axis=2).reshape(-1, 2))
    facets = _alone(np.concatenate(edges))
    lines = [(corners[:, :2], groups) for kind, corners, groups in blocks if _shape(kind) == "line"]
    return MeshFile(points, facets, _named(facets, lines), _drawn(surface))


def _of_solid(points: Float[np.ndarray, "n 3"], solid: Sequence[Block], surface: Sequence[Block]) -> MeshFile:
    found: dict[int, list[np.ndarray]] = {3: [], 4: []}
    for kind, corners, _ in solid:
        for side in SOLID[_shape(kind)]:
            found[len(side)].append(corners[:, side])
    sides = [_alone(np.concatenate(of)) for of in found.values() if of]
    given = [(corners[:, : PLANAR[_shape(kind)]], groups) for kind, corners, groups in surface]
    groups = [_named(of, [one for one in given if one[0].shape[1] == of.shape[1]]) for of in sides]
    return _triangles(points, sides, groups, _drawn(solid))


def _of_surface(points: Float[np.ndarray, "n 3"], surface: Sequence[Block]) -> MeshFile:
    sides = [corners[:, : PLANAR[_shape(kind)]] for kind, corners, _ in surface]
    return _triangles(points, sides, [tuple(groups) for _, _, groups in surface], _drawn(surface))


def _triangles(
    points: Float[np.ndarray, "n 3"],
    sides: Sequence[np.ndarray],
    groups: Sequence[tuple[str, ...]],
    drawn: Cells,
) -> MeshFile:
    """Triangles and squares as triangles, refused where they leave a gap."""
    halves = [of if of.shape[1] == 3 else np.concatenate([of[:, [0, 1, 2]], of[:, [0, 2, 3]]]) for of in sides]
    names = [own if of.shape[1] == 3 else own * 2 for of, own in zip(sides, groups, strict=True)]
    facets = np.concatenate(halves)
    edges = np.sort(np.concatenate([facets[:, [0, 1]], facets[:, [1, 2]], facets[:, [2, 0]]]), axis=1)
    if np.any(np.unique(edges, axis=0, return_counts=True)[1] % 2):
        raise InputError("its surface is not watertight: close its gaps and holes, and save it again.")
    return MeshFile(points, facets, tuple(name for own in names for name in own), drawn)


def _alone(sides: Int[np.ndarray, "k corners"]) -> Int[np.ndarray, "m corners"]:
    """The sides that are there once."""
    _, first, number = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    return np.asarray(sides[np.sort(first[number == 1])])


def _named(facets: Int[np.ndarray, "m corners"], given: Sequence[tuple[np.ndarray, Sequence[str]]]) -> tuple[str, ...]:
    """The groups of facets, from the cells that lie on them."""
    names = {
        tuple(corners): name for cells, groups in given for corners, name in zip(np.sort(cells).tolist(), groups, strict=True)
    }
    return tuple(names.get(tuple(corners), "") for corners in np.sort(facets).tolist())


def _drawn(blocks: Sequence[Block]) -> Cells:
    return tuple((kind, corners) for kind, corners, _ in blocks)
