"""Parts of the boundary of what is no box."""

from abc import abstractmethod
from typing import Any

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..region import Part, Placed
from .inside import even_points


class Surface(Part):
    """A part that the points of a unit cube are mapped to, even ones to even ones."""

    @property
    def across(self) -> None:
        return None

    @property
    def is_instant(self) -> bool:
        return False

    @property
    @abstractmethod
    def extent(self) -> int:
        """The dimensions of that cube: one for a curve."""

    @abstractmethod
    def at(self, unit: Any) -> tuple[Any, Any]:
        """The points that belong to those of the cube, (n, extent), and their outward normals; arrays of NumPy or JAX."""

    def placed(self, n: int, sampling: str, *, key: PRNGKeyArray | None = None) -> Placed:
        points, normals = self.at(even_points(n, self.extent, sampling, key=key))
        return Placed(jnp.asarray(points, float), normals)
