"""The passage to double precision and back: Gauss-Newton and all linear algebra on Jacobians need it, networks do not."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from threadpoolctl import threadpool_limits

from ..derivatives.network import double, needs_double

R = TypeVar("R")

LARGE = 3000  # the side of a matrix from which on several threads are worth what they cost when others need the cores too


def in_double(function: Callable[..., R], *arguments: Any, side: int = 0) -> R:
    """`function` of the arguments with all their real arrays in double precision; whatever it computes is in double precision.

    Arrays of the result are numpy's: as JAX's they would be rounded by whatever touches them outside. `side` is that of the
    largest matrix that is factorised. On a CPU the threads that do this wait for each other in busy loops: beside one other
    process on two cores, two of them are fifteen times as slow as one.
    """
    import scipy.linalg  # noqa: F401  (the library that JAX will factorise with: once it is loaded its threads can be limited)

    threads = None if side >= LARGE else 1
    with jax.enable_x64(True), threadpool_limits(threads, user_api="blas"):
        result = function(*double(arguments))
        on_host: R = jax.tree.map(lambda leaf: np.asarray(leaf) if eqx.is_array(leaf) else leaf, result)
    return on_host


def in_its_precision(function: Callable[..., R], *arguments: Any) -> R:
    """`function` of the arguments, in double precision if any of them is a network that needs it."""
    return in_double(function, *arguments) if needs_double(arguments) else function(*arguments)


def precision_of(*trees: Any) -> AbstractContextManager[Any]:
    """Double precision where there is a network that needs it, else what is switched on."""
    return jax.enable_x64(True) if needs_double(trees) else nullcontext()


def cast_like(tree: R, like: R) -> R:
    """The arrays of a tree in the precision of another one of the same structure; their shapes may differ."""
    cast: R = jax.tree.map(jnp.asarray, optax.tree.cast_like(tree, like))
    return cast
