"""What every condition has in common: its precision, its name, and how it becomes a channel."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..arguments import number, text
from ..derivatives.operator import Operator, at_points, wanted
from ..errors import InputError, shown, unknown_name
from .average import Average
from .channel import Channel, Kind
from .checks import as_numbers, check_finite, check_function, per_point_values
from .context import Context
from .domain import Face
from .operators import Derivatives, Flux, Traces
from .precision import Exact, KnownNoise, Precision, UnknownNoise
from .region import TIME, Domain, Part
from .student import NOISES

HIGHEST_ORDER = 6  # of the derivative that a condition is about: each takes as much work as all before it
LOOKED_AT = 33**2  # points of a face, at which a given function is looked at beforehand

Sigma = float | Array | np.ndarray | Sequence[float] | str | None  # the only text is "unknown"
Target = float | Callable[..., Any] | Array | np.ndarray | Sequence[float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Condition(ABC):
    """Makes a channel for a problem.

    `sigma` is the noise of the targets: a number, one per point, "unknown", or None for exact ones, which count as
    known up to `tolerance` where a method needs a likelihood; without one, up to what the trained network reaches. `weight`
    replaces the loss weight of the condition's kind. A condition without a `name` is named by what it is.
    """

    kind: ClassVar[Kind]
    sigma: Sigma = None
    tolerance: float | None = None
    weight: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        text(self.name, "the name of a condition", "inlet")
        for what in ("tolerance", "weight"):
            if getattr(self, what) is not None:
                number(getattr(self, what), f"the {what} of {self.label}")

    @property
    def label(self) -> str:
        """The condition's name; if it has none, what kind of condition it is."""
        return self.name or self.what

    @property
    @abstractmethod
    def what(self) -> str:
        """The kind of condition in a word: "initial"."""

    @abstractmethod
    def in_full(self, fields: Sequence[str]) -> str:
        """What tells the condition from others of its kind, in a problem with these fields: "initial of u"."""

    @abstractmethod
    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        """The condition at its points, which are drawn with `key` where the user gave none."""


def of_field(field: str | None, fields: Sequence[str]) -> str:
    """The field that a condition is about, where there are others: " of u"."""
    return f" of {field}" if field and len(fields) > 1 else ""


def make_channel(
    condition: Condition,
    context: Context,
    function: Callable[..., Any],
    target: Any,
    points: Float[Array, "n d"],
    given: Mapping[str, Any] | None = None,
    *,
    partner: Float[Array, "n d"] | None = None,
    over: Average | None = None,
    centred: bool = False,
    sampled: bool = False,
    flux: int | None = None,
    faces: Sequence[Part] = (),
) -> Channel:
    """The channel of a condition: `function` of the fields equals `target` at `points`, all of it checked; where the points are
    some of those on `faces`, everywhere there."""
    label, n, names = condition.label, len(points), context.names
    per_point = _is_listed(condition.sigma) or (not callable(target) and _is_listed(target))
    if sampled and per_point and points.shape[1] > 1:
        raise InputError(f"{label}: one value per point belongs to points of your own; say which with points=.")
    if not isinstance(getattr(condition, "hard", True), bool):
        raise InputError(f"hard= of {label} must be True or False, not {shown(condition.hard)}.")  # type: ignore[attr-defined]
    for name in given or {}:
        if name in (*names.fields, *names.coordinates, *names.unknowns):
            raise InputError(f"{label}: the name {name!r} of a given value is taken; choose another.")
    values = {name: per_point_values(value, n, f"{name} in {label}") for name, value in (given or {}).items()}
    operator = Operator(function, names, tuple(values), flux)
    if callable(target):
        _check_known(condition, function, target, context)
    _check_numbers(operator, label)
    return Channel(
        name=label,
        kind=condition.kind,
        operator=operator,
        points=points,
        target=_rows(target, context.domain, points, operator.size, label, faces),
        precision=_precision(condition, n),
        given=values,
        partner=partner,
        over=over,
        centred=centred,
        weight=condition.weight,
        sampled=sampled,
        target_moves=callable(target),
        linear=isinstance(function, Derivatives | Flux | Traces),
    )


def _check_known(condition: Condition, function: Any, target: Callable[..., Any], context: Context) -> None:
    """Refuse a given value that depends on what is not known beforehand, and say how that is written."""
    names, arguments = context.names, [parameter.name for parameter in wanted(target)]
    unknown = next((name for name in arguments if name in (*names.fields, *names.unknowns)), None)
    if unknown is not None:
        known, instead = ", ".join(names.coordinates), _as_operator(condition, function, unknown)
        raise InputError(
            f"{condition.label}: a given value is a function of {known} alone, and {unknown} is unknown; {instead}."
        )


def _as_operator(condition: Condition, function: Any, unknown: str) -> str:
    """How a condition is written whose value is unknown."""
    if not isinstance(function, Derivatives | Flux) or function.field == unknown:
        return "put it into an operator"
    if isinstance(function, Derivatives):
        along, on = function.along[0], f"{TIME}=min"
    else:
        along, on = function.space[:1] if function.b else (), getattr(condition, "on", None) or "".join(function.space[:1])
    left = ".".join(part for part in (function.field, "".join(along)) if part)
    own = getattr(condition, "points", None) is not None
    kind, where = ("Equation", "points=...") if own else ("Boundary", f'on="{on}"')
    return f"write {kind}(lambda {function.field}, {unknown}: {left} - {unknown}, {where})"


def _check_numbers(operator: Operator, label: str) -> None:
    """Refuse what is true or false: an equation with ==, which Python takes for a question."""
    if "b" in operator.kinds:
        u, x = operator.names.fields[0], operator.names.coordinates[0]
        raise InputError(
            f"{label}: the operator is true or false where a number is meant; an equation is what must be zero, {u}.{x} + {u} "
            f"instead of {u}.{x} == -{u}."
        )


def _is_listed(value: Any) -> bool:
    """Whether there is one value for each point."""
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def _all_over(part: Part) -> Float[np.ndarray, "n d"]:
    """Many points of a part of the boundary; of a face of a box, its corners too."""
    return part.grid(LOOKED_AT) if isinstance(part, Face) else np.asarray(part.placed(LOOKED_AT, "grid").points)


def _rows(target: Any, domain: Domain, points: Array, size: int, label: str, faces: Sequence[Part]) -> Float[Array, "n k"]:
    """Targets as one row per point."""
    if callable(target):
        rows = at_points(target, domain.coordinates, points)
        if not isinstance(rows, jax.core.Tracer):  # where points are redrawn in training there is nothing to look at yet
            check_function(np.asarray(rows), np.asarray(points), label, domain.coordinates)
            for everywhere in map(_all_over, faces):
                found = at_points(target, domain.coordinates, jnp.asarray(everywhere))
                check_function(np.asarray(found), everywhere, label, domain.coordinates)
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
    freedom = _freedom(condition)
    if tolerance is not None and not tolerance > 0:
        raise InputError(f"the tolerance of {label} must be positive, not {shown(tolerance)}.")
    if sigma is None:
        return Exact.up_to(tolerance)
    if isinstance(sigma, str):
        if sigma != "unknown":
            raise InputError(f"sigma of {label} must be a number, one per point, 'unknown' or None, not {shown(sigma)}.")
        return UnknownNoise.unseen(freedom)
    array = as_numbers(sigma, f"sigma of {label}")
    if not np.all(array > 0) or not np.all(np.isfinite(array)):
        raise InputError(f"sigma of {label} must be positive; use None for values that are exact.")
    each = jnp.full(1, float(array)) if array.ndim == 0 else per_point_values(array, n, f"sigma of {label}")
    return KnownNoise(each, freedom)


def _freedom(condition: Condition) -> float:
    """The degrees of freedom of the noise: measurements may say that it is Student's."""
    noise = getattr(condition, "noise", "gaussian")
    if not isinstance(noise, str) or noise not in NOISES:
        raise unknown_name(f"noise of {condition.label}", str(noise), NOISES)
    if noise != "gaussian" and condition.sigma is None:
        raise InputError(
            f"{condition.label} has no sigma, so that it is exact and has no noise; say sigma='unknown', or a number."
        )
    return NOISES[noise]
