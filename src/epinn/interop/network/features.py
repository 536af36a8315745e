"""What the last layer of any network sees, found in what JAX traces of it.

A layer is a product of something that depends on x with something that does not. The last ones are those after which no other
stands before the output; the features are what goes into them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Var, jaxprs_in_params
from jaxtyping import Array, Float

from .program import traced

PRODUCTS = ("dot_general", "conv_general_dilated")
SAME_NUMBERS = ("broadcast_in_dim", "convert_element_type", "copy", "reshape", "squeeze", "transpose")


def last_inputs(function: Callable[[Any, Array], Array], arrays: Any, x: Float[Array, " d"]) -> Float[Array, " features"]:
    """What goes into the last layers of `function`, joined; empty where no layer is found."""
    closed = traced(function, arrays, x)
    chosen = _into_last_products(closed)
    if not chosen:
        return x[:0]
    inner = closed.jaxpr.replace(outvars=chosen)
    values = jax.core.eval_jaxpr(inner, closed.consts, *jax.tree.leaves((arrays, x)))
    return jnp.concatenate([value.ravel() for value in values])


def _into_last_products(closed: ClosedJaxpr) -> list[Var]:
    """The variables that go into the last products; none where one of these is hidden in a loop or a branch."""
    moving = _depending_on(closed.jaxpr, closed.jaxpr.invars[-1])
    makers = {out: step for step in closed.jaxpr.eqns for out in step.outvars}
    needed = _variables(closed.jaxpr.outvars)
    needed_later: set[Var] = set()  # by a product that comes after
    chosen: dict[Var, None] = {}
    for step in reversed(closed.jaxpr.eqns):
        if not needed.intersection(step.outvars):
            continue
        inputs, is_last = _variables(step.invars), not needed_later.intersection(step.outvars)
        needed |= inputs
        factor = _moving_factor(step, moving, makers)
        hidden = factor is None and bool(inputs & moving) and _holds_product(step)
        if is_last and hidden:
            return []
        if is_last and factor is not None:
            chosen[_origin(factor, makers)] = None
        if not is_last or factor is not None or hidden:
            needed_later |= inputs
    return [variable for variable in reversed(chosen) if variable not in closed.jaxpr.invars]


def _depending_on(program: Jaxpr, x: Var) -> set[Var]:
    moving = {x}
    for step in program.eqns:
        if moving & _variables(step.invars):
            moving.update(step.outvars)
    return moving


def _moving_factor(step: JaxprEqn, moving: set[Var], makers: Mapping[Var, JaxprEqn]) -> Var | None:
    """The one factor of a product that depends on x; a product may also be written as a sum of `mul`."""
    if step.primitive.name == "reduce_sum" and isinstance(step.invars[0], Var) and step.invars[0] in makers:
        step = makers[step.invars[0]]
        if step.primitive.name != "mul" or any(not getattr(variable.aval, "shape", ()) for variable in step.invars):
            return None
    elif step.primitive.name not in PRODUCTS:
        return None
    found = [variable for variable in step.invars if isinstance(variable, Var) and variable in moving]
    return found[0] if len(found) == 1 else None


def _origin(variable: Var, makers: Mapping[Var, JaxprEqn]) -> Var:
    """The same numbers before they were brought into shape."""
    while variable in makers and makers[variable].primitive.name in SAME_NUMBERS:
        (variable,) = _variables(makers[variable].invars[:1])
    return variable


def _holds_product(step: JaxprEqn) -> bool:
    inner = [inner for found in jaxprs_in_params(step.params) for inner in found.eqns]
    return any(part.primitive.name in PRODUCTS or _holds_product(part) for part in inner)


def _variables(given: Iterable[Any]) -> set[Var]:
    return {variable for variable in given if isinstance(variable, Var)}
