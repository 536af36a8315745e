"""How much memory a computation may use at once. What would need more is done in chunks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jaxtyping import Array, Float

GIBIBYTES = 4.0  # by default
ENOUGH = 2**20  # bytes for one point that are enough for any network

# Programs ask for the limit while they are traced, so it must be part of what JAX knows a compiled program by: a program that
# was compiled under another limit is not used again, but traced anew.
_new_context: Callable[[float], Any] = jax.make_user_context  # JAX has no types for it
_bytes = _new_context(GIBIBYTES * 2**30)


def available() -> int:
    """Bytes for what is being computed now."""
    return int(_bytes.value)


@contextmanager
def limited_to(gibibytes: float) -> Iterator[None]:
    """A limit for everything inside, whether it was compiled before or not."""
    with _bytes(gibibytes * 2**30):
        yield


@contextmanager
def shared_by(number: int) -> Iterator[None]:
    """The same memory for several computations at once."""
    with _bytes(_bytes.value / number):
        yield


def in_chunks(function: Callable[[Float[Array, "n d"]], Any], points: Float[Array, "m d"]) -> Any:
    """`function` of all points, as many at once as fit into memory.

    What is computed on the way in a chunk is not kept: a gradient computes it again.
    """
    n, limit = len(points), available()
    if n * ENOUGH <= limit or n * (needed := bytes_for(function, points[:1])) <= limit:
        return function(points)
    chunks = min(n, -(-n * needed // limit))
    size = -(-n // chunks)
    padding = jnp.broadcast_to(points[-1], (chunks * size - n, *points.shape[1:]))
    parts = jnp.concatenate([points, padding]).reshape(chunks, size, *points.shape[1:])
    result = jax.lax.map(jax.checkpoint(function), parts)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:n], result)


def bytes_for(function: Callable[..., Any], *arguments: Any) -> int:
    """The memory that a gradient of `function` may need: all that it keeps, and the most that it needs beside at one time."""
    return sum(_need(jax.make_jaxpr(function)(*arguments).jaxpr))


class Need(NamedTuple):
    """Bytes that are kept until the gradient has been computed, and the most that is needed beside them at one time."""

    kept: int
    passing: int


def _need(program: Jaxpr) -> Need:
    parts = [_need_of(equation) for equation in program.eqns]
    return Need(sum(part.kept for part in parts), max((part.passing for part in parts), default=0))


def _need_of(equation: JaxprEqn) -> Need:
    outputs = sum(_bytes_of(variable.aval) for variable in equation.outvars)
    inner = [_need(program) for program in _programs(equation.params)]
    if not inner:
        return Need(outputs, 0)
    kept, passing = sum(need.kept for need in inner), max(need.passing for need in inner)
    match equation.primitive.name:
        case "scan":  # the gradient goes back through every step
            return Need(max(outputs, equation.params["length"] * kept), passing)
        case "cond":  # what the branches keep shares its place
            return Need(max(outputs, *(need.kept for need in inner)), passing)
        case "while":  # has no gradient that would go back through its steps, so that each may forget the last
            return Need(outputs, kept + passing)
        case "checkpoint" | "remat" | "remat2":  # computed again when the gradient comes by
            return Need(outputs, kept + passing)
        case _:  # a call: jit, custom derivatives, linear solves
            return Need(kept, passing)


def _bytes_of(shape: Any) -> int:
    """The size of a value; of a token, which has no shape, none."""
    return shape.size * shape.dtype.itemsize if hasattr(shape, "size") else 0


def _programs(parameters: Mapping[str, Any]) -> list[Jaxpr]:
    """The programs that an equation runs: in one parameter, or several in one."""
    values = [one for value in parameters.values() for one in (value if isinstance(value, tuple) else (value,))]
    return [one.jaxpr if isinstance(one, ClosedJaxpr) else one for one in values if isinstance(one, ClosedJaxpr | Jaxpr)]
