"""Where two parts of the boundary of what is no box meet."""

import numpy as np
from jaxtyping import Float

from ..region import Part
from .bodies import size_of
from .during import Instant, Swept
from .outline import tracks
from .shape import Edge
from .skin import Piece
from .solid import Patch
from .surface import Surface
from .triangles import Facets

SAME = 1e-6  # of the size of a domain: places that are no further apart are one
PLACES = 64  # along a meeting that has a length
TIMES = 8  # at which a corner in space is looked at
CELLS = 32  # along each side of a piece of a surface, to see where it comes near another one
STEPS = 12  # of Newton's method from there
NUDGE = 1e-6  # of the unit square, for derivatives


def meeting(one: Part, other: Part) -> Float[np.ndarray, "n d"]:
    """Places that two parts have in common; none where they do not meet."""
    match one, other:
        case Swept(of=first, time=time), Swept(of=second):
            places, times = _in_space(first, second), np.linspace(time.lower[0], time.upper[0], TIMES)
            return np.column_stack([np.repeat(places, TIMES, axis=0), np.tile(times, len(places))])
        case (Swept(of=surface), Instant(position=at)) | (Instant(position=at), Swept(of=surface)):
            points = np.asarray(surface.placed(PLACES, "grid").points)
            return np.column_stack([points, np.full(len(points), at)])
        case Surface(), Surface():
            return _in_space(one, other)
    return np.zeros((0, 0))


def _in_space(one: Surface, other: Surface) -> Float[np.ndarray, "n d"]:
    match one, other:
        case Edge(), Edge():
            return _common_ends(one, other)
        case Patch(), Patch():
            size = size_of(one.solid.form)
            return np.concatenate([_crossing(mine, its, size) for mine in one.skin.pieces for its in other.skin.pieces])
    return np.zeros((0, 0))


def _common_ends(one: Edge, other: Edge) -> Float[np.ndarray, "n 2"]:
    form, size = one.shape.form, max(np.subtract(one.shape.upper, one.shape.lower))
    ends = {track.name: track.ends for track in tracks(form)}
    mine, its = ends[one.name], ends[other.name]
    apart = np.linalg.norm(mine[:, None] - its[None], axis=2)
    return np.asarray(mine[np.any(apart < SAME * size, axis=1)])


def _crossing(one: Piece, other: Piece, size: float) -> Float[np.ndarray, "n 3"]:
    """Places on the curve in which two pieces of surfaces meet: from where they come nearest to each other, by Newton's method
    for both places at once; the corners that two parts of a mesh share, since triangles are not smooth."""
    from scipy.spatial import cKDTree  # imported here: few problems need it

    match one.sheet, other.sheet:
        case Facets(corners=mine), Facets(corners=its):
            mine, its = mine.reshape(-1, 3), its.reshape(-1, 3)
            return np.asarray(np.unique(mine[cKDTree(its).query(mine)[0] < SAME * size], axis=0))
    centres = (np.arange(CELLS) + 0.5) / CELLS
    unit = np.stack(np.meshgrid(centres, centres), axis=-1).reshape(-1, 2)
    apart, nearest = cKDTree(other.at(unit)[0]).query(one.at(unit)[0])
    first = np.argsort(apart, kind="stable")[:PLACES]
    at = np.hstack([unit[first], unit[nearest[first]]])
    for _ in range(STEPS):
        gap = _gap(one, other, at)
        slopes = [(_gap(one, other, at + NUDGE * along) - gap) / NUDGE for along in np.eye(4)]
        steps = np.linalg.pinv(np.stack(slopes, axis=2), rcond=1e-6) @ gap[:, :, None]
        at = np.clip(at - steps[:, :, 0], 0, 1)
    met = np.linalg.norm(_gap(one, other, at), axis=1) < SAME * size
    return np.asarray(one.at(at[met, :2])[0])


def _gap(one: Piece, other: Piece, at: Float[np.ndarray, "n 4"]) -> Float[np.ndarray, "n 3"]:
    return np.asarray(one.at(at[:, :2])[0] - other.at(at[:, 2:])[0])
