"""Checks of the arrays that a user brings. What is wrong gets one line that names the culprit."""

import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import names
from ..errors import EpinnWarning, InputError, unknown_name
from .domain import Box
from .region import Domain

NO_NUMBERS = (
    "cmMV"  # NumPy's kinds of arrays that it would make numbers of, and lose what they mean: complex ones, times, bytes
)
FEW = 3  # rows that a message names one by one


def own_points(points: Any, label: str, domain: Domain, lines: np.ndarray | None = None) -> Float[Array, "n d"]:
    """The points that the user gave to the condition `label`, one row each: refused where they lie outside the domain.

    `lines` are those of the file that the points come from, if they do.
    """
    checked = as_columns(points, label, domain.coordinates)
    outside = ~domain.contains(checked)
    if outside.any():
        found = _outside(checked, outside, f"points of {label}", domain, lines)
        larger = "enlarge the box" if isinstance(domain, Box) else "change the shape"
        raise InputError(f"{found}; check their units, {larger} or drop them.")
    return jnp.asarray(checked)


def in_order(points: Any, coordinates: Sequence[str], label: str, domain: Domain) -> Float[np.ndarray, "n d"]:
    """Points whose columns have names, with the columns in the order of the domain's coordinates."""
    coordinates = names(coordinates, f"coordinates of {label}", "coordinates=('x', 't')")
    for name in coordinates:
        if name not in domain.coordinates:
            wish = ", ".join(f"{ours!r}: {its!r}" for ours, its in zip(domain.coordinates, coordinates, strict=False))
            reason = unknown_name("coordinate", name, domain.coordinates)
            raise InputError(f"{label}: {reason} Columns with other names are given by coordinate, coordinates={{{wish}}} say.")
    missing = [name for name in domain.coordinates if name not in coordinates]
    if missing or len(set(coordinates)) < len(coordinates):
        raise InputError(
            f"{label} has the coordinates {', '.join(coordinates)}; it must have each of {', '.join(domain.coordinates)} once."
        )
    return as_columns(points, label, coordinates)[:, [list(coordinates).index(name) for name in domain.coordinates]]


def as_columns(points: Any, label: str, columns: Sequence[str]) -> Float[np.ndarray, "n d"]:
    """The points of the condition `label`, one row each and one column per name; with one name a flat array is fine."""
    given = as_numbers(points, f"the points of {label}")
    checked = given[:, None] if given.ndim == 1 and len(columns) == 1 else given
    if checked.ndim != 2 or checked.shape[1] != len(columns) or not len(checked):
        raise InputError(
            f"the points of {label} have shape {given.shape}; they must be (n, {len(columns)}), "
            f"one column for each of {', '.join(columns)}."
        )
    check_finite(checked, f"the points of {label}")
    return checked


def as_points(points: Any, domain: Domain) -> Float[Array | np.ndarray, "n d"]:
    """The points that the user asks a prediction for, one row each; a flat array is fine in one dimension.

    Points outside the domain are taken, with a warning: nothing was said about the solution there.
    """
    array: Any = points if isinstance(points, jax.core.Tracer) else as_numbers(points, "points")
    array = array[:, None] if array.ndim == 1 and domain.dimension == 1 else array
    if array.ndim != 2 or array.shape[1] != domain.dimension:
        names = ", ".join(domain.coordinates)
        raise InputError(f"points must have shape (n, {domain.dimension}), one column for each of {names}; got {array.shape}.")
    if not isinstance(array, jax.core.Tracer):  # inside compiled code there is nothing to look at
        outside = ~domain.contains(np.asarray(array))
        if outside.any():
            where = _outside(np.asarray(array), outside, "points", domain)
            warnings.warn(f"{where}: the problem says nothing about the solution there.", EpinnWarning, stacklevel=3)
    checked: Array | np.ndarray = array
    return checked


def _outside(points: np.ndarray, outside: np.ndarray, what: str, domain: Domain, lines: np.ndarray | None = None) -> str:
    """Which points lie outside, where the first is, and how far outside, or in what that is no part of the domain."""
    first, why = ", ".join(f"{value:.6g}" for value in points[outside][0]), domain.excluded(points[outside])
    rows = np.flatnonzero(outside) if lines is None else lines[outside]
    kind = "row" if lines is None else "line"
    more = f" and {len(rows) - FEW} more" if len(rows) > FEW else ""
    named = f"{kind}{'s' if len(rows) > 1 else ''} {', '.join(str(row) for row in rows[:FEW])}{more}"
    place = f"the first at ({first}), {why or _beyond(points, domain, several=len(rows) > 1)}"
    what_it_is = "box" if isinstance(domain, Box) else "domain"
    return f"{len(rows)} of {len(points)} {what} lie outside the domain ({named}), {place}; the {what_it_is} is {domain}"


def _beyond(points: np.ndarray, domain: Domain, several: bool) -> str:
    """How far the farthest point is outside, along the coordinate that it is farthest in."""
    lower, upper = np.asarray(domain.lower), np.asarray(domain.upper)
    beyond = np.max(np.maximum(lower - points, points - upper), axis=0)
    axis = int(np.argmax(beyond / (upper - lower)))
    return f"{'the farthest ' if several else ''}by {beyond[axis]:.3g} in {domain.coordinates[axis]}"


def as_numbers(values: Any, what: str) -> np.ndarray:
    """An array of floating-point numbers; `what` names it where it is none."""
    try:
        given = np.ma.filled(values.astype(float), np.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if given.dtype.kind not in NO_NUMBERS:
            return np.asarray(given, float)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"{what} must be an array of numbers, all rows of one length.")


def check_finite(values: np.ndarray, what: str) -> None:
    """Refuse NaN and infinity; `what` names the values."""
    values = np.atleast_1d(values)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=tuple(range(1, values.ndim))))
    if bad.size:
        raise InputError(f"{what} contain NaN or infinity ({bad.size} of {len(values)} rows, first row {bad[0]}); drop them.")


def check_function(values: np.ndarray, points: np.ndarray, what: str, coordinates: Sequence[str]) -> None:
    """Refuse NaN and infinity among the values of a function at points; `what` names it."""
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        value, place = values[bad][0][~np.isfinite(values[bad][0])][0], at_place(points[bad][0], coordinates)
        raise InputError(f"the function of {what} is {value} at {place}; it must be finite there (see jax.numpy.where).")


def at_place(point: np.ndarray, coordinates: Sequence[str]) -> str:
    """A point in words: "x=0, t=0.5"."""
    return ", ".join(f"{name}={value:.6g}" for name, value in zip(coordinates, point, strict=True))


def per_point_values(values: Any, n: int, what: str) -> Float[Array, " n"]:
    """One finite number for each of `n` points; `what` names them where they are not."""
    if isinstance(values, jax.core.Tracer):  # normals of points that are drawn anew in training
        return values
    array = as_numbers(values, what)
    if array.shape != (n,) or not np.all(np.isfinite(array)):
        raise InputError(f"{what} must be {n} finite numbers, one per point; got shape {array.shape}.")
    return jnp.asarray(array)
