"""A network trained elsewhere as one of ours, and the check that it is the same network still."""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.jet import Jet, Value, lower_closure, opaque
from ..derivatives.network import AbstractNetwork, Frozen, nothing
from ..errors import InputError
from ..problem.problem import Problem, before_softplus
from ..solve.seeds import runs_once
from .converted import Converted
from .features import last_inputs
from .program import Program

CHECKED = 11  # points of the check; no model is traced with a batch of this size
TOLERANCES = {False: 1e-6, True: 1e-10}  # relative, by whether the network is in double precision
ROUNDING = 1e-5
TINY = 1e-30
WORDS = ("its values", "its first derivatives", "its second derivatives")


class Imported(AbstractNetwork):
    """A function of its parameters and a point that somebody else has written. Jets go through it by nested differentiation.

    `look` gives the features: from the parameters of the network, or from `look_parameters` of its own.
    """

    parameters: dict[str, Array]
    function: Program = eqx.field(static=True)
    look: Program | None = eqx.field(static=True, default=None)
    look_parameters: Frozen | None = None

    @property
    def programs(self) -> tuple[Program, ...]:
        """The functions that are not epinn's own."""
        return (self.function,) if self.look is None else (self.function, self.look)

    def features(self, x: Value) -> Value:
        if self.look is None:
            return nothing(x)
        look = self.look
        parameters = self.parameters if self.look_parameters is None else self.look_parameters.content
        return opaque(lambda point: look(parameters, point), x)

    def __call__(self, x: Value) -> Value:
        return opaque(lambda point: self.function(self.parameters, point), x)


def imported(converted: Converted, problem: Problem, features: Any = None) -> tuple[Imported, list[str]]:
    """The network of a problem, checked against its source, in the precision that JAX is in; and what there is to say of it.

    `features` may be what another conversion made, a JAX function of one point, or None to look for them.
    """
    if not jax.tree.leaves(converted.parameters):
        raise InputError(
            "no weights were found in the network; give it as (function, parameters), with function(parameters, x)."
        )
    check_shape(functools.partial(converted.function, in_precision(converted.parameters)), problem, converted.source)
    with jax.enable_x64(is_double(converted.parameters)):
        check(converted, problem)
    return _network(converted, problem, features), precision_lost(converted.parameters, converted.source)


def is_double(tree: Any) -> bool:
    return any(leaf.dtype == np.float64 for leaf in jax.tree.leaves(tree))


def in_precision(tree: Any) -> Any:
    """Arrays for JAX, the real ones in the precision that it is in."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float if np.issubdtype(leaf.dtype, np.floating) else None), tree)


def precision_lost(tree: Any, source: str) -> list[str]:
    """A sentence where double precision becomes single."""
    if not is_double(tree) or jax.config.read("jax_enable_x64"):
        return []
    return [
        f"the weights of the network ({source}) are in double precision and were rounded to single precision; "
        'to keep them, call jax.config.update("jax_enable_x64", True) first.'
    ]


def _network(converted: Converted, problem: Problem, features: Any) -> Imported:
    dimension, columns = problem.domain.dimension, problem.names.positive_columns

    def function(parameters: Any, x: Float[Array, " d"]) -> Float[Array, " fields"]:
        values = converted.function(parameters, x)
        chosen = np.isin(np.arange(values.size), columns)  # these go through softplus once they leave the network
        return jnp.where(chosen, before_softplus(jnp.where(chosen, values, 1.0)), values) if columns else values

    parameters = in_precision(converted.parameters)
    look, own = _look(converted, parameters, features, dimension)
    return Imported(parameters, Program.of(function, parameters, dimension), look, own)


def _look(converted: Converted, parameters: Any, features: Any, dimension: int) -> tuple[Program | None, Frozen | None]:
    """How the features are made, and parameters of its own if it has any."""
    if isinstance(features, Converted):
        own = in_precision(features.parameters)
        return Program.of(features.function, own, dimension), Frozen(own)
    if callable(features):
        return Program.of(lambda _, x: jnp.ravel(features(x)), parameters, dimension), None
    if features is not None:
        raise InputError(f"features must be the name of a layer or a JAX function of one point, not {features!r}.")
    found = functools.partial(last_inputs, converted.function)
    seen = jax.eval_shape(found, parameters, jnp.zeros(dimension)).size
    return (Program.of(found, parameters, dimension) if seen else None), None


def check_shape(function: Callable[[Array], Array], problem: Problem, source: str) -> None:
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
                f"(relative; at most {TOLERANCES[double]:.0e} is allowed). Give u as a JAX function instead."
            )


def _by_jax(converted: Converted, points: np.ndarray, double: bool) -> list[np.ndarray]:
    """Values (n, fields), first and second derivatives (n, fields, d)."""
    seconds = [tuple(2 * int(i == axis) for i in range(points.shape[1])) for axis in range(points.shape[1])]
    firsts = [tuple(n // 2 for n in order) for order in seconds]
    with jax.enable_x64(double):
        parameters, at = in_precision(converted.parameters), in_precision(points)
        try:
            jet = runs_once(lambda p, x: opaque(lambda point: converted.function(p, point), x))(
                parameters, Jet.variable(at, lower_closure(seconds))
            )
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
