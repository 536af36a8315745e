"""What a solution must satisfy: equations, boundary and initial conditions, measurements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ..errors import InputError, unknown_name
from .channel import Channel, Kind
from .checks import as_columns, as_numbers, own_points
from .condition import Condition, Sigma, Target, make_channel
from .context import Context
from .domain import TIME, Box, Face
from .operators import Derivatives, Flux

HELD_OUT = ", held out"  # what the name of a part of some measurements ends with


@dataclass(frozen=True, eq=False)
class Equation(Condition):
    """A differential equation in the interior: `operator` equals `target` (a number, a function, or values at `points`).

    `given` are values at the points that the operator may ask for by name.
    """

    kind: ClassVar[Kind] = "equation"
    operator: Callable[..., Any]
    target: Target = 0.0
    points: Any = None
    given: Mapping[str, Any] | None = None

    @property
    def what(self) -> str:
        return "equation"

    def in_full(self, fields: Sequence[str]) -> str:
        name = getattr(self.operator, "__name__", "<lambda>")
        return self.what if name in ("<lambda>", self.what) else f"{self.what} {name}"

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        if self.points is not None:
            return make_channel(
                self, context, self.operator, self.target, own_points(self.points, self.label, context.domain), self.given
            )
        if self.given:
            names = ", ".join(self.given)
            raise InputError(f"{self.label}: the given {names} belongs to points; say which with points=.")
        return make_channel(self, context, self.operator, self.target, context.collocation(key), sampled=True)


@dataclass(frozen=True, eq=False)
class Robin(Condition):
    """`a u + b du/dn` with the outward normal, on faces (`on="x=0"`; all of space by default) or at your own points.

    Your own points come with their outward `normals`, one column per space coordinate, wherever b is not zero.
    """

    kind: ClassVar[Kind] = "boundary"
    a: float
    b: float
    target: Target = 0.0
    on: str | None = None
    field: str | None = None
    points: Any = None
    normals: Any = None

    @property
    def what(self) -> str:
        return "boundary" if not self.b else "robin" if self.a else "neumann"

    def in_full(self, fields: Sequence[str]) -> str:
        return self.what + _of(self.field, fields) + (f" at {self.on}" if self.on else "")

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        space = context.domain.space
        if self.points is None:
            faces = context.domain.faces(self.on)
            timelike = [face.name for face in faces if not _outward(face).any()]
            if self.b and timelike:
                reason = "time has no normal; for u.t use Initial(..., order=1) or an Equation"
                raise InputError(f"{self.label} cannot be on {timelike[0]}: {reason}.")
            points = context.on_faces(faces, key)
            normals = np.repeat([_outward(face) for face in faces], len(points) // len(faces), axis=0)
        else:
            points = own_points(self.points, self.label, context.domain)
            if self.on is not None:
                raise InputError(f"{self.label}: say either on= or points=, not both.")
            normals = self._own_normals(len(points), len(space))
        operator = Flux(context.field_name(self.field), self.a, self.b, space)
        given = {name: normals[:, i] for i, name in enumerate(operator.normals)}
        return make_channel(self, context, operator, self.target, points, given, sampled=self.points is None)

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
    *,
    on: str | None = None,
    field: str | None = None,
    points: Any = None,
    sigma: Sigma = None,
    tolerance: float | None = None,
    weight: float | None = None,
    name: str = "",
) -> Robin:
    """The value of a field on faces of the domain (`on="x=0"`; all of space by default), or at your own points.

    `target` is a number, a function of the coordinates, or one value per point. The other options are those of `Condition`.
    """
    return Robin(1.0, 0.0, target, on, field, points, sigma=sigma, tolerance=tolerance, weight=weight, name=name)


def Neumann(  # noqa: N802
    target: Target = 0.0,
    *,
    on: str | None = None,
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

    @property
    def what(self) -> str:
        return "periodic"

    def in_full(self, fields: Sequence[str]) -> str:
        return f"{self.what} along {self.along}" + _of(self.field, fields)

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        if self.along not in context.domain.coordinates:
            raise unknown_name("coordinate", self.along, context.domain.coordinates)
        low, high = (context.on_faces([face], key) for face in context.domain.faces(self.along))
        operator = Derivatives(context.field_name(self.field), tuple((self.along,) * n for n in range(self.order + 1)))
        return make_channel(self, context, operator, 0.0, low, partner=high, sampled=True)


@dataclass(frozen=True, eq=False)
class Initial(Condition):
    """The value of a field, or its time derivative of the given order, when time begins.

    `target` is a number, a function of the space coordinates, or one value for each of your own `points` in space.
    """

    kind: ClassVar[Kind] = "initial"
    target: Target
    field: str | None = None
    order: int = 0
    points: Any = None

    @property
    def what(self) -> str:
        return "initial"

    def in_full(self, fields: Sequence[str]) -> str:
        if not self.order:
            return self.what + _of(self.field, fields)
        return f"{self.what} of {self.field or fields[0]}.{TIME * self.order}"

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        domain = context.domain
        if TIME not in domain.coordinates:
            raise InputError("an initial condition needs time: add a coordinate t to the box.")
        points = (
            context.on_faces(domain.faces(TIME)[:1], key)
            if self.points is None
            else own_points(self._when_time_begins(domain), self.label, domain)
        )
        operator = Derivatives(context.field_name(self.field), ((TIME,) * self.order,))
        return make_channel(self, context, operator, self.target, points, sampled=self.points is None)

    def _when_time_begins(self, domain: Box) -> Float[np.ndarray, "n d"]:
        """The user's points in space with the time when it begins among their coordinates."""
        if not domain.space:
            raise InputError(
                f"{self.label}: there are no points in space where time is the only coordinate; leave out points=."
            )
        axis = domain.axis(TIME)
        return np.insert(as_columns(self.points, self.label, domain.space), axis, domain.lower[axis], axis=1)


@dataclass(frozen=True, eq=False)
class Data(Condition):
    """Measurements of a field, or of any `operator` of it, at points: `Data(x, u, sigma=0.1)`.

    A sigma that is not said is unknown. Measurements that are `held_out` are not trained on: they judge the band.
    """

    kind: ClassVar[Kind] = "data"
    points: Any
    values: Any
    sigma: Sigma = field(default="unknown", kw_only=True)
    held_out: bool = field(default=False, kw_only=True)
    field: str | None = None
    operator: Callable[..., Any] | None = None

    @property
    def what(self) -> str:
        return "data" + (HELD_OUT if self.held_out else "")

    def in_full(self, fields: Sequence[str]) -> str:
        of = "" if self.operator else _of(self.field, fields)
        return f"data{of}" + (HELD_OUT if self.held_out else "")

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        operator = self.operator or Derivatives(context.field_name(self.field), ((),))
        return make_channel(self, context, operator, self.values, own_points(self.points, self.label, context.domain))

    def parted(self, share: float, key: PRNGKeyArray) -> "tuple[Data, Data]":
        """These measurements without a random share of them, and that share, held out."""
        points, values = np.asarray(self.points), np.asarray(self.values)
        order = np.asarray(jax.random.permutation(key, len(points)))
        number = round(share * len(points))

        def part(chosen: np.ndarray) -> Data:
            one_each = self.sigma is not None and np.ndim(self.sigma) > 0
            sigma: Sigma = np.asarray(self.sigma)[chosen] if one_each else self.sigma
            return replace(self, points=points[chosen], values=values[chosen], sigma=sigma)

        held_out = replace(part(np.sort(order[:number])), held_out=True, name=self.label + HELD_OUT)
        return part(np.sort(order[number:])), held_out


@dataclass(frozen=True, eq=False)
class Constant(Condition):
    """An unknown field that should be constant: its variance over the collocation points is penalised."""

    kind: ClassVar[Kind] = "constraint"
    field: str

    @property
    def what(self) -> str:
        return "constant"

    def in_full(self, fields: Sequence[str]) -> str:
        return f"{self.what} {self.field}"

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        operator = Derivatives(context.field_name(self.field), ((),))
        return make_channel(self, context, operator, 0.0, context.collocation(key), centred=True, sampled=True)


def _of(field: str | None, fields: Sequence[str]) -> str:
    """The field that a condition is about, where there are others."""
    return f" of {field}" if field and len(fields) > 1 else ""


def _outward(face: Face) -> np.ndarray:
    axis = face.box.coordinates[face.axis]
    return np.array([face.outward * (name == axis) for name in face.box.space])
