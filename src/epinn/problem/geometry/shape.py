"""Planar shapes as domains: rectangles, discs, ellipses and polygons, and what `|`, `-` and `&` make of them."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from ...errors import InputError, shown
from ..checks import as_numbers
from ..domain import Box
from .combined import Combined, Form
from .composed import Composed, checked_name, numbers, so_many
from .forms import EllipseForm, OutlineForm, PolygonForm, RectangleForm, polygon, shapely
from .outline import Track, tracks
from .surface import Surface

NOTHING = 1e-9  # of an area: as good as nothing
SIDES = 4  # the boundary of a shape has as many points as that of a box, shared out by length


class Shape(Composed):
    """A part of the plane. Points on its boundary, and normals, are exact on curved edges too."""

    form: Form = eqx.field(static=True)
    coordinates: tuple[str, ...] = eqx.field(static=True)
    lower: tuple[float, ...] = eqx.field(static=True)
    upper: tuple[float, ...] = eqx.field(static=True)
    breaks: tuple[tuple[float, ...], ...] = eqx.field(static=True)
    kind: ClassVar[str] = "shape"
    example: ClassVar[str] = "Rectangle(x=(0, 2), y=(0, 1))"
    blur: ClassVar[float] = NOTHING

    def __init__(self, form: Form, coordinates: tuple[str, ...]):
        if isinstance(form, Combined) and any(isinstance(figure, OutlineForm) for figure in form.figures()):
            raise InputError("a flat mesh is not put together with other shapes: cut it where it is made.")
        if polygon(form).area <= NOTHING * max(polygon(figure).area for figure in form.figures()):
            raise InputError(f"nothing is left of {form}: look at the places and sizes of its parts.")
        bounds = polygon(form).bounds
        self.form, self.coordinates, self.breaks = form, coordinates, ((), ())
        self.lower, self.upper = bounds[:2], bounds[2:]

    def made_of(self, form: Form) -> "Shape":
        return Shape(form, self.coordinates)

    def sizes(self) -> dict[str, float]:
        return {"area": float(polygon(self.form).area)}

    @property
    def fill(self) -> float:
        return float(polygon(self.form).area / math.prod(np.subtract(self.upper, self.lower)))

    def parts(self) -> list["Edge"]:
        return [Edge(self, track.name) for track in tracks(self.form)]

    def outlines(self) -> list[np.ndarray]:
        polygons = shapely().get_parts(shapely().orient_polygons(polygon(self.form)))
        rings = [ring for one in polygons for ring in (one.exterior, *one.interiors)]
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

    @property
    def fill(self) -> float:
        return 1.0

    @property
    def may_be_cut(self) -> bool:
        return False

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
        RectangleForm(checked_name(name), box.coordinates, box.lower, box.upper),  # type: ignore[arg-type]  # two of each
        box.coordinates,
    )


def Disc(*, radius: Any, name: str = "", **center: Any) -> Shape:  # noqa: N802
    """`Disc(x=100, y=50, radius=20, name="hole")`; its boundary has its name, "disc" without one."""
    return Ellipse(radii=(radius, radius), name=name, **_two(center, "Disc(x=0, y=0, radius=1)"))


def Ellipse(*, radii: Any, angle: float = 0.0, name: str = "", **center: Any) -> Shape:  # noqa: N802
    """`Ellipse(x=0, y=0, radii=(2, 1), angle=30)`, turned counterclockwise by an angle in degrees; its boundary has its name,
    "ellipse" without one."""
    at = numbers(list(_two(center, "Ellipse(x=0, y=0, radii=(2, 1))").values()), "the centre")
    is_disc = isinstance(radii, tuple | list) and len(radii) == 2 and radii[0] is radii[1]
    sizes = numbers(radii, "the radius" if is_disc else "radii=")
    if len(sizes) != 2 or not all(size > 0 for size in sizes):
        raise InputError(f"a radius must be positive, and an ellipse has two of them, radii=(2, 1); got {shown(radii)}.")
    (turned,) = numbers([angle], "the angle")
    names = tuple(center)
    return Shape(EllipseForm(checked_name(name), names, at, sizes, turned), names)  # type: ignore[arg-type]  # two of each


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
    columns = [numbers(values, f"{key} of the polygon") for key, values in corners.items()]
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
    return Shape(PolygonForm(checked_name(name), names, tuple(around)), names)  # type: ignore[arg-type]  # two of each


def _two(values: Mapping[str, Any], example: str) -> Mapping[str, Any]:
    return so_many(values, 2, "a planar shape", example)
