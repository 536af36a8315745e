"""A network trained elsewhere as one of ours: a function of its parameters and a point, with jets and features."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...derivatives.jet import Value, before_softplus, opaque
from ...derivatives.network import AbstractNetwork, Frozen, nothing
from ...errors import InputError
from ...problem.problem import Problem
from ..converted import Converted
from .check import check, check_shape, in_precision, is_double
from .features import last_inputs
from .program import Program


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
    warnings = [*converted.notes, *precision_lost(converted.parameters, converted.source)]
    return _network(converted, problem, features), warnings


def precision_lost(tree: Any, source: str) -> list[str]:
    """A sentence where double precision becomes single."""
    if not is_double(tree) or jax.dtypes.canonicalize_dtype(np.float64) == np.float64:
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
