"""What every converter hands over: a network trained elsewhere, as JAX sees it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..errors import InputError


@dataclass(frozen=True)
class Converted:
    """A network trained elsewhere as a pure function of its parameters and one point.

    `parameters` and `constants` (buffers, which are not trained) are dictionaries of NumPy arrays in the precision of the
    source: JAX would cut float64 to float32 where it is not switched to double precision. `reference` is the source's own
    forward pass for a batch of points, and `derivatives` its own first and unmixed second derivatives, both of shape
    (n, fields, d); they are None where the source has none. At points in double precision both compute in double precision
    where they can: a wrong conversion is then told from a rounding error. `notes` are sentences for the user.
    """

    function: Callable[[PyTree, Float[Array, " d"]], Float[Array, " fields"]]
    parameters: PyTree
    reference: Callable[[np.ndarray], np.ndarray] | None
    derivatives: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None
    source: str
    constants: PyTree
    notes: tuple[str, ...] = ()


def working_type(parameters: Mapping[str, Any], x: Any) -> Any:
    """The precision in which a network works: that of its parameters, and never less in silence."""
    types = [array.dtype for array in parameters.values() if jnp.issubdtype(array.dtype, jnp.floating)]
    dtype = np.result_type(*(types or [x.dtype]))
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise InputError(
            "the network is in double precision and JAX is not: call jax.config.update('jax_enable_x64', True) first, "
            "or convert the network to single precision where it comes from."
        )
    return dtype


def in_precision(array: Any, dtype: Any) -> Any:
    """Real numbers in the precision asked for; integers and truth values as they are."""
    return array.astype(dtype) if jnp.issubdtype(array.dtype, jnp.floating) else array
