"""The boundary of a form in space: what is left of the sheets of its bodies, by name, with points even by area."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..domain import sobol
from .bodies import Body, size_of
from .combined import Figure, Form, called
from .sheets import Points, Sheet

BESIDE = (
    1e-6  # of the size of a form: so far on both sides of a sheet is looked for what is inside; files have single precision
)
SAME = 3e-7  # of the size of a form: sheets that are no further apart are one
LOOKED_AT = 4096  # places on a piece, to measure what is left of it
SHIFT = (0.6180339887, 0.4142135623)  # of these, since halves and quarters are where sheets have their edges
CELLS = 16  # along each side of a piece, to see where the boundary cannot be
ROUNDS = 30  # of looking closer
WORTHWHILE = 0.7  # of an area: if no less is left after a round, another one is not worth it

Square = tuple[float, float, float, float]  # of the unit square, from where to where


@dataclass(frozen=True, eq=False)
class Piece:
    """A sheet of a body, as far as it may be on the boundary: some rectangle of its unit square."""

    sheet: Sheet
    before: tuple[Figure, ...]  # bodies that were written earlier: what lies on them is theirs
    square: Square

    @property
    def area(self) -> float:
        s0, s1, t0, t1 = self.square
        return self.sheet.area * (s1 - s0) * (t1 - t0)

    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        s0, s1, t0, t1 = self.square
        return self.sheet.at(np.array([s0, t0]) + unit * np.array([s1 - s0, t1 - t0]))


@dataclass(frozen=True, eq=False)
class Skin:
    """A part of a boundary."""

    name: str
    form: Form
    pieces: tuple[Piece, ...]
    left: float  # share of the area of its pieces that is on the boundary

    @property
    def area(self) -> float:
        return self.left * sum(piece.area for piece in self.pieces)

    def at(self, unit: Float[np.ndarray, "n 2"]) -> tuple[Points, Points]:
        """Points, and outward normals that are nothing where the boundary is not."""
        ends = np.cumsum([piece.area for piece in self.pieces])
        reached = unit[:, 0] * ends[-1]
        of = np.minimum(np.searchsorted(ends, reached, side="right"), len(ends) - 1)
        points, normals = np.zeros((len(unit), 3)), np.zeros((len(unit), 3))
        for i, piece in enumerate(self.pieces):
            mine = of == i
            along = (reached[mine] - ends[i]) / piece.area + 1
            points[mine], outward = piece.at(np.stack([along, unit[mine, 1]], axis=1))
            normals[mine] = _sides(self.form, piece, points[mine], outward)[:, None] * outward
        return points, normals


@functools.lru_cache(maxsize=64)
def skins(form: Form) -> tuple[Skin, ...]:
    """All parts of the boundary of a form, in the order in which its bodies were written."""
    found: dict[str, list[Piece]] = {}
    for name, piece in _pieces(form):
        found.setdefault(name, []).append(piece)
    whole = (Skin(name, form, tuple(pieces), 1.0) for name, pieces in found.items())
    return tuple(skin for one in whole if (skin := _measured(one)).left > 0)


def _pieces(form: Form) -> Iterator[tuple[str, Piece]]:
    before: list[Figure] = []
    for name, figure in called(form):
        assert isinstance(figure, Body)
        for sheet in figure.sheets():
            square = _narrowed(form, sheet)
            if square is not None:
                yield _name(figure, name, sheet.tag), Piece(sheet, tuple(before), square)
        before.append(figure)


def _name(figure: Figure, name: str, tag: str) -> str:
    """Planes across a coordinate are called by their place alone, unless the user gave their body a name."""
    return tag if "=" in tag and not figure.name else ".".join(part for part in (name, tag) if part)


def _narrowed(form: Form, sheet: Sheet) -> Square | None:
    """The part of the unit square outside which a sheet cannot be on the boundary, since that is too far away; None if all
    of it is. A distance never says more than how far it is, or little more; twice that is safe."""
    s0, s1, t0, t1 = 0.0, 1.0, 0.0, 1.0
    for _ in range(ROUNDS if sheet.is_smooth else 0):
        corners = np.stack(np.meshgrid(np.linspace(s0, s1, 2 * CELLS + 1), np.linspace(t0, t1, 2 * CELLS + 1)), axis=-1)
        points = sheet.at(corners.reshape(-1, 2))[0].reshape(2 * CELLS + 1, 2 * CELLS + 1, 3)
        middles = points[1::2, 1::2]
        ends = [points[i : i + 2 * CELLS : 2, j : j + 2 * CELLS : 2] for i in (0, 1, 2) for j in (0, 1, 2)]
        reach = np.max([np.linalg.norm(end - middles, axis=2) for end in ends], axis=0)
        away = np.abs(form.distance(middles.reshape(-1, 3))).reshape(CELLS, CELLS)
        near = away < 2 * reach + BESIDE * size_of(form)
        if not near.any():
            return None
        rows, columns = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
        t = t0 + (t1 - t0) * np.array([rows[0], rows[-1] + 1]) / CELLS
        s = s0 + (s1 - s0) * np.array([columns[0], columns[-1] + 1]) / CELLS
        is_done = np.ptp(s) * np.ptp(t) > WORTHWHILE * (s1 - s0) * (t1 - t0)
        (s0, s1), (t0, t1) = s.tolist(), t.tolist()
        if is_done:
            break
    return s0, s1, t0, t1


def _measured(skin: Skin) -> Skin:
    """A part of the boundary without the pieces of which nothing is left, and how much is left of the others."""
    unit = (sobol(LOOKED_AT, 2) + SHIFT) % 1
    found = {}
    for piece in skin.pieces:
        left = float(np.mean(np.any(Skin("", skin.form, (piece,), 1.0).at(unit)[1] != 0, axis=1)))
        if left > 0:
            found[piece] = left
    area = sum(piece.area for piece in found)
    left = sum(piece.area * share for piece, share in found.items()) / area if found else 0.0
    return Skin(skin.name, skin.form, tuple(found), left)


def _sides(form: Form, piece: Piece, points: Points, normals: Points) -> Float[np.ndarray, " n"]:
    """1 where the form lies under a sheet alone, -1 over it alone, 0 elsewhere and where an earlier body has its surface."""
    size = size_of(form)
    inner, outer = (form.distance(points + way * BESIDE * size * normals) < 0 for way in (-1, 1))
    known = np.zeros(len(points), bool)
    for body in piece.before:
        known |= np.abs(body.distance(points)) < SAME * size
    return np.where(known, 0.0, inner.astype(float) - outer.astype(float))
