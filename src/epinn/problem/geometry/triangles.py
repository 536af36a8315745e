"""Closed surfaces of triangles: which points are inside, how far the surface is, and even points on it."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ...extras import optional
from ...meshes.mesh import Cells
from .bodies import Body, triple
from .combined import in_brackets
from .forms import shapely
from .sheets import Points, Sheet, Triple

REACH = 1e-3  # of the size of a surface: what is farther away than that is far away. What is beside a surface is told by a
# millionth of the size of the domain, so that a mesh may be a hundred times smaller than that
CHUNK = 4096  # points at once
BITS = 10  # along each coordinate, of the order in which triangles follow each other
TURN = (0.6180339887, 0.4142135623, 0.2360679774)  # angles of no special value: rays that meet no corner of a drawing


@dataclass(frozen=True, eq=False)
class Triangles:
    """A closed surface, and what makes it quick to ask."""

    corners: Float[np.ndarray, "n 3"]
    faces: Int[np.ndarray, "m 3"]
    groups: tuple[str, ...]
    cells: Cells  # of the mesh that it bounds

    @cached_property
    def digest(self) -> str:
        content = [np.ascontiguousarray(part).tobytes() for part in (self.corners, self.faces)]
        return hashlib.sha256(b"".join([*content, "\n".join(self.groups).encode()])).hexdigest()[:16]

    @cached_property
    def size(self) -> float:
        return float(np.ptp(self.corners[self.faces.ravel()], axis=0).max())

    @cached_property
    def _turned(self) -> Float[np.ndarray, "n 3"]:
        return np.asarray(self.corners @ _turn())

    @cached_property
    def _tree(self) -> Any:
        """The shadows of all triangles, a little larger than they are."""
        places, margin = self._turned[self.faces][:, :, :2], 2 * REACH * self.size
        low, high = places.min(axis=1) - margin, places.max(axis=1) + margin
        return shapely().STRtree(shapely().box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]))

    def distance(self, points: Points) -> Float[np.ndarray, " n"]:
        """Negative inside; right near the surface, and cut off at what is far away."""
        parts = [self._distance(points[i : i + CHUNK]) for i in range(0, len(points), CHUNK)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _distance(self, points: Points) -> Float[np.ndarray, " n"]:
        turned = points @ _turn()
        of, triangle = self._tree.query(shapely().points(turned[:, :2]))
        above = self._height(turned[of, :2], triangle) - turned[of, 2]  # nothing where a ray misses a triangle
        crossed = np.bincount(of[above > 0], minlength=len(points))
        places = self.corners[self.faces[triangle]]
        reach = REACH * self.size
        near = np.abs(np.sum((points[of] - places[:, 0]) * self._normals[triangle], axis=1)) < reach
        closest = optional("trimesh.triangles", "meshes", "geometry").closest_point(places[near], points[of[near]])
        away = np.full(len(points), reach)
        np.minimum.at(away, of[near], np.linalg.norm(closest - points[of[near]], axis=1))
        return np.where(crossed % 2 == 1, -away, away)

    def _height(self, at: Float[np.ndarray, "k 2"], triangle: Int[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
        """Where vertical rays cross triangles; NaN where they do not. Two triangles agree on which side of their common edge a
        ray passes, since both ask from its corner with the lower number."""
        corners = self.faces[triangle]
        weights = []
        for first, second in ((1, 2), (2, 0), (0, 1)):
            a, b = corners[:, first], corners[:, second]
            low, high = self._turned[np.minimum(a, b)], self._turned[np.maximum(a, b)]
            side, away = (high - low)[:, :2], at - low[:, :2]
            turn = side[:, 0] * away[:, 1] - side[:, 1] * away[:, 0]
            weights.append(np.where(a < b, turn, -turn))
        every = np.stack(weights, axis=1)
        crosses = np.all(every > 0, axis=1) | np.all(every <= 0, axis=1)
        total = every.sum(axis=1)
        crosses &= total != 0
        heights = np.sum(every * self._turned[corners, 2], axis=1) / np.where(total != 0, total, 1.0)
        return np.where(crosses, heights, np.nan)

    @cached_property
    def _normals(self) -> Points:
        return _normals(self.corners[self.faces])[0]


@dataclass(frozen=True)
class MeshForm(Body):
    """What a closed surface of triangles bounds."""

    digest: str  # of the surface, so that equal ones are equal
    file: str = field(compare=False)
    surface: Triangles = field(compare=False, repr=False)

    kind = ""

    def __str__(self) -> str:
        return f"Mesh({self.file!r}{in_brackets(self.name)})"

    def distance(self, points: Points) -> Float[np.ndarray, " n"]:
        return self.surface.distance(points)

    def bounds(self) -> tuple[Triple, Triple]:
        used = self.surface.corners[self.surface.faces.ravel()]
        return triple(used.min(axis=0)), triple(used.max(axis=0))

    def sheets(self) -> list[Sheet]:
        groups = np.array(self.surface.groups)
        corners = self.surface.corners[self.surface.faces]
        return [Facets(corners[groups == name], name) for name in dict.fromkeys(self.surface.groups)]


@dataclass(frozen=True, eq=False)
class Facets(Sheet):
    """Triangles, neighbours after each other."""

    corners: Float[np.ndarray, "m 3 3"]
    tag: str

    is_smooth = False

    @cached_property
    def _ordered(self) -> tuple[Float[np.ndarray, "m 3 3"], Points, Float[np.ndarray, " m"]]:
        """The triangles along a curve that fills space, their normals, and the areas up to each of them."""
        middles = self.corners.mean(axis=1)
        span = np.ptp(middles, axis=0)
        cells = ((middles - middles.min(axis=0)) / np.where(span > 0, span, 1.0) * (2**BITS - 1)).astype(np.int64)
        code = sum(((cells[:, axis] >> bit) & 1) << (3 * bit + axis) for bit in range(BITS) for axis in range(3))
        corners = self.corners[np.argsort(code, kind="stable")]
        normals, areas = _normals(corners)
        return corners, normals, np.cumsum(areas)

    @property
    def area(self) -> float:
        return float(self._ordered[2][-1])

    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        corners, normals, ends = self._ordered
        reached = unit[:, 0] * ends[-1]
        of = np.minimum(np.searchsorted(ends, reached, side="right"), len(ends) - 1)
        begin = np.where(of > 0, ends[of - 1], 0.0)
        along = np.sqrt(np.clip((reached - begin) / np.maximum(ends[of] - begin, np.finfo(float).tiny), 0, 1))
        weights = np.stack([1 - along, along * (1 - unit[:, 1]), along * unit[:, 1]], axis=1)
        return np.einsum("nk,nkd->nd", weights, corners[of]), normals[of]


def _normals(corners: Float[np.ndarray, "m 3 3"]) -> tuple[Points, Float[np.ndarray, " m"]]:
    """Unit normals of triangles, and their areas; nothing for one without an area."""
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice = np.linalg.norm(crossed, axis=1)
    return crossed / np.where(twice > 0, twice, 1.0)[:, None], twice / 2


def _turn() -> Float[np.ndarray, "3 3"]:
    """A rotation by angles of no special value."""
    made = np.eye(3)
    for axis, angle in enumerate(TURN):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        step = np.eye(3)
        step[[i, j], [i, j]] = np.cos(angle)
        step[i, j], step[j, i] = -np.sin(angle), np.sin(angle)
        made = made @ step
    return made
