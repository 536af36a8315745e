"""Checks of the arrays that a user brings. What is wrong gets one line that names the culprit."""

import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import EpinnWarning, InputError
from .domain import Box


def own_points(points: Any, label: str, domain: Box) -> Float[Array, "n d"]:
    """The points that the user gave to the condition `label`, one row each: refused where they lie outside the domain."""
    checked = as_columns(points, label, domain.coordinates)
    outside = ~domain.contains(checked)
    if outside.any():
        raise InputError(f"{_outside(checked, outside, f'points of {label}', domain)}; enlarge the box or drop them.")
    return jnp.asarray(checked)


def as_columns(points: Any, label: str, names: Sequence[str]) -> Float[np.ndarray, "n d"]:
    """The points of the condition `label`, one row each and one column per name; with one name a flat array is fine."""
    given = as_numbers(points, f"the points of {label}")
    checked = given[:, None] if given.ndim == 1 and len(names) == 1 else given
    if checked.ndim != 2 or checked.shape[1] != len(names) or not len(checked):
        raise InputError(
            f"the points of {label} have shape {given.shape}; they must be (n, {len(names)}), "
            f"one column for each of {', '.join(names)}."
        )
    check_finite(checked, f"the points of {label}")
    return checked


def as_points(points: Any, domain: Box) -> Float[Array | np.ndarray, "n d"]:
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


def _outside(points: np.ndarray, outside: np.ndarray, what: str, domain: Box) -> str:
    first = ", ".join(f"{value:.6g}" for value in points[outside][0])
    return f"{outside.sum()} of {len(points)} {what} lie outside the domain, the first at ({first}); the box is {domain}"


def as_numbers(values: Any, what: str) -> np.ndarray:
    """An array of floating-point numbers; `what` names it where it is none."""
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be an array of numbers, all rows of one length.") from None


def check_finite(values: np.ndarray, what: str) -> None:
    """Refuse NaN and infinity; `what` names the values."""
    values = np.atleast_1d(values)
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
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
    array = as_numbers(values, what)
    if array.shape != (n,) or not np.all(np.isfinite(array)):
        raise InputError(f"{what} must be {n} finite numbers, one per point; got shape {array.shape}.")
    return jnp.asarray(array)
