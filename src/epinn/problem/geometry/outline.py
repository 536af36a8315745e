"""The boundary of a form: the stretches of its figures' edges that are left, by name, with points even by length."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .combined import Form, called
from .curve import Curve, place, rightward, slope
from .forms import PlanarFigure

LOOKED_AT = 2048  # places on an edge, between which it is on the boundary or not
HALVINGS = 50  # of the space between two of them, to find where it ceases to be
BESIDE = 1e-7  # of the size of a form: so far on both sides of an edge is looked for what is inside
SAME = 1e-9  # of the size of a form: edges that are no further apart are one
NODES = 512  # of the table of lengths along a curved edge


@dataclass(frozen=True)
class Stretch:
    """A stretch of an edge; what it bounds lies to the left, or to the right where the figure was taken away (-1)."""

    curve: Curve
    begin: float
    end: float
    outward: int


@dataclass(frozen=True, eq=False)
class Track:
    """A part of a boundary by the length along it: a table of short steps, each on its curve."""

    name: str
    lengths: np.ndarray  # at the ends of the steps, from 0
    begin: np.ndarray  # of each step, in the parameter of its curve
    end: np.ndarray
    curves: np.ndarray  # of each step, as a table; (steps, 4, 2)
    outward: np.ndarray  # of each step, a sign
    ends: np.ndarray  # points where it begins and ends, and where it is interrupted; (n, 2)

    @property
    def length(self) -> float:
        return float(self.lengths[-1])

    def at(self, unit: Float[Array | np.ndarray, " n"]) -> tuple[Any, Any]:
        """Points and outward normals where the length is so much of the whole."""
        xp = jnp if isinstance(unit, jax.Array) else np
        lengths, begin, end, curves, outward = (
            xp.asarray(part) for part in (self.lengths, self.begin, self.end, self.curves, self.outward)
        )
        length = unit * self.length
        step = xp.clip(xp.searchsorted(lengths, length, side="right") - 1, 0, len(self.begin) - 1)
        inside = (length - lengths[step]) / (lengths[step + 1] - lengths[step])
        s = begin[step] + inside * (end[step] - begin[step])
        normals = outward[step][:, None] * rightward(slope(s, curves[step], xp), xp)
        return place(s, curves[step], xp), normals


@functools.lru_cache(maxsize=64)
def tracks(form: Form) -> tuple[Track, ...]:
    """All parts of the boundary of a form, in the order in which its figures were written."""
    found: dict[str, list[Stretch]] = {}
    before: list[Curve] = []
    for name, curve in _edges(form):
        whole = [Stretch(curve, 0.0, curve.end, 1)]
        stretches = whole if isinstance(form, PlanarFigure) else list(_left(form, curve, before))
        before.append(curve)
        if stretches:
            found.setdefault(name, []).extend(stretches)
    return tuple(_track(name, stretches) for name, stretches in found.items())


def _edges(form: Form) -> Iterator[tuple[str, Curve]]:
    """All edges of all figures with their names."""
    for name, figure in called(form):
        assert isinstance(figure, PlanarFigure)
        for curve in figure.curves():
            yield ".".join(part for part in (name, curve.tag) if part), curve


def _left(form: Form, curve: Curve, before: list[Curve]) -> Iterator[Stretch]:
    """The stretches of an edge on the boundary of a form, without what is on an earlier edge."""
    ends = np.linspace(0, curve.end, LOOKED_AT + 1)
    places = (ends[1:] + ends[:-1]) / 2
    sides = _sides(form, curve, before, places)
    begin, side = 0.0, int(sides[0])
    for here, there, now in zip(places[:-1], places[1:], sides[1:], strict=True):
        if now == side:
            continue
        low, high = here, there
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _sides(form, curve, before, np.array([middle]))[0] == side else (low, middle)
        if side:
            yield Stretch(curve, begin, high, side)
        begin, side = high, int(now)
    if side:
        yield Stretch(curve, begin, curve.end, side)


def _sides(form: Form, curve: Curve, before: list[Curve], s: Float[np.ndarray, " n"]) -> np.ndarray:
    """1 where the form lies to the left of an edge alone, -1 to its right alone, 0 elsewhere and where an earlier edge is."""
    points, normals = curve.points(s), curve.normals(s)
    size = _size(form)
    inner, outer = (form.distance(points + way * BESIDE * size * normals) < 0 for way in (-1, 1))
    known = np.any([other.near(points, SAME * size) for other in before], axis=0) if before else np.zeros(len(s), bool)
    return np.where(known, 0, inner.astype(int) - outer.astype(int))


def _size(form: Form) -> float:
    return max(_extent(figure) for figure in form.figures() if isinstance(figure, PlanarFigure))


@functools.lru_cache(maxsize=256)
def _extent(figure: PlanarFigure) -> float:
    points = np.concatenate([curve.points(np.linspace(0, curve.end, 17)) for curve in figure.curves()])
    return float(np.ptp(points, axis=0).max())


def _track(name: str, stretches: list[Stretch]) -> Track:
    parts = [_steps(one) for one in stretches]
    begin, end, length, curves, outward = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    ends = np.concatenate([one.curve.points(np.array([one.begin, one.end])) for one in stretches])
    return Track(name, np.concatenate([[0.0], np.cumsum(length)]), begin, end, curves, outward, ends)


def _steps(stretch: Stretch) -> tuple[np.ndarray, ...]:
    """A stretch in steps: where each begins and ends, its length (by Simpson's rule), its curve and its side."""
    curve, n = stretch.curve, 1 if stretch.curve.is_straight else NODES
    nodes = np.linspace(stretch.begin, stretch.end, n + 1)
    begin, end = nodes[:-1], nodes[1:]
    speeds = [np.linalg.norm(curve.slopes(s), axis=1) for s in (begin, (begin + end) / 2, end)]
    length = (end - begin) * (speeds[0] + 4 * speeds[1] + speeds[2]) / 6
    return begin, end, length, np.tile(curve.table, (n, 1, 1)), np.full(n, float(stretch.outward))
