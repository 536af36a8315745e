"""Checks of the arrays that a user brings. What is wrong gets one line that names the culprit."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import InputError
from .domain import Box


def own_points(points: Any, label: str, domain: Box) -> Float[Array, "n d"]:
    """Points that the user brought, checked."""
    given = as_numbers(points, f"the points of {label}")
    checked = given[:, None] if given.ndim == 1 and domain.dimension == 1 else given
    if checked.ndim != 2 or checked.shape[1] != domain.dimension or not len(checked):
        raise InputError(
            f"the points of {label} have shape {given.shape}; they must be (n, {domain.dimension}), "
            f"one column for each of {', '.join(domain.coordinates)}."
        )
    check_finite(checked, f"the points of {label}")
    outside = ~domain.contains(checked)
    if outside.any():
        raise InputError(
            f"{outside.sum()} of {len(checked)} points of {label} lie outside the domain, the first at "
            f"{tuple(checked[outside][0].tolist())}; enlarge the box or drop them."
        )
    return jnp.asarray(checked)


def as_numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be an array of numbers, all rows of one length.") from None


def check_finite(values: np.ndarray, what: str) -> None:
    values = np.atleast_1d(values)
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if bad.size:
        raise InputError(f"{what} contain NaN or infinity ({bad.size} of {len(values)} rows, first row {bad[0]}); drop them.")


def per_point_values(values: Any, n: int, what: str) -> Float[Array, " n"]:
    array = as_numbers(values, what)
    if array.shape != (n,) or not np.all(np.isfinite(array)):
        raise InputError(f"{what} must be {n} finite numbers, one per point; got shape {array.shape}.")
    return jnp.asarray(array)
