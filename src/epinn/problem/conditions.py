"""What a solution must satisfy: equations, boundary and initial conditions, measurements. Each makes channels."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.field import Field, Operator, at_points
from ..errors import InputError, unknown_name
from .channel import Channel, Kind
from .checks import as_numbers, check_finite, own_points, per_point_values
from .context import Context
from .domain import TIME, Box, Face
from .precision import Exact, KnownNoise, Precision, UnknownNoise

HELD_OUT = ", held out"  # what the name of a part of some measurements ends with
Sigma = float | np.ndarray | Sequence[float] | Literal["unknown"] | None
Target = float | Callable | np.ndarray | Sequence[float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Condition(ABC):
    """Makes a channel for a problem.

    `sigma` is the noise of the targets: a number, one per point, "unknown", or None for exact ones, which count as
    known up to `tolerance` where a method needs a likelihood; without one, up to what the trained network reaches. `weight`
    replaces the loss weight of the condition's kind.
    """

    kind: ClassVar[Kind]
    sigma: Sigma = None
    tolerance: float | None = None
    weight: float | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or type(self).__name__.lower()

    @abstractmethod
    def channel(self, context: Context, key: PRNGKeyArray) -> Channel: ...


@dataclass(frozen=True, eq=False)
class Equation(Condition):
    """A differential equation in the interior: `operator` equals `target` (a number, a function, or values at `points`).

    `given` are values at the points that the operator may ask for by name.
    """

    kind: ClassVar[Kind] = "equation"
    operator: Callable
    target: Target = 0.0
    points: Any = None
    given: Mapping[str, Any] | None = None

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        if self.points is not None:
            return _channel(
                self, context, self.operator, self.target, own_points(self.points, self.label, context.domain), self.given
            )
        if self.given:
            names = ", ".join(self.given)
            raise InputError(f"{self.label}: the given {names} belongs to points; say which with points=.")
        return _channel(self, context, self.operator, self.target, context.collocation(key), sampled=True)


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
        given = {f"normal_{name}": normals[:, i] for i, name in enumerate(space)} if self.b else None
        operator = _Flux(context.field_name(self.field), self.a, self.b, space)
        return _channel(self, context, operator, self.target, points, given, sampled=self.points is None)

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


def Dirichlet(target: Target = 0.0, **where: Any) -> Robin:  # noqa: N802  (named like the other conditions)
    """The value of a field on faces of the domain, or at your own points."""
    return Robin(1.0, 0.0, target, **{"name": "boundary", **where})


def Neumann(target: Target = 0.0, **where: Any) -> Robin:  # noqa: N802
    """The outward normal derivative on faces of the domain, or at your own points with their `normals`."""
    return Robin(0.0, 1.0, target, **{"name": "neumann", **where})


@dataclass(frozen=True, eq=False)
class Periodic(Condition):
    """Equal values, and derivatives up to `order`, at both ends of a coordinate."""

    kind: ClassVar[Kind] = "boundary"
    along: str
    order: int = 1
    field: str | None = None

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        if self.along not in context.domain.coordinates:
            raise unknown_name("coordinate", self.along, context.domain.coordinates)
        low, high = (context.on_faces([face], key) for face in context.domain.faces(self.along))
        operator = _Derivatives(context.field_name(self.field), tuple((self.along,) * n for n in range(self.order + 1)))
        return _channel(self, context, operator, 0.0, low, partner=high, sampled=True)


@dataclass(frozen=True, eq=False)
class Initial(Condition):
    """The value of a field, or its time derivative of the given order, when time begins."""

    kind: ClassVar[Kind] = "initial"
    target: Target
    field: str | None = None
    order: int = 0

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        if TIME not in context.domain.coordinates:
            raise InputError("an initial condition needs time: add a coordinate t to the box.")
        points = context.on_faces(context.domain.faces(TIME)[:1], key)
        operator = _Derivatives(context.field_name(self.field), ((TIME,) * self.order,))
        return _channel(self, context, operator, self.target, points, sampled=True)


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
    operator: Callable | None = None

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        operator = self.operator or _Derivatives(context.field_name(self.field), ((),))
        return _channel(self, context, operator, self.values, own_points(self.points, self.label, context.domain))

    def parted(self, share: float, key: PRNGKeyArray) -> "tuple[Data, Data]":
        """These measurements without a random share of them, and that share, held out."""
        points, values = np.asarray(self.points), np.asarray(self.values)
        order = np.asarray(jax.random.permutation(key, len(points)))
        number = round(share * len(points))

        def part(chosen: np.ndarray, **changes: Any) -> Data:
            sigma = np.asarray(self.sigma)[chosen] if np.ndim(self.sigma) > 0 else self.sigma  # type: ignore[arg-type]
            return replace(self, points=points[chosen], values=values[chosen], sigma=sigma, **changes)

        return part(np.sort(order[number:])), part(np.sort(order[:number]), held_out=True, name=self.label + HELD_OUT)


@dataclass(frozen=True, eq=False)
class Constant(Condition):
    """An unknown field that should be constant: its variance over the collocation points is penalised."""

    kind: ClassVar[Kind] = "constraint"
    field: str

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        operator = _Derivatives(context.field_name(self.field), ((),))
        return _channel(self, context, operator, 0.0, context.collocation(key), centred=True, sampled=True)


# The operators of the conditions above, as values: two that are equal share their compiled code.


@dataclass(frozen=True)
class _Derivatives:
    """Derivatives of one field, each along a tuple of coordinates."""

    field: str
    along: tuple[tuple[str, ...], ...]

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.Signature([inspect.Parameter(self.field, inspect.Parameter.KEYWORD_ONLY)])

    def __call__(self, **fields: Field) -> list[Array]:
        return [fields[self.field].diff(*names) for names in self.along]


@dataclass(frozen=True)
class _Flux:
    """a u + b du/dn, with the normal given at each point."""

    field: str
    a: float
    b: float
    space: tuple[str, ...]

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (self.field, "p")])

    def __call__(self, **known: Any) -> Array:
        u, p = known[self.field], known["p"]
        flux = self.a * u
        if self.b:
            flux += self.b * sum(u.diff(name) * getattr(p, f"normal_{name}") for name in self.space)
        return flux


def _channel(
    condition: Condition,
    context: Context,
    function: Callable,
    target: Target,
    points: Float[Array, "n d"],
    given: Mapping[str, Any] | None = None,
    **options: Any,
) -> Channel:
    label, n = condition.label, len(points)
    per_point = np.asarray(condition.sigma).ndim > 0 or (not callable(target) and np.ndim(target) > 0)
    if options.get("sampled") and per_point and points.shape[1] > 1:
        raise InputError(f"{label}: one value per point belongs to points of your own; say which with points=.")
    for name in given or {}:
        if name in (*context.names.fields, *context.names.coordinates, *context.names.unknowns, "p"):
            raise InputError(f"{label}: the name {name!r} of a given value is taken; choose another.")
    values = {name: per_point_values(value, n, f"{name} in {label}") for name, value in (given or {}).items()}
    operator = Operator(function, context.names, tuple(values))
    return Channel(
        name=label,
        kind=condition.kind,
        operator=operator,
        points=points,
        target=_rows(target, context.domain, points, operator.size, label),
        precision=_precision(condition, n),
        given=values,
        weight=condition.weight,
        target_moves=callable(target),
        **options,
    )


def _rows(target: Target, domain: Box, points: Array, size: int, label: str) -> Float[Array, "n k"]:
    """Targets as one row per point."""
    if callable(target):
        rows = at_points(target, domain.coordinates, points)
        if not isinstance(rows, jax.core.Tracer):  # where points are redrawn in training there is nothing to look at yet
            check_finite(np.asarray(rows), f"the values of {label}")
    else:
        array = as_numbers(target, f"the values of {label}")
        check_finite(array, f"the values of {label}")
        if array.ndim == 0:
            return jnp.full((len(points), size), float(array))
        rows = jnp.asarray(array[:, None] if array.ndim == 1 else array)
    if rows.shape != (len(points), size):
        raise InputError(
            f"{label} has values of shape {rows.shape} for {len(points)} points; they must be ({len(points)}, {size})."
        )
    return rows


def _precision(condition: Condition, n: int) -> Precision:
    """What the condition says about the precision of its `n` targets, checked."""
    label, sigma, tolerance = condition.label, condition.sigma, condition.tolerance
    if tolerance is not None and not tolerance > 0:
        raise InputError(f"the tolerance of {label} must be positive, not {tolerance}.")
    if sigma is None:
        return Exact.up_to(tolerance)
    if isinstance(sigma, str):
        if sigma != "unknown":
            raise InputError(f"sigma of {label} must be a number, one per point, 'unknown' or None, not {sigma!r}.")
        return UnknownNoise.unseen()
    array = as_numbers(sigma, f"sigma of {label}")
    if not np.all(array > 0) or not np.all(np.isfinite(array)):
        raise InputError(f"sigma of {label} must be positive; use None for values that are exact.")
    return KnownNoise(jnp.full(1, float(array)) if array.ndim == 0 else per_point_values(array, n, f"sigma of {label}"))


def _outward(face: Face) -> np.ndarray:
    axis = face.box.coordinates[face.axis]
    return np.array([face.outward * (name == axis) for name in face.box.space])
