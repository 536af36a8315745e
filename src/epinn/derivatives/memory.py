"""How much memory a computation may use at once. What would need more is done in chunks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

GIBIBYTES = 4.0  # by default
ENOUGH = 2**20  # bytes for one point that are enough for any network

_bytes: ContextVar[float] = ContextVar("bytes", default=GIBIBYTES * 2**30)


def available() -> int:
    """Bytes for what is being computed now."""
    return int(_bytes.get())


@contextmanager
def limited_to(gibibytes: float) -> Iterator[None]:
    """A limit for everything inside. It is read when a program is compiled, not when it runs."""
    token = _bytes.set(gibibytes * 2**30)
    try:
        yield
    finally:
        _bytes.reset(token)


@contextmanager
def shared_by(number: int) -> Iterator[None]:
    """The same memory for several computations at once."""
    token = _bytes.set(_bytes.get() / number)
    try:
        yield
    finally:
        _bytes.reset(token)


def in_chunks(function: Callable[[Float[Array, "n d"]], Any], points: Float[Array, "n d"]) -> Any:
    """`function` of all points, so many at once as fit into memory.

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


def bytes_for(function: Callable, *arguments: Any) -> int:
    """All that a function computes on its way, none of it forgotten: what its gradient may keep."""
    return _size(jax.make_jaxpr(function)(*arguments).jaxpr)


def _size(program: Any) -> int:
    total = 0
    for equation in program.eqns:
        inner = [value for value in equation.params.values() if hasattr(value, "jaxpr")]
        outputs = sum(v.aval.size * v.aval.dtype.itemsize for v in equation.outvars if hasattr(v.aval, "size"))
        total += sum(_size(value.jaxpr) for value in inner) if inner else outputs
    return total
