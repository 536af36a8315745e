"""Where a band is looked at when it leaves for other programs: a grid over the domain, or over a slice of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from ...errors import InputError, shown, unknown_name
from ...judge.evaluation import grid as usual_grid
from ...problem.domain import Box
from ...problem.problem import Problem
from ...problem.region import Domain

Grid = int | Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class Places:
    """All combinations of the values on the `axes`, one for each coordinate in their order; `held` ones have one value each."""

    axes: Mapping[str, Float[np.ndarray, " n"]]
    held: frozenset[str]

    @property
    def free(self) -> tuple[str, ...]:
        """The coordinates along which there are several places."""
        return tuple(name for name in self.axes if name not in self.held)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values along each free coordinate."""
        return tuple(len(self.axes[name]) for name in self.free)

    @property
    def points(self) -> Float[np.ndarray, "n d"]:
        """One row for each place, the last coordinate fastest."""
        return np.stack(np.meshgrid(*self.axes.values(), indexing="ij"), -1).reshape(-1, len(self.axes))

    def inside(self, domain: Domain) -> Float[np.ndarray, "n d"]:
        """Those of the places that a shape holds; all of them in a box."""
        return self.points if isinstance(domain, Box) else self.points[domain.contains(self.points)]


def places(problem: Problem, grid: Grid, at: Mapping[str, Any] | None) -> Places:
    """A grid over the domain.

    `grid` is the number of points along every coordinate, or by coordinate their number or the values themselves; without it,
    as many as pictures have. `at` holds coordinates at a value: `{"t": 3.0}`.
    """
    domain, held = problem.domain, dict(at or {})
    by_name = dict(grid) if isinstance(grid, Mapping) else {}
    for name in (*by_name, *held):
        if name not in domain.coordinates:
            raise unknown_name("coordinate", str(name), domain.coordinates)
        if name in by_name and name in held:
            raise InputError(f"{name} is in grid= and in at=; leave it out of one of them.")
    usual = usual_grid(problem)[1][0] if grid is None or isinstance(grid, Mapping) else grid
    ends = zip(domain.coordinates, domain.lower, domain.upper, strict=True)
    axes = {
        name: _held(name, held[name]) if name in held else _axis(name, by_name.get(name, usual), low, high)
        for name, low, high in ends
    }
    return Places(axes, frozenset(held))


def _axis(name: str, wish: Any, low: float, high: float) -> Float[np.ndarray, " n"]:
    """So many values from end to end, or the values that were given."""
    if isinstance(wish, int | np.integer) and not isinstance(wish, bool):
        if wish < 2:
            raise InputError(f"the grid along {name} needs at least 2 points, not {wish}; at= holds a coordinate at one value.")
        return np.linspace(low, high, int(wish))
    try:
        values = np.asarray(wish, float)
    except (TypeError, ValueError):
        values = np.zeros(())
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)) or not np.all(np.diff(values) > 0):
        raise InputError(f"the grid along {name} is a number of points, or values that rise; not {shown(wish)}.")
    return values


def _held(name: str, value: Any) -> Float[np.ndarray, " 1"]:
    try:
        found = np.asarray([float(value)])
    except (TypeError, ValueError):
        found = np.asarray([np.nan])
    if not np.isfinite(found[0]):
        raise InputError(f"at= holds {name} at a number, not at {shown(value)}.")
    return found
