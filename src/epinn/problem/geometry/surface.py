"""Parts of the boundary of what is no box."""

from abc import abstractmethod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ..region import Part, Placed
from .inside import even_points, so_many_of


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

    @property
    @abstractmethod
    def fill(self) -> float:
        """How much of the cube is mapped to it, nearly."""

    @property
    @abstractmethod
    def may_be_cut(self) -> bool:
        """Whether some of the cube may be mapped to where the surface was cut away."""

    @abstractmethod
    def at(self, unit: Any) -> tuple[Any, Any]:
        """The points that belong to those of the cube, (n, extent), and their outward normals, of length zero where the surface
        was cut away; arrays of NumPy, or of JAX for what cannot be cut."""

    def found(self, unit: Any) -> Float[np.ndarray, "k columns"]:
        """Points and normals in one row each, for those of the cube that are mapped to it."""
        points, normals = self.at(np.asarray(unit, np.float64))
        return np.hstack([points, normals])[np.any(normals != 0, axis=1)]

    def placed(self, n: int, sampling: str, *, key: PRNGKeyArray | None = None) -> Placed:
        if self.may_be_cut:
            rows = so_many_of(self, n, sampling, key=key)
            space = rows.shape[1] // 2  # columns of the normals; time has none
            return Placed(jnp.asarray(rows[:, :-space], float), rows[:, -space:])
        points, normals = self.at(even_points(n, self.extent, sampling, key=key))
        return Placed(jnp.asarray(points, float), normals)
