"""The passage to double precision and back: Gauss-Newton and all linear algebra on Jacobians need it, networks do not."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

R = TypeVar("R")


def in_double(function: Callable[..., R], *arguments: Any) -> R:
    """`function` of the arguments with all their real arrays in double precision; whatever it computes is in double precision.

    Arrays of the result are numpy's: as JAX's they would be rounded by whatever touches them outside.
    """
    with jax.enable_x64(True):
        result = function(*double(arguments))
        on_host: R = jax.tree.map(lambda leaf: np.asarray(leaf) if eqx.is_array(leaf) else leaf, result)
    return on_host


def double(tree: Any) -> Any:
    """The tree with all its real arrays in double precision, where that is switched on."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf), jnp.float64) if eqx.is_inexact_array(leaf) else leaf, tree)


def cast_like(tree: R, like: R) -> R:
    """The arrays of a tree in the precision of another one of the same structure; their shapes may differ."""
    cast: R = jax.tree.map(jnp.asarray, optax.tree.cast_like(tree, like))
    return cast
