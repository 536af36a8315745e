"""What a file with a mesh holds."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

Cells = tuple[tuple[str, Int[np.ndarray, "_ _"]], ...]  # all that can be drawn of a mesh, in the words of meshio


@dataclass(frozen=True, eq=False)
class MeshFile:
    """A mesh in the plane or in space by its boundary: edges with the inside on their left, or triangles."""

    points: Float[np.ndarray, "n d"]
    facets: Int[np.ndarray, "m d"]
    groups: tuple[str, ...]  # of the facets by name; nothing for those without
    cells: Cells
