"""Functions that are recognised by what they compute: by their traced steps in one process, by their values in files."""

import functools
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr
from jaxtyping import Array, Float, Shaped

from ...derivatives.compiled import runs_once
from ...errors import InputError

POINTS = 5  # at which a digest looks at a function,
SIZES = ((-0.5, 0.5), (-2.0, 2.0), (0.1, 1.0))  # with parameters in these ranges, the last for those that must be positive
EXTENT = 2.0  # of the points
DIGITS = {np.dtype(np.float64): 6, np.dtype(np.float32): 3}  # far fewer than are exact, so that none depends on rounding
GOLDEN = (5**0.5 - 1) / 2
KIND = "values-"  # what a digest begins with; those before it were made of the program's text


@dataclass(frozen=True)
class Program:
    """A function of arrays and one point. Two that take the same steps are equal, so that what uses them is compiled once.

    Steps are compared as JAX prints them, which holds within one process. In a file, where the function itself cannot be
    stored, its `digest` stands for it, which is made of what it computes and so is the same in every version of JAX.
    """

    function: Callable[[Any, Array], Array] = field(compare=False)
    steps: str
    arrays: Any = field(compare=False)  # stand-ins of the same shapes; integers as they are
    dimension: int = field(compare=False)

    @classmethod
    def of(cls, function: Callable[[Any, Array], Array], arrays: Any, dimension: int) -> "Program":
        closed = traced(function, arrays, jnp.zeros(dimension))
        content = hashlib.sha256(re.sub("0x[0-9a-f]+", "", str(closed)).encode())  # without addresses in memory
        for constant in closed.consts:
            content.update(np.asarray(constant).tobytes())
        return cls(function, content.hexdigest(), jax.tree.map(_stand_in, arrays), dimension)

    def __call__(self, arrays: Any, x: Array) -> Array:
        return self.function(arrays, x)

    @functools.cached_property
    def digest(self) -> str:
        """Names and shapes of the parameters, and what the function makes of parameters and points that are always the same."""
        named = jax.tree_util.tree_flatten_with_path(self.arrays)[0]
        content = hashlib.sha256(repr([(jax.tree_util.keystr(path), leaf.shape) for path, leaf in named]).encode())
        with jax.enable_x64(True):
            points = jnp.asarray(-EXTENT + 2 * EXTENT * _spread((POINTS, self.dimension), 0))
            measure = runs_once(_measured(self.function))
            for low, high in SIZES:
                at, towards = (jax.tree.map(functools.partial(_filled, low, high, shift), self.arrays) for shift in (1, 2))
                for numbers in measure(at, towards, points):
                    content.update(_rounded(np.asarray(numbers)).encode())
        return f"{KIND}{content.hexdigest()[:32]}"


def traced(function: Callable[..., Any], *arguments: Any) -> ClosedJaxpr:
    """What a function computes, step by step, with the functions that it calls written out."""
    try:
        with jax.disable_jit():
            return jax.make_jaxpr(function)(*arguments)
    except jax.errors.ConcretizationTypeError:
        raise InputError(
            "the network branches on the values of its input, which compiled code cannot follow; use jnp.where instead."
        ) from None


def _measured(function: Callable[[Any, Array], Array]) -> Callable[..., tuple[Array, ...]]:
    """Values, first and second derivatives along a direction, and derivatives with respect to the parameters."""

    def at_point(arrays: Any, towards: Any, x: Float[Array, " d"]) -> tuple[Array, ...]:
        direction = jnp.asarray(0.5 + _spread(x.shape, 3))

        def along(t: Any) -> Array:
            return function(arrays, x + t * direction)

        def across(t: Any) -> Array:
            return function(
                jax.tree.map(lambda a, b: a + t * b if jnp.issubdtype(a.dtype, jnp.floating) else a, arrays, towards), x
            )

        def slope(t: Any) -> tuple[Array, Array]:
            return jax.jvp(along, (t,), (1.0,))

        (value, first), (_, second) = jax.jvp(slope, (0.0,), (1.0,))
        return value, first, second, jax.jvp(across, (0.0,), (1.0,))[1]

    return jax.vmap(at_point, in_axes=(None, None, 0))


def _stand_in(leaf: Any) -> Shaped[np.ndarray, "..."]:
    """An array of the same shape that takes no memory; integers count with their values."""
    is_real = jnp.issubdtype(leaf.dtype, jnp.floating)
    return np.broadcast_to(np.zeros((), np.float64), leaf.shape) if is_real else np.asarray(leaf)


def _filled(low: float, high: float, shift: int, leaf: Shaped[np.ndarray, "..."]) -> Array:
    if not np.issubdtype(leaf.dtype, np.floating):
        return jnp.asarray(leaf)
    return jnp.asarray(low + (high - low) * _spread(leaf.shape, shift))


def _spread(shape: tuple[int, ...], shift: int) -> Float[np.ndarray, "..."]:
    """Numbers between 0 and 1 that are spread evenly and look like no others: multiples of the golden ratio."""
    return ((1 + np.arange(np.prod(shape, dtype=int)) + 0.37 * shift) * GOLDEN % 1.0).reshape(shape)


def _rounded(numbers: Float[np.ndarray, "..."]) -> str:
    """Numbers in parts of the largest, so that what is zero but for rounding is zero."""
    digits = DIGITS[numbers.dtype]
    finite = np.abs(numbers[np.isfinite(numbers)])
    scale = float(finite.max(initial=0.0)) or 1.0
    parts = np.round(numbers.astype(np.float64) / scale, digits) + 0.0  # no negative zero
    return f"{scale:.{digits - 1}e} {parts.ravel().tolist()}"
