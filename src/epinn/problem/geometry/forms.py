"""Planar figures. The polygons of shapely, with many corners on a curved edge, are for what needs areas: what is left of a
figure, how large it is, the box around it.
"""

import functools
import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from ...errors import InputError
from ...meshes.mesh import Cells
from .combined import Combined, Figure, Form, in_brackets
from .curve import Curve, Pair

CORNERS = 1024  # of the polygon that stands for an ellipse: its area is then right to 1e-5


def shapely() -> Any:
    """The package, imported when a shape is made."""
    try:
        import shapely
    except ImportError as error:
        raise InputError("shapes need the package shapely: pip install 'epinn[geometry]'.") from error
    return shapely


@dataclass(frozen=True)
class PlanarFigure(Figure):
    """A figure of the plane."""

    @abstractmethod
    def curves(self) -> list[Curve]:
        """Its boundary, the inside on the left."""

    @abstractmethod
    def polygon(self) -> Any:
        """Nearly the same for shapely."""


@functools.lru_cache(maxsize=64)
def polygon(form: Form) -> Any:
    """A form of the plane as a polygon of shapely's, nearly."""
    if isinstance(form, Combined):
        one, other = polygon(form.first), polygon(form.second)
        return {"|": one.union, "&": one.intersection, "-": one.difference}[form.operation](other)
    assert isinstance(form, PlanarFigure)
    return form.polygon()


@dataclass(frozen=True)
class RectangleForm(PlanarFigure):
    """The product of two intervals of coordinates with names."""

    coordinates: tuple[str, str]
    lower: Pair
    upper: Pair

    kind = ""

    def __str__(self) -> str:
        ends = (f"{n}=({a:g}, {b:g})" for n, a, b in zip(self.coordinates, self.lower, self.upper, strict=True))
        return f"Rectangle({', '.join(ends)}{in_brackets(self.name)})"

    def distance(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, " n"]:
        beyond = np.maximum(np.asarray(self.lower) - points, points - np.asarray(self.upper))
        return np.asarray(beyond.max(axis=1))

    def polygon(self) -> Any:
        return shapely().box(*self.lower, *self.upper)

    def curves(self) -> list[Curve]:
        (x, y), (low, bottom), (high, top) = self.coordinates, self.lower, self.upper
        return [
            Curve.edge((low, top), (low, bottom), f"{x}={low:.12g}"),
            Curve.edge((high, bottom), (high, top), f"{x}={high:.12g}"),
            Curve.edge((low, bottom), (high, bottom), f"{y}={bottom:.12g}"),
            Curve.edge((high, top), (low, top), f"{y}={top:.12g}"),
        ]


@dataclass(frozen=True)
class EllipseForm(PlanarFigure):
    """Around a centre, with the first radius turned by an angle; a disc if both are equal."""

    coordinates: tuple[str, str]
    center: Pair
    radii: Pair
    angle: float  # in degrees, counterclockwise

    @property
    def kind(self) -> str:
        return "disc" if self.radii[0] == self.radii[1] else "ellipse"

    def __str__(self) -> str:
        at = ", ".join(f"{name}={value:g}" for name, value in zip(self.coordinates, self.center, strict=True))
        if self.kind == "disc":
            return f"Disc({at}, radius={self.radii[0]:g}{in_brackets(self.name)})"
        turned = f", angle={self.angle:g}" if self.angle else ""
        return f"Ellipse({at}, radii=({self.radii[0]:g}, {self.radii[1]:g}){turned}{in_brackets(self.name)})"

    @property
    def _turn(self) -> np.ndarray:
        """Unit vectors along both axes, in rows."""
        cosine, sine = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        return np.array([[cosine, sine], [-sine, cosine]])

    def distance(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, " n"]:
        own = (points - np.asarray(self.center)) @ self._turn.T / np.asarray(self.radii)
        level, slope = np.linalg.norm(own, axis=1), np.linalg.norm(own / np.asarray(self.radii), axis=1)
        return np.where(slope > 0, level * (level - 1) / np.where(slope > 0, slope, 1.0), -min(self.radii))

    def polygon(self) -> Any:
        (curve,) = self.curves()
        return shapely().Polygon(curve.points(np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)))

    def curves(self) -> list[Curve]:
        cosine, sine = (tuple((radius * axis).tolist()) for radius, axis in zip(self.radii, self._turn, strict=True))
        return [Curve(self.center, (0.0, 0.0), cosine, sine, 2 * math.pi)]


@dataclass(frozen=True)
class PolygonForm(PlanarFigure):
    """By its corners, either way around."""

    coordinates: tuple[str, str]
    corners: tuple[Pair, ...]

    kind = "polygon"

    def __str__(self) -> str:
        of = (f"{name}=({', '.join(f'{c[i]:g}' for c in self.corners)})" for i, name in enumerate(self.coordinates))
        return f"Polygon({', '.join(of)}{in_brackets(self.name)})"

    def distance(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, " n"]:
        return _from_edges(self.polygon(), points)

    @functools.lru_cache(maxsize=64)  # noqa: B019  (a value, as small as its corners)
    def polygon(self) -> Any:
        made = shapely().Polygon(self.corners)
        shapely().prepare(made)
        return made

    def curves(self) -> list[Curve]:
        ends = zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True)
        way = 1 if self.polygon().exterior.is_ccw else -1
        return [Curve.edge(pair[::way][0], pair[::way][1], str(number)) for number, pair in enumerate(ends, start=1)]


@dataclass(frozen=True)
class OutlineForm(PlanarFigure):
    """What straight edges bound, the inside on their left; there may be holes."""

    digest: str  # of the edges, so that equal ones are equal
    file: str = field(compare=False)
    parts: dict[Any, str] = field(compare=False, repr=False)  # names by edge, from one point to another
    corners: Float[np.ndarray, "n 2"] = field(compare=False, repr=False)  # of the mesh that it bounds
    cells: Cells = field(compare=False, repr=False)

    kind = ""

    def __str__(self) -> str:
        return f"Mesh({self.file!r}{in_brackets(self.name)})"

    def distance(self, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, " n"]:
        return _from_edges(self.polygon(), points)

    @functools.lru_cache(maxsize=16)  # noqa: B019  (a value, as small as its edges)
    def polygon(self) -> Any:
        lines = shapely().linestrings(np.array(list(self.parts)))
        made = shapely().build_area(shapely().geometrycollections(lines))
        shapely().prepare(made)
        return made

    def curves(self) -> list[Curve]:
        """All edges, one after the other around every ring."""
        parts = shapely().get_parts(shapely().orient_polygons(self.polygon()))
        rings = [np.asarray(ring.coords) for one in parts for ring in (one.exterior, *one.interiors)]
        edges = [(tuple(a), tuple(b)) for ring in rings for a, b in zip(ring[:-1].tolist(), ring[1:].tolist(), strict=True)]
        return [Curve.edge(a, b, self.parts.get((a, b), self.parts.get((b, a), ""))) for a, b in edges]


def _from_edges(polygon: Any, points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, " n"]:
    """How far points are from the edges of a polygon, negative inside."""
    package = shapely()
    away = package.distance(package.boundary(polygon), package.points(points))
    return np.asarray(np.where(package.contains_xy(polygon, points), -away, away))
