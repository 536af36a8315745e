"""Boxes with named coordinates, their faces, and points in them."""

import functools
import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..arguments import is_number, text, whole
from ..errors import InputError, shown, unknown_name
from .region import TIME, Domain, Part, Placed, place_meant

MOST = 10_000_000  # points; more would fill the memory before anything is computed with them
CLEAR = 1e-5  # of the length of the domain: points of an equation keep so far away from breaks
BESIDE = 3e-7  # of the length of the domain: so far from a break is next to it, some roundings away

Sampling = Literal["grid", "uniform", "latin", "sobol"]
SAMPLINGS: tuple[str, ...] = get_args(Sampling)


class Box(Domain):
    """A product of intervals, one per named coordinate: `Box(x=(-1, 1), t=(0, 1))`.

    Values in between are `breaks`, where something in the equations jumps and the fields may bend: `Box(x=(0, 400, 1000))` has
    two zones that meet at x = 400.
    """

    coordinates: tuple[str, ...] = eqx.field(static=True)
    lower: tuple[float, ...] = eqx.field(static=True)
    upper: tuple[float, ...] = eqx.field(static=True)
    breaks: tuple[tuple[float, ...], ...] = eqx.field(static=True)  # one tuple for each coordinate

    def __init__(self, **intervals: Any):  # (low, high) each, in whatever form a user writes two numbers
        if not intervals:
            raise InputError("a box needs at least one coordinate, as in Box(x=(-1, 1)).")
        for name, ends in intervals.items():
            if not _is_interval(ends):
                raise InputError(f"the interval of {name} must be (low, high) with low < high, not {shown(ends)}.")
        self.coordinates = tuple(intervals)
        self.lower = tuple(float(ends[0]) for ends in intervals.values())
        self.upper = tuple(float(ends[-1]) for ends in intervals.values())
        self.breaks = tuple(tuple(float(value) for value in ends[1:-1]) for ends in intervals.values())

    def __repr__(self) -> str:
        return f"Box({', '.join(f'{name}=({_listed(ends)})' for name, ends in self._intervals().items())})"

    def _intervals(self) -> dict[str, tuple[float, ...]]:
        ends = zip(self.lower, self.breaks, self.upper, strict=True)
        return {name: (low, *inner, high) for name, (low, inner, high) in zip(self.coordinates, ends, strict=True)}

    def broken(self, breaks: Mapping[str, Sequence[float]]) -> "Box":
        """This box with further breaks."""
        is_listed = all(np.ndim(np.asarray(places, object)) == 1 for places in breaks.values())
        if not is_listed or not all(is_number(place) for places in breaks.values() for place in places):
            raise InputError(f"breaks are places along coordinates, as in {{'x': (0.5,)}}, not {shown(breaks)}.")
        return Box(
            **{name: tuple(sorted({*ends, *map(float, breaks.get(name, ()))})) for name, ends in self._intervals().items()}
        )

    @property
    def pieces(self) -> list["Box"]:
        """The boxes between the breaks, the last coordinate fastest; this one alone where there are none."""
        if not any(self.breaks):
            return [self]
        parts = [list(itertools.pairwise(ends)) for ends in self._intervals().values()]
        return [Box(**dict(zip(self.coordinates, ends, strict=True))) for ends in itertools.product(*parts)]

    @property
    def fill(self) -> float:
        return 1.0

    @property
    def zones(self) -> list["Box"]:
        """The pieces, a little apart from each other: in single precision nobody can tell on which side of a break a point on
        it is, and the equation and the network might not agree."""
        gaps = [CLEAR * (high - low) for low, high in zip(self.lower, self.upper, strict=True)]

        def apart(low: float, high: float, axis: int) -> tuple[float, float]:
            return (
                low if low == self.lower[axis] else low + gaps[axis],
                high if high == self.upper[axis] else high - gaps[axis],
            )

        ends = [zip(piece.lower, piece.upper, strict=True) for piece in self.pieces]
        return [
            Box(**{name: apart(*pair, axis) for axis, (name, pair) in enumerate(zip(self.coordinates, pairs, strict=True))})
            for pairs in ends
        ]

    def between(self, begin: float, end: float) -> "Box":
        """This box for a stretch of its time, without breaks."""
        ends = zip(self.coordinates, self.lower, self.upper, strict=True)
        return Box(**{name: (begin, end) if name == TIME else (low, high) for name, low, high in ends})

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Which points lie in the box, its faces included."""
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        slack = 1e-6 * (upper - lower)
        return np.asarray(np.all((points >= lower - slack) & (points <= upper + slack), axis=-1))

    def points(self, n: int, sampling: str = "grid", *, key: PRNGKeyArray | None = None) -> Float[Array, "n d"]:
        """`n` points in the box, faces included for a grid."""
        return self._scale(unit_points(n, self.dimension, sampling, key=key))

    def grid(self, *counts: int) -> Float[Array, "n d"]:
        """A regular grid with the given number of points along each coordinate (one number: along each)."""
        counts = counts * self.dimension if len(counts) == 1 else counts
        for n in counts:
            whole(n, "the number of points of a grid", 1, MOST)
        whole(math.prod(counts), "the number of points of a grid", 1, MOST)
        if len(counts) != self.dimension:
            raise InputError(f"a grid needs one number, or one for each of {', '.join(self.coordinates)}; got {counts}.")
        return self._scale(_mesh([np.linspace(0, 1, n) for n in counts]))

    def mesh(self, *counts: int) -> Float[Array, "n d"]:
        """The same: a box fills the box around it."""
        return self.grid(*counts)

    def interior(self, n: int) -> Float[Array, "n d"]:
        """`n` evenly spaced points strictly inside."""
        counts = grid_counts(n, self.dimension)
        return self._scale(_mesh([(np.arange(count) + 1) / (count + 1) for count in counts]))

    def faces(self, on: str | None = None) -> list["Face"]:
        """The faces named by `on`: "x=-1", "x=min" or "x=max", "x" for both ends of x, several joined by commas; all of space
        by default."""
        if on is None:
            return [face for name in self.space for face in self.faces(name)]
        text(on, "a face of the box", "x=0")
        if "," in on:
            return [face for part in on.split(",") for face in self.faces(part.strip())]
        name, _, end = (part.strip() for part in on.partition("="))
        axis = self.axis(name)
        low, high = both = [Face(self, axis, at_upper=False), Face(self, axis, at_upper=True)]
        if not end:
            return both
        found = place_meant(end, (low.position, high.position), high.position - low.position)
        if found is None:
            raise InputError(
                f"{on!r} is not a face of the box; {name} ends at {low.name} ({name}=min) and {high.name} ({name}=max)."
            )
        return [high if found == high.position else low]

    def section(self, along: str, at: float) -> "Face":
        """Where a coordinate has a value, with the breaks of the others."""
        ends = zip(self.coordinates, self.lower, self.upper, strict=True)
        beyond = Box(**{name: (at if name == along else low, high) for name, low, high in ends})
        others = {name: inner for name, inner in zip(self.coordinates, self.breaks, strict=True) if name != along}
        return beyond.broken(others).faces(along)[0]

    def outlines(self) -> list[np.ndarray]:
        return []

    def excluded(self, points: np.ndarray) -> str:
        return ""

    def _scale(self, unit: Float[Array, "n d"] | np.ndarray) -> Float[Array, "n d"]:
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        return jnp.asarray(lower + unit * (upper - lower), float)


class Face(Part):
    """One side of a box."""

    box: Box
    axis: int = eqx.field(static=True)
    at_upper: bool = eqx.field(static=True)

    @property
    def name(self) -> str:
        """As in `on=`: "x=-1"."""
        return f"{self.box.coordinates[self.axis]}={self.position:.12g}"

    @property
    def share(self) -> float:
        return 1.0

    @property
    def across(self) -> int:
        return self.axis

    @property
    def is_instant(self) -> bool:
        return self.box.coordinates[self.axis] == TIME

    @property
    def position(self) -> float:
        """Where on its axis the face lies."""
        return (self.box.upper if self.at_upper else self.box.lower)[self.axis]

    @property
    def pieces(self) -> list["Face"]:
        """The parts of the face between the breaks of its box."""
        touching = [zone for zone in self.box.zones if self.position in (zone.lower[self.axis], zone.upper[self.axis])]
        return [Face(zone, self.axis, self.at_upper) for zone in touching]

    @property
    def outward(self) -> float:
        """The sign that turns the derivative along the axis into the outward normal derivative."""
        return 1.0 if self.at_upper else -1.0

    def grid(self, most: int) -> Float[np.ndarray, "n d"]:
        """A regular grid on the face, its corners among them, with at most so many points; none where it would need more."""
        others = self.box.dimension - 1
        along = int(most ** (1 / others) + 1e-9) if others else 1
        if others and along < 2:
            return np.zeros((0, self.box.dimension))
        points = np.array(self.box.grid(*(1 if axis == self.axis else along for axis in range(self.box.dimension))))
        points[:, self.axis] = self.position
        return points

    def points(self, n: int, sampling: str = "grid", *, key: PRNGKeyArray | None = None) -> Float[Array, "n d"]:
        """`n` points on the face; a face of a one-dimensional box is a single point."""
        if self.box.dimension == 1:
            return jnp.full((1, 1), self.position, float)
        unit = unit_points(n, self.box.dimension - 1, sampling, key=key)
        end = np.full((len(unit), 1), float(self.at_upper))
        parts = [unit[:, : self.axis], end, unit[:, self.axis :]]
        return self.box._scale(
            np.concatenate(parts, axis=1) if isinstance(unit, np.ndarray) else jnp.concatenate(parts, axis=1)
        )

    def placed(self, n: int, sampling: str = "grid", *, key: PRNGKeyArray | None = None) -> Placed:
        points, along = self.points(n, sampling, key=key), self.box.coordinates[self.axis]
        normal = np.array([self.outward * (name == along) for name in self.box.space])
        return Placed(points, np.tile(normal, (len(points), 1)))


def unit_points(n: int, dimension: int, sampling: str, *, key: PRNGKeyArray | None) -> Float[Array, "n d"] | np.ndarray:
    """`n` points in the unit cube. All but the grid are random, and can be drawn anew inside compiled code."""
    if not isinstance(sampling, str) or sampling not in SAMPLINGS:
        raise unknown_name("sampling", sampling, SAMPLINGS)
    whole(n, "the number of points", 1, MOST)
    if sampling == "grid":
        return _mesh([np.linspace(0, 1, count) for count in grid_counts(n, dimension)])
    if key is None:
        raise InputError(f"{sampling} sampling is random: pass a key.")
    if isinstance(key, jax.core.Tracer):
        drawn: Array = _random_points(key, n, dimension, sampling)
        return drawn
    with jax.enable_x64(False):  # the same points in either precision, and one program for them
        return np.asarray(_random_points(key, n, dimension, sampling))


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _random_points(key: PRNGKeyArray, n: int, dimension: int, sampling: str) -> Float[Array, "n d"]:
    if sampling == "uniform":
        return jax.random.uniform(key, (n, dimension))
    if sampling == "latin":
        permute_key, jitter_key = jax.random.split(key)
        strata = [jax.random.permutation(k, n) for k in jax.random.split(permute_key, dimension)]
        return (jnp.stack(strata, axis=1) + jax.random.uniform(jitter_key, (n, dimension))) / n
    # A Sobol set with a random shift modulo 1: each point uniform, the set still even.
    return (jnp.asarray(sobol(n, dimension)) + jax.random.uniform(key, (dimension,))) % 1.0


def _mesh(axes: list[np.ndarray]) -> np.ndarray:
    """All combinations of the axes' values, the last axis fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))


def grid_counts(n: int, dimension: int) -> tuple[int, ...]:
    """How many points along each coordinate, as equal as `n` allows."""
    whole(n, "the number of points", 1)
    best = min(_products(n, dimension, 1), key=lambda split: max(split) / min(split))
    if max(best) > 4 * min(best):
        side = round(n ** (1 / dimension))
        raise InputError(
            f"{n} points do not make an even grid in {dimension} dimensions; take {side**dimension}, or another "
            f"sampling ({', '.join(SAMPLINGS[1:])})."
        )
    return best


def _products(n: int, factors: int, least: int) -> Iterator[tuple[int, ...]]:
    """All ways to write `n` as a product of so many factors, none below the one before it."""
    if factors == 1:
        yield (n,)
        return
    for k in range(least, round(n ** (1 / factors)) + 1):
        if n % k == 0 and n // k >= k:
            yield from ((k, *others) for others in _products(n // k, factors - 1, k))


def sobol(n: int, dimension: int) -> Float[np.ndarray, "n d"]:
    """The first points of the Sobol sequence."""
    from scipy.stats import qmc  # imported here: it costs a third of a second that only this needs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # n need not be a power of two here
        return np.asarray(qmc.Sobol(dimension, scramble=False).random(n))


def _is_interval(ends: Any) -> bool:
    try:
        values = list(ends)
    except TypeError:
        return False
    return len(values) > 1 and all(map(is_number, values)) and all(a < b for a, b in itertools.pairwise(map(float, values)))


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
