"""Where two parts of the boundary of what is no box meet."""

import numpy as np
from jaxtyping import Float

from ..region import Part
from .during import Instant, Swept
from .inside import even_points
from .outline import tracks
from .shape import Edge

SAME = 1e-6  # of the size of a shape: ends that are no further apart are one
PLACES = 64  # along a meeting that has a length
TIMES = 8  # at which a corner in space is looked at


def meeting(one: Part, other: Part) -> Float[np.ndarray, "n d"]:
    """Places that two parts have in common; none where they do not meet."""
    match one, other:
        case Edge(), Edge():
            return _common_ends(one, other)
        case Swept(of=Edge() as first, time=time), Swept(of=Edge() as second):
            ends, times = _common_ends(first, second), np.linspace(time.lower[0], time.upper[0], TIMES)
            return np.column_stack([np.repeat(ends, TIMES, axis=0), np.tile(times, len(ends))])
        case (Swept(of=surface), Instant(position=at)) | (Instant(position=at), Swept(of=surface)):
            points = np.asarray(surface.at(even_points(PLACES, surface.extent, "grid", key=None))[0])
            return np.column_stack([points, np.full(len(points), at)])
    return np.zeros((0, 0))


def _common_ends(one: Edge, other: Edge) -> Float[np.ndarray, "n 2"]:
    form, size = one.shape.form, max(np.subtract(one.shape.upper, one.shape.lower))
    ends = {track.name: track.ends for track in tracks(form)}
    mine, its = ends[one.name], ends[other.name]
    apart = np.linalg.norm(mine[:, None] - its[None], axis=2)
    return np.asarray(mine[np.any(apart < SAME * size, axis=1)])
