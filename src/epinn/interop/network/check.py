"""The check that an imported network is still the network of its source: values, first and second derivatives."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...derivatives.compiled import runs_once
from ...derivatives.jet import Jet, lower_closure, opaque
from ...errors import InputError
from ...problem.problem import Problem
from ..converted import Converted

CHECKED = 11  # points of the check; no model is traced with a batch of this size
TOLERANCES = {False: 1e-6, True: 1e-10}  # relative, by whether the network is in double precision
ROUNDING = 1e-5
TINY = 1e-30
WORDS = ("its values", "its first derivatives", "its second derivatives")


def is_double(tree: Any) -> bool:
    return any(leaf.dtype == np.float64 for leaf in jax.tree.leaves(tree))


def in_precision(tree: Any) -> Any:
    """Arrays for JAX, the real ones in the precision that it is in."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float if np.issubdtype(leaf.dtype, np.floating) else None), tree)


def check_shape(function: Callable[[Array], Any], problem: Problem, source: str) -> None:
    """Refuse a network with other inputs or outputs than the problem has."""
    names, fields = problem.domain.coordinates, problem.fields
    wanted = f"the problem has the coordinates {', '.join(names)} and the fields {', '.join(fields)}"
    try:
        shape = jax.eval_shape(function, jnp.zeros(len(names))).shape
    except (TypeError, ValueError) as error:
        raise InputError(f"{source} does not fit: {wanted} ({str(error).splitlines()[0]}).") from None
    if shape != (len(fields),):
        raise InputError(f"{source} gives values of shape {shape} at one point, and {wanted}.")


def check(converted: Converted, problem: Problem) -> None:
    """Refuse a network that is not what it is in its source framework: value, first and second derivatives.

    In single precision both sides have rounded: what our own side loses by it is allowed on top of the tolerance.
    """
    double, extent = is_double(converted.parameters), np.subtract(problem.domain.upper, problem.domain.lower)
    unit = np.random.default_rng(0).uniform(size=(CHECKED, problem.domain.dimension))
    points = (np.asarray(problem.domain.lower) + unit * extent).astype(np.float64 if double else np.float32)
    found, exact = (_by_jax(converted, points, precise) for precise in (double, True))
    if not all(np.all(np.isfinite(values)) for values in found):
        raise InputError(f"{converted.source} or its derivatives are not finite numbers everywhere in the domain.")
    for name in problem.positive:
        if np.any(found[0][:, problem.fields.index(name)] <= 0):
            raise InputError(f"{name} of the network is not positive, and the problem says it is; drop positive={name!r}.")
    for order, parts in enumerate(zip(found, exact, _by_source(converted, points), strict=False)):
        mine, precise, its = (values.reshape(*found[0].shape, -1) for values in parts)
        scale = np.max(np.abs(its), axis=0) + np.max(np.abs(found[0]), axis=0)[:, None] / extent**order + TINY
        error, rounding = (float(np.max(np.abs(mine - other) / scale)) for other in (its, precise))
        rounding = ROUNDING if precise.dtype == np.float32 else rounding  # it cannot be had in double precision
        if not error <= TOLERANCES[double] + 4 * rounding:
            raise InputError(
                f"{converted.source} could not be imported faithfully: {WORDS[order]} differ from its own by {error:.1e} "
                f"(relative; at most {TOLERANCES[double]:.0e} is allowed). Give the network as a JAX function instead."
            )


def _by_jax(converted: Converted, points: np.ndarray, double: bool) -> list[np.ndarray]:
    """Values (n, fields), first and second derivatives (n, fields, d)."""
    seconds = [tuple(2 * int(i == axis) for i in range(points.shape[1])) for axis in range(points.shape[1])]
    firsts = [tuple(n // 2 for n in order) for order in seconds]

    def values(parameters: Any, x: Jet) -> Any:
        return opaque(lambda point: converted.function(parameters, point), x)

    with jax.enable_x64(double):
        parameters, at = in_precision(converted.parameters), in_precision(points)
        try:
            jet = runs_once(values)(parameters, Jet.variable(at, lower_closure(seconds)))
        except TypeError as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{converted.source} cannot be differentiated twice, forwards: {reason}") from None
        parts = (np.stack([np.asarray(jet[order]) for order in part], axis=-1) for part in (firsts, seconds))
        return [np.asarray(jet.value), *parts]


def _by_source(converted: Converted, points: np.ndarray) -> list[np.ndarray]:
    """The same by the source, as far as it can tell."""
    if converted.reference is None:
        return []
    slopes = converted.derivatives(points) if converted.derivatives else ()
    return [converted.reference(points), *(part for part in slopes if not np.all(np.isnan(part)))]  # not twice differentiable
