"""What a solution must satisfy at the boundary of its domain."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import PRNGKeyArray

from ..arguments import is_number, text, whole
from ..errors import InputError, shown, unknown_name
from .channel import Channel, Kind
from .checks import as_numbers, own_points
from .condition import HIGHEST_ORDER, Condition, Sigma, Target, make_channel, of_field
from .context import Context
from .domain import Box
from .operators import Derivatives, Flux


@dataclass(frozen=True, eq=False)
class Robin(Condition):
    """`a u + b du/dn` with the outward normal, on faces (`on="x=0"`; all of space by default) or at your own points.

    Your own points come with their outward `normals`, one column per space coordinate, wherever b is not zero. Exact values
    (b = 0) on faces hold by construction where that can be, unless `hard` is false.
    """

    kind: ClassVar[Kind] = "boundary"
    a: float
    b: float
    target: Target = 0.0
    on: str | None = None
    field: str | None = None
    points: Any = None
    normals: Any = None
    hard: bool = dataclasses.field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            if not is_number(value := getattr(self, name)):
                raise InputError(
                    f"{name} of a Robin condition must be a finite number, not {shown(value)}; where it is unknown or varies, "
                    'write Boundary(lambda u, h: u.x + h * u, on="x=max").'
                )
        super().__post_init__()

    @property
    def what(self) -> str:
        return "boundary" if not self.b else "robin" if self.a else "neumann"

    def in_full(self, fields: Sequence[str]) -> str:
        return self.what + of_field(self.field, fields) + (f" at {self.on}" if self.on else "")

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        space = context.domain.space
        faces = context.domain.faces(self.on) if self.points is None else []
        if self.points is None:
            instants = [face.name for face in faces if face.is_instant]
            if self.b and instants:
                reason = "time has no normal; for u.t use Initial(..., order=1) or an Equation"
                raise InputError(f"{self.label} cannot be on {instants[0]}: {reason}.")
            points, normals = context.on_faces(faces, key)
        else:
            points = own_points(self.points, self.label, context.domain)
            if self.on is not None:
                raise InputError(f"{self.label}: say either on= or points=, not both.")
            normals = self._own_normals(len(points), len(space))
        operator = Flux(context.field_name(self.field), self.a, self.b, space)
        given = {name: normals[:, i] for i, name in enumerate(operator.normals)}
        return make_channel(self, context, operator, self.target, points, given, sampled=self.points is None, faces=faces)

    def _own_normals(self, points: int, dimension: int) -> np.ndarray:
        if not self.b:
            return np.zeros((points, dimension))
        if self.normals is None:
            raise InputError(f"{self.label}: a normal derivative at your own points needs their outward normals.")
        normals = as_numbers(self.normals, f"the normals of {self.label}")
        normals = normals[:, None] if normals.ndim == 1 and dimension == 1 else normals
        if normals.shape != (points, dimension) or not np.allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-3):
            raise InputError(f"the normals of {self.label} must be {points} rows of length one with {dimension} column(s).")
        return normals


def Dirichlet(  # noqa: N802  (named like the other conditions)
    target: Target = 0.0,
    on: str | None = None,
    *,
    field: str | None = None,
    points: Any = None,
    hard: bool = True,
    sigma: Sigma = None,
    tolerance: float | None = None,
    weight: float | None = None,
    name: str = "",
) -> Robin:
    """The value of a field on faces of the domain (`on="x=0"`; all of space by default), or at your own points.

    `target` is a number, a function of the coordinates, or one value per point. On faces, exact values hold by construction
    where that can be, unless `hard` is false. The other options are those of `Condition`.
    """
    return Robin(1.0, 0.0, target, on, field, points, hard=hard, sigma=sigma, tolerance=tolerance, weight=weight, name=name)


def Neumann(  # noqa: N802
    target: Target = 0.0,
    on: str | None = None,
    *,
    field: str | None = None,
    points: Any = None,
    normals: Any = None,
    sigma: Sigma = None,
    tolerance: float | None = None,
    weight: float | None = None,
    name: str = "",
) -> Robin:
    """The outward normal derivative of a field on faces of the domain, or at your own points with their `normals`.

    `target` is a number, a function of the coordinates, or one value per point. The other options are those of `Condition`.
    """
    return Robin(0.0, 1.0, target, on, field, points, normals, sigma=sigma, tolerance=tolerance, weight=weight, name=name)


@dataclass(frozen=True, eq=False)
class Periodic(Condition):
    """Equal values, and derivatives up to `order`, at both ends of a coordinate."""

    kind: ClassVar[Kind] = "boundary"
    along: str
    order: int = 1
    field: str | None = None

    def __post_init__(self) -> None:
        text(self.along, "the coordinate of a periodic condition", "x")
        whole(self.order, "the order of a periodic condition", most=HIGHEST_ORDER)
        super().__post_init__()

    @property
    def what(self) -> str:
        return "periodic"

    def in_full(self, fields: Sequence[str]) -> str:
        return f"{self.what} along {self.along}" + of_field(self.field, fields)

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        if self.along not in context.domain.coordinates:
            raise unknown_name("coordinate", self.along, context.domain.coordinates)
        if not isinstance(context.domain, Box):
            raise InputError(f"{self.label}: periodic conditions need the two ends of a coordinate, which only a Box has.")
        low, high = (context.on_faces([face], key).points for face in context.domain.faces(self.along))
        operator = Derivatives(context.field_name(self.field), tuple((self.along,) * n for n in range(self.order + 1)))
        return make_channel(self, context, operator, 0.0, low, partner=high, sampled=True)


@dataclass(frozen=True, eq=False)
class Boundary(Condition):
    """Any `operator` on faces of the domain, all of space by default: `Boundary(lambda w: w.xx, on="x=2")` is the free end of a
    beam, `Boundary(lambda T, h: k * T.x + h * (T - 293), on="x=1")` cooling with an unknown coefficient."""

    kind: ClassVar[Kind] = "boundary"
    operator: Callable[..., Any]
    target: Target = 0.0
    on: str | None = None

    @property
    def what(self) -> str:
        return "boundary"

    def in_full(self, fields: Sequence[str]) -> str:
        return self.what + (f" at {self.on}" if self.on else "")

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        faces = context.domain.faces(self.on)
        points = context.on_faces(faces, key).points
        return make_channel(self, context, self.operator, self.target, points, sampled=True, faces=faces)
