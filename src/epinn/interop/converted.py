"""What every converter hands over: a network trained elsewhere, as JAX sees it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Array, Float, PyTree


@dataclass(frozen=True)
class Converted:
    """A network trained elsewhere as a pure function of its parameters and one point.

    `parameters` and `constants` (buffers, which are not trained) are dictionaries of NumPy arrays in the precision of the
    source: JAX would cut float64 to float32 where it is not switched to double precision. `reference` is the source's own
    forward pass for a batch of points, and `derivatives` its own first and unmixed second derivatives, both of shape
    (n, fields, d); they are None where the source has none.
    """

    function: Callable[[PyTree, Float[Array, " d"]], Float[Array, " fields"]]
    parameters: PyTree
    reference: Callable[[np.ndarray], np.ndarray] | None
    derivatives: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None
    source: str
    constants: PyTree
