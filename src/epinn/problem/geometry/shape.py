"""Planar shapes as domains: rectangles, discs, ellipses and polygons, and what `|`, `-` and `&` make of them."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import numpy as np

from ...arguments import is_number, text
from ...errors import EpinnWarning, InputError, shown
from ..checks import as_numbers
from ..domain import Box
from ..region import TIME, Part, no_zones
from .during import During
from .forms import Combined, EllipseForm, Form, PolygonForm, RectangleForm, shapely
from .inside import Irregular
from .outline import Track, tracks
from .surface import Surface

ON = 1e-6  # of the size of a shape: so near its boundary a point is on it
NOTHING = 1e-9  # of an area: as good as nothing
SIDES = 4  # the boundary of a shape has as many points as that of a box, shared out by length
LISTED = 12  # names of parts in a message
RESERVED = ",=."  # characters that mean something in the name of a part


class Shape(Irregular):
    """A part of the plane. Points on its boundary, and normals, are exact on curved edges too."""

    form: Form = eqx.field(static=True)
    coordinates: tuple[str, ...] = eqx.field(static=True)
    lower: tuple[float, ...] = eqx.field(static=True)
    upper: tuple[float, ...] = eqx.field(static=True)
    breaks: tuple[tuple[float, ...], ...] = eqx.field(static=True)

    def __init__(self, form: Form, coordinates: tuple[str, ...]):
        if form.polygon().area <= NOTHING * max(figure.polygon().area for figure in form.figures()):
            raise InputError(f"nothing is left of {form}: look at the places and sizes of its parts.")
        bounds = form.polygon().bounds
        self.form, self.coordinates, self.breaks = form, coordinates, ((), ())
        self.lower, self.upper = bounds[:2], bounds[2:]

    def __repr__(self) -> str:
        return str(self.form)

    def __or__(self, other: Any) -> "Shape":
        return self._combined("|", other)

    def __and__(self, other: Any) -> "Shape":
        return self._combined("&", other)

    def __sub__(self, other: Any) -> "Shape":
        made = self._combined("-", other)
        whole = self.form.polygon().area
        if whole - made.form.polygon().area <= NOTHING * whole:
            warnings.warn(f"{other!r} does not overlap {self!r}: nothing was taken away.", EpinnWarning, stacklevel=2)
            return self
        return made

    def _combined(self, operation: str, other: Any) -> "Shape":
        if isinstance(other, During):
            raise InputError("combine shapes before time comes in: (one - other).during(t=(0, 60)).")
        if not isinstance(other, Shape):
            raise InputError(f"a shape goes with shapes only, such as Rectangle(x=(0, 2), y=(0, 1)); got {shown(other)}.")
        if self.coordinates != other.coordinates:
            mine, its = (", ".join(one.coordinates) for one in (self, other))
            raise InputError(f"shapes to combine have the same coordinates in the same order; these have {mine} and {its}.")
        return Shape(Combined(operation, self.form, other.form), self.coordinates)

    def during(self, **time: Any) -> During:
        """This shape times an interval of time: `plate.during(t=(0, 60))`."""
        return During(self, Box(**time))

    @property
    def fill(self) -> float:
        return float(self.form.polygon().area / math.prod(np.subtract(self.upper, self.lower)))

    @property
    def pieces(self) -> list["Shape"]:
        return [self]

    @property
    def zones(self) -> list["Shape"]:
        return [self]

    def broken(self, breaks: Mapping[str, Sequence[float]]) -> "Shape":
        if any(len(places) for places in breaks.values()):
            raise no_zones(self)
        return self

    def between(self, begin: float, end: float) -> "Shape":
        raise InputError(f"{self!r} has no time; add some with .during({TIME}=({begin:g}, {end:g})).")

    def contains(self, points: np.ndarray) -> np.ndarray:
        size = max(np.subtract(self.upper, self.lower))
        return np.asarray(self.form.distance(np.asarray(points, np.float64)) <= ON * size)

    def excluded(self, points: np.ndarray) -> str:
        holes = [figure for figure in self.form.taken() if np.any(figure.distance(np.asarray(points, np.float64)) < 0)]
        return "in " + ", ".join(figure.name or str(figure) for figure in holes) if holes else ""

    def faces(self, on: str | None = None) -> list["Edge"]:
        if on is None:
            return [Edge(self, track.name) for track in tracks(self.form)]
        text(on, "a part of the boundary", "disc")
        if "," in on:
            return [edge for part in on.split(",") for edge in self.faces(part.strip())]
        known = [track.name for track in tracks(self.form)]
        found = [name for name in known if _is_meant(on.strip(), name)]
        if not found:
            listed = ", ".join(known[:LISTED]) + (f" and {len(known) - LISTED} more" if len(known) > LISTED else "")
            raise InputError(f"{on!r} is no part of the boundary; its parts are {listed}.")
        return [Edge(self, name) for name in found]

    def section(self, along: str, at: float) -> Part:
        raise no_zones(self)

    def outlines(self) -> list[np.ndarray]:
        polygons = shapely().get_parts(shapely().orient_polygons(self.form.polygon()))
        rings = [ring for polygon in polygons for ring in (polygon.exterior, *polygon.interiors)]
        return [np.asarray(ring.coords) for ring in rings]


class Edge(Surface):
    """The part of a shape's boundary that has a name."""

    shape: Shape
    label: str = eqx.field(static=True)

    @property
    def name(self) -> str:
        return self.label

    @property
    def _track(self) -> Track:
        return next(track for track in tracks(self.shape.form) if track.name == self.label)

    @property
    def share(self) -> float:
        return float(SIDES * self._track.length / sum(track.length for track in tracks(self.shape.form)))

    @property
    def pieces(self) -> list["Edge"]:
        return [self]

    @property
    def extent(self) -> int:
        return 1

    def at(self, unit: Any) -> tuple[Any, Any]:
        points, normals = self._track.at(unit[:, 0])
        return points, normals


def Rectangle(*, name: str = "", **intervals: Any) -> Shape:  # noqa: N802  (named like other domains)
    """`Rectangle(x=(0, 200), y=(0, 100))`. Its edges are "x=0", "x=200" and so on; with a name, "slot", they are "slot.x=0"
    and so on, and "slot" is all of them."""
    box = Box(**_two(intervals, "Rectangle(x=(0, 2), y=(0, 1))"))
    if any(box.breaks):
        raise InputError("a rectangle has no zones: give (low, high) for each coordinate, or take a Box.")
    return Shape(
        RectangleForm(_checked(name), box.coordinates, box.lower, box.upper),  # type: ignore[arg-type]  # two of each
        box.coordinates,
    )


def Disc(*, radius: Any, name: str = "", **center: Any) -> Shape:  # noqa: N802
    """`Disc(x=100, y=50, radius=20, name="hole")`; its boundary has its name, "disc" without one."""
    return Ellipse(radii=(radius, radius), name=name, **_two(center, "Disc(x=0, y=0, radius=1)"))


def Ellipse(*, radii: Any, angle: float = 0.0, name: str = "", **center: Any) -> Shape:  # noqa: N802
    """`Ellipse(x=0, y=0, radii=(2, 1), angle=30)`, turned counterclockwise by an angle in degrees; its boundary has its name,
    "ellipse" without one."""
    at = _numbers(list(_two(center, "Ellipse(x=0, y=0, radii=(2, 1))").values()), "the centre")
    is_disc = isinstance(radii, tuple | list) and len(radii) == 2 and radii[0] is radii[1]
    sizes = _numbers(radii, "the radius" if is_disc else "radii=")
    if len(sizes) != 2 or not all(size > 0 for size in sizes):
        raise InputError(f"a radius must be positive, and an ellipse has two of them, radii=(2, 1); got {shown(radii)}.")
    (turned,) = _numbers([angle], "the angle")
    names = tuple(center)
    return Shape(EllipseForm(_checked(name), names, at, sizes, turned), names)  # type: ignore[arg-type]  # two of each


def _columns(pairs: Any, others: Mapping[str, Any]) -> dict[str, Any]:
    """The corners of a polygon as columns x and y, from pairs."""
    try:
        places = as_numbers(pairs, "corners")
    except InputError:
        places = np.empty(0)
    if others or places.ndim != 2 or places.shape[1] != 2:
        raise InputError("a polygon is given by pairs, [(0, 0), (2, 0), (1, 1)], or by columns, x=(0, 2, 1), y=(0, 0, 1).")
    return dict(zip("xy", places.T.tolist(), strict=True))


def Polygon(pairs: Any = None, /, *, name: str = "", **corners: Any) -> Shape:  # noqa: N802
    """`Polygon(x=(0, 2, 1), y=(0, 0, 1))` by its corners in order, or `Polygon([(0, 0), (2, 0), (1, 1)])` in x and y; its edges
    are "polygon.1", from the first corner to the second, and so on, or "wedge.1" with the name "wedge"."""
    if pairs is not None:
        corners = _columns(pairs, corners)
    _two(corners, "Polygon(x=(0, 2, 1), y=(0, 0, 1))")
    columns = [_numbers(values, f"{key} of the polygon") for key, values in corners.items()]
    first, second = (len(column) for column in columns)
    if first != second or first < 3:
        raise InputError(f"a polygon has three corners or more, each with both coordinates; got {first} and {second} values.")
    around = list(zip(*columns, strict=True))
    around = around[:-1] if around[0] == around[-1] else around
    if len(set(around)) < 3:
        raise InputError(f"a polygon has three corners or more that differ; got {len(set(around))}.")
    ring = shapely().Polygon(around)
    if not ring.is_valid or not ring.area > 0:
        raise InputError("the edges of a polygon must not cross or touch each other: list its corners in order, once around.")
    names = tuple(corners)
    return Shape(PolygonForm(_checked(name), names, tuple(around)), names)  # type: ignore[arg-type]  # two of each


def _two(values: Mapping[str, Any], example: str) -> Mapping[str, Any]:
    if len(values) != 2:
        raise InputError(f"a planar shape has two coordinates, as in {example}; got {', '.join(values) or 'none'}.")
    if TIME in values:
        raise InputError(f"{TIME} is time, and no coordinate of a shape; add it with .during({TIME}=(0, 60)).")
    return values


def _numbers(values: Any, what: str) -> tuple[float, ...]:
    try:
        found = tuple(values)
    except TypeError:
        found = (None,)
    if not all(map(is_number, found)):
        raise InputError(f"{what} must be finite numbers, not {shown(values)}.")
    return tuple(map(float, found))


def _checked(name: str) -> str:
    if not isinstance(name, str) or any(character in name for character in RESERVED) or name != name.strip():
        raise InputError(f"the name of a shape is a word without commas, points and equals signs, not {shown(name)}.")
    return name


def _is_meant(on: str, name: str) -> bool:
    """Whether a part is what a user wrote, or belongs to it: "wedge.1" for "wedge", "x=0" for "x" and for "x=0.0"."""
    if "=" not in on:
        return name == on or name.startswith((f"{on}.", f"{on}="))
    (asked, _, value), (own, _, place) = on.rpartition("="), name.rpartition("=")
    try:
        return asked.strip() == own and math.isclose(float(value), float(place), rel_tol=1e-6, abs_tol=1e-9)
    except ValueError:
        return False
