"""Several seeds at once: trees of arrays with one leading axis for the seeds."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..derivatives import memory
from ..errors import InputError

# For a program that is compiled longer than it runs: quickly compiled, slow to run.
runs_once: Callable = functools.partial(eqx.filter_jit, compiler_options={"xla_backend_optimization_level": 0})


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


def over_seeds(function: Callable[..., Any], *trees: Any) -> Any:
    """`function` of one seed, applied along the leading axis of all arrays in `trees`.

    A single seed is not vectorised: products with a batch axis of one are slower than plain ones on a CPU.
    """
    size = jax.tree.leaves(eqx.filter(trees, eqx.is_array))[0].shape[0]
    if size > 1:
        with memory.shared_by(size):
            return eqx.filter_vmap(function)(*trees)
    arrays, static = eqx.partition(trees, eqx.is_array)
    result = function(*eqx.combine(jax.tree.map(lambda leaf: leaf[0], arrays), static))
    arrays, static = eqx.partition(result, eqx.is_array)
    return eqx.combine(jax.tree.map(lambda leaf: leaf[None], arrays), static)


def one_of(stacked: Any) -> Any:
    """What the tree of one seed looks like."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), stacked)


def unraveller(like: Any) -> Callable[[Float[Array, " p"]], Any]:
    """From one vector to the tree of parameters."""
    return ravel_pytree(jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like))[1]


@eqx.filter_jit
def unravel_seeds(vectors: Float[Array, "seeds p"], like: Any) -> Any:
    """The trees of parameters of all seeds, from one vector each."""
    return jax.vmap(unraveller(like))(vectors)
