"""Several seeds at once: trees of arrays with one leading axis for the seeds."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from ..derivatives import memory
from ..errors import InputError

Keys = Key[Array, " seeds"]  # one random key for each seed

R = TypeVar("R")


def stack(trees: Sequence[Any]) -> Any:
    """One tree with a leading seed axis. What is not an array (operators, names) is taken from the first tree."""
    rows = [jax.tree.leaves(eqx.filter(tree, eqx.is_array)) for tree in trees]
    if any(len(row) != len(rows[0]) for row in rows):
        raise InputError("seeds that run together must have the same conditions.")
    columns = list(zip(*rows, strict=True))
    if any(leaf.shape != column[0].shape for column in columns for leaf in column):
        raise InputError("seeds that run together must have the same number of points and sensors.")
    arrays, static = eqx.partition(trees[0], eqx.is_array)
    # in numpy: outside compiled code every small operation on JAX arrays is a program to be compiled first
    stacked = jax.tree.unflatten(jax.tree.structure(arrays), [jnp.asarray(np.stack(column)) for column in columns])
    return eqx.combine(stacked, static)


def unstack(tree: Any, size: int) -> list[Any]:
    """The trees of the single seeds."""
    arrays, static = eqx.partition(tree, eqx.is_array)
    on_host = jax.tree.map(np.asarray, arrays)
    return [eqx.combine(jax.tree.map(lambda leaf, i=i: jnp.asarray(leaf[i]), on_host), static) for i in range(size)]


def chosen(tree: Any, seeds: Sequence[int]) -> Any:
    """Some of the seeds."""
    return jax.tree.map(lambda leaf: leaf[np.asarray(seeds)] if eqx.is_array(leaf) else leaf, tree)


def over_seeds(function: Callable[..., R], *trees: Any, at_once: int | None = None) -> R:
    """`function` of one seed, applied along the leading axis of all arrays in `trees`.

    Only `at_once` seeds are computed together, all of them by default, and share the memory. A single seed is not vectorised:
    products with a batch axis of one are slower than plain ones on a CPU.
    """
    arrays, static = eqx.partition(trees, eqx.is_array)
    size = jax.tree.leaves(arrays)[0].shape[0]
    at_once = min(at_once or size, size)
    statics = []

    def arrays_only(arrays: Any) -> Any:
        found, rest = eqx.partition(function(*eqx.combine(arrays, static)), eqx.is_array)
        statics.append(rest)
        return found

    with memory.shared_by(at_once):
        if size == 1:
            alone = arrays_only(jax.tree.map(lambda leaf: leaf[0], arrays))
            result = jax.tree.map(lambda leaf: leaf[None], alone)
        elif at_once == size:
            result = jax.vmap(arrays_only)(arrays)
        else:
            result = jax.lax.map(arrays_only, arrays, batch_size=at_once if at_once > 1 else None)
    combined: R = eqx.combine(result, statics[0])
    return combined


def seeds_at_once(bytes_each: int) -> int:
    """How many seeds to compute at once if each takes this much memory: as many as fit, but one after the other on a CPU,
    where they would only wait for each other."""
    return 1 if jax.default_backend() == "cpu" else max(1, memory.available() // bytes_each)


def one_of(stacked: Any) -> Any:
    """What the tree of one seed looks like."""

    def shape(leaf: Array) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype)  # type: ignore[no-untyped-call]  # JAX does not annotate it

    return jax.tree.map(shape, stacked)


def unraveller(like: Any) -> Callable[[Float[Array, " p"]], Any]:
    """From one vector to the tree of parameters."""
    return ravel_pytree(jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like))[1]


@eqx.filter_jit
def unravel_seeds(vectors: Float[Array, "seeds p"], like: Any) -> Any:
    """The trees of parameters of all seeds, from one vector each."""
    return jax.vmap(unraveller(like))(vectors)
