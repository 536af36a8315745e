"""Solids as domains: cuboids, spheres, cylinders and extrusions of planar shapes, and what `|`, `-` and `&` make of them."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ...arguments import is_number
from ...errors import InputError, shown
from ..domain import Box, sobol
from .bodies import Body, CuboidForm, CylinderForm, ExtrusionForm, Names, SphereForm, triple
from .combined import Combined, Form
from .composed import ON, Composed, checked_name, numbers, so_many
from .shape import Shape
from .sheets import Points, Triple
from .skin import Skin, skins
from .surface import Surface

SIDES = 6  # the boundary of a solid has as many points as that of a box, shared out by area
LOOKED_AT = 16_384  # places in the box around a solid, to measure how much of it is inside
MARGIN = 0.02  # of the size of a solid: so far its box may reach beyond the points that were looked at
LOST = 0.01  # of the area of a part of the boundary, which is measured at some places


class Solid(Composed):
    """A part of space. Points on its boundary, and normals, are exact on curved sides too."""

    form: Form = eqx.field(static=True)
    coordinates: tuple[str, ...] = eqx.field(static=True)
    lower: tuple[float, ...] = eqx.field(static=True)
    upper: tuple[float, ...] = eqx.field(static=True)
    breaks: tuple[tuple[float, ...], ...] = eqx.field(static=True)
    kind: ClassVar[str] = "solid"
    example: ClassVar[str] = "Cuboid(x=(0, 2), y=(0, 1), z=(0, 1))"
    blur: ClassVar[float] = LOST

    def __init__(self, form: Form, coordinates: tuple[str, ...]):
        if not skins(form):
            raise InputError(f"nothing is left of {form}: look at the places and sizes of its parts.")
        self.form, self.coordinates, self.breaks = form, coordinates, ((), (), ())
        self.lower, self.upper = _bounds(form)

    def made_of(self, form: Form) -> "Solid":
        return Solid(form, self.coordinates)

    def sizes(self) -> dict[str, float]:
        """Whatever is taken away leaves a trace on the boundary: a piece more at least, however small it is."""
        areas = {skin.name: skin.area for skin in skins(self.form)}
        return {**areas, **{f"pieces of {skin.name}": float(len(skin.pieces)) for skin in skins(self.form)}}

    @property
    def fill(self) -> float:
        return _fill(self)

    def parts(self) -> list["Patch"]:
        return [Patch(self, skin.name) for skin in skins(self.form)]

    def outlines(self) -> list[np.ndarray]:
        return []


class Patch(Surface):
    """The part of a solid's boundary that has a name."""

    solid: Solid
    label: str = eqx.field(static=True)

    @property
    def name(self) -> str:
        return self.label

    @property
    def skin(self) -> Skin:
        return next(skin for skin in skins(self.solid.form) if skin.name == self.label)

    @property
    def share(self) -> float:
        return SIDES * self.skin.area / sum(skin.area for skin in skins(self.solid.form))

    @property
    def pieces(self) -> list["Patch"]:
        return [self]

    @property
    def extent(self) -> int:
        return 2

    @property
    def fill(self) -> float:
        return self.skin.left

    @property
    def may_be_cut(self) -> bool:
        return True

    def at(self, unit: Any) -> tuple[Any, Any]:
        points, normals = self.skin.at(unit)
        return points, normals


def Cuboid(*, name: str = "", **intervals: Any) -> Solid:  # noqa: N802  (named like other domains)
    """`Cuboid(x=(0, 200), y=(0, 100), z=(0, 20))`. Its sides are "x=0", "x=200" and so on; with a name, "slot", they are
    "slot.x=0" and so on, and "slot" is all of them."""
    box = Box(**_three(intervals, "a cuboid", "Cuboid(x=(0, 2), y=(0, 1), z=(0, 1))"))
    if any(box.breaks):
        raise InputError("a cuboid has no zones: give (low, high) for each coordinate, or take a Box.")
    names = _names(intervals)
    return Solid(CuboidForm(checked_name(name), names, triple(box.lower), triple(box.upper)), names)


def Sphere(*, radius: Any, name: str = "", **center: Any) -> Solid:  # noqa: N802
    """`Sphere(x=50, y=50, z=10, radius=5, name="void")`; its surface has its name, "sphere" without one."""
    example = "Sphere(x=0, y=0, z=0, radius=1)"
    at, names = triple(numbers(_three(center, "a sphere", example).values(), "the centre")), _names(center)
    return Solid(SphereForm(checked_name(name), names, at, _radius(radius)), names)


def Cylinder(*, radius: Any, name: str = "", **axis: Any) -> Solid:  # noqa: N802
    """`Cylinder(x=50, y=50, z=(0, 20), radius=5, name="bore")`, with its axis along z.

    One that leans has several intervals, and its axis goes from where they begin to where they end. The parts of its boundary
    are "bore.side", and at the ends "bore.z=0" and "bore.z=20", or "bore.begin" and "bore.end" if it leans; "bore" is all.
    """
    example = "Cylinder(x=0, y=0, z=(0, 2), radius=1)"
    ends = [_from_to(key, value) for key, value in _three(axis, "a cylinder", example).items()]
    begin, end = triple([low for low, _ in ends]), triple([high for _, high in ends])
    if begin == end:
        raise InputError(f"a cylinder has an interval along its axis, as in {example}.")
    names = _names(axis)
    return Solid(CylinderForm(checked_name(name), names, begin, end, _radius(radius)), names)


def Extrusion(shape: Any, /, *, name: str = "", **interval: Any) -> Solid:  # noqa: N802
    """`Extrusion(plate, z=(0, 20))`: a planar shape, moved across its plane. The parts of its boundary are called like those of
    the shape, "hole", and "z=0" and "z=20"; with a name, "part.hole" and so on. Its coordinates are in alphabetical order."""
    if not isinstance(shape, Shape) or len(interval) != 1:
        raise InputError(
            "an extrusion has a planar shape and one interval, as in Extrusion(Disc(x=0, y=0, radius=1), z=(0, 2))."
        )
    ((across, _),) = interval.items()
    box = Box(**interval)
    if any(box.breaks):
        raise InputError(f"an extrusion has no zones: give (low, high) for {across}.")
    names = _names(sorted(_three(dict.fromkeys([*shape.coordinates, across]), "an extrusion", "Extrusion(plate, z=(0, 2))")))
    if tuple(name for name in names if name != across) != shape.coordinates:
        raise InputError(
            f"the shape of an extrusion has its coordinates in alphabetical order, not {', '.join(shape.coordinates)}."
        )
    form = ExtrusionForm(checked_name(name), names, shape.form, names.index(across), box.lower[0], box.upper[0])
    return Solid(form, names)


def _three(values: Mapping[str, Any], what: str, example: str) -> Mapping[str, Any]:
    return so_many(values, 3, what, example)


def _names(coordinates: Iterable[str]) -> Names:
    first, second, third = coordinates
    return first, second, third


def _radius(value: Any) -> float:
    (radius,) = numbers([value], "the radius")
    if not radius > 0:
        raise InputError(f"a radius must be positive, not {shown(value)}.")
    return radius


def _from_to(name: str, value: Any) -> tuple[float, float]:
    """Where an axis begins and ends along a coordinate: an interval, or one place."""
    ends = numbers([value, value] if is_number(value) else value, f"{name} of the axis")
    if len(ends) != 2:
        raise InputError(f"{name} of the axis is a number or (begin, end), not {shown(value)}.")
    return ends[0], ends[1]


def _bounds(form: Form) -> tuple[Triple, Triple]:
    """The box around a form: what intervals tell; where bodies cut each other, up to the next place at which one of them ends,
    or a little beyond the boundary if that is far away."""
    low, high = _box(form)
    ends = np.array([figure.bounds() for figure in form.figures() if isinstance(figure, Body)])  # (bodies, 2, 3)
    points = np.concatenate([_points(skin) for skin in skins(form)])
    lower, upper = points.min(axis=0), points.max(axis=0)
    for axis in range(3):
        margin, slack = MARGIN * (upper[axis] - lower[axis]), ON * (high[axis] - low[axis])
        places = [low[axis], high[axis], *ends[:, :, axis].ravel()]
        below = max(place for place in places if low[axis] <= place <= lower[axis] + slack)
        above = min(place for place in places if high[axis] >= place >= upper[axis] - slack)
        lower[axis], upper[axis] = max(below, lower[axis] - margin), min(above, upper[axis] + margin)
    return triple(lower), triple(upper)


def _box(form: Form) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    if isinstance(form, Combined):
        (low, high), (its_low, its_high) = _box(form.first), _box(form.second)
        match form.operation:
            case "|":
                return np.minimum(low, its_low), np.maximum(high, its_high)
            case "&":
                return np.maximum(low, its_low), np.minimum(high, its_high)
        return low, high
    assert isinstance(form, Body)
    lower, upper = form.bounds()
    return np.array(lower), np.array(upper)


def _points(skin: Skin) -> Points:
    """Some of a part of the boundary."""
    points, normals = skin.at(sobol(int(LOOKED_AT / 8 / skin.left) + 1, 2)[1:])
    return points[np.any(normals != 0, axis=1)]


@functools.lru_cache(maxsize=64)
def _fill(solid: Solid) -> float:
    """How much of the box around a solid is inside; never nothing, since it divides."""
    lower, upper = np.asarray(solid.lower), np.asarray(solid.upper)
    inside = solid.form.distance(lower + sobol(LOOKED_AT + 1, 3)[1:] * (upper - lower)) < 0
    return max(float(np.mean(inside)), 1 / LOOKED_AT)
