"""Functions that are recognised by what they compute: traced by JAX, compared by their text."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr
from jaxtyping import Array

from ...errors import InputError


@dataclass(frozen=True)
class Program:
    """A function of arrays and one point. Two that do the same are equal, so that what uses them is compiled once.

    The digest also stands for the function in a file, where the function itself cannot be stored.
    """

    function: Callable[[Any, Array], Array] = field(compare=False)
    digest: str

    @classmethod
    def of(cls, function: Callable[[Any, Array], Array], arrays: Any, dimension: int) -> "Program":
        closed = traced(function, arrays, jnp.zeros(dimension))
        content = hashlib.sha256(re.sub("0x[0-9a-f]+", "", str(closed)).encode())  # without addresses in memory
        for constant in closed.consts:
            content.update(np.asarray(constant).tobytes())
        return cls(function, content.hexdigest()[:32])

    def __call__(self, arrays: Any, x: Array) -> Array:
        return self.function(arrays, x)


def traced(function: Callable[..., Array], *arguments: Any) -> ClosedJaxpr:
    """What a function computes, step by step, with the functions that it calls written out."""
    try:
        with jax.disable_jit():
            return jax.make_jaxpr(function)(*arguments)
    except jax.errors.ConcretizationTypeError:
        raise InputError(
            "the network branches on the values of its input, which compiled code cannot follow; use jnp.where instead."
        ) from None
