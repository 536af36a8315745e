"""The values that a problem gives for its fields on whole faces of the box, and when time begins, in the units of a network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.operator import at_points
from ..derivatives.units import Units
from .boundary import Robin
from .chebyshev import Function
from .condition import Condition
from .conditions import Initial
from .domain import Box
from .region import TIME, Domain

if TYPE_CHECKING:
    from .problem import Problem

DIMENSIONS = 3  # of a box, at most: in more, values have too many coefficients, and gates are next to nothing nearly everywhere
AT_ONCE = 2048  # points


class Values(eqx.Module):
    """A target as a function of points of the network, in its units. Two that are equal share their compiled code."""

    function: Callable[..., Any] | None = eqx.field(static=True)  # of the user's coordinates
    constant: Any  # where there is no function
    coordinates: tuple[str, ...] = eqx.field(static=True)
    units: Units
    unit: Any
    offset: Any

    def __call__(self, points: Float[Array, "n d"]) -> Float[Array, " n"]:
        if self.function is None:
            return jnp.full(len(points), self.constant / self.unit - self.offset)
        found = at_points(self.function, self.coordinates, self.units.outside(points))
        return jnp.asarray(found[:, 0] / self.unit - self.offset)


@dataclass(frozen=True)
class Given:
    """Values of a field at one end of a coordinate, or its derivative along it."""

    condition: Condition
    axis: int
    at_upper: bool
    order: int
    faces: int  # of its condition
    values: Values

    @property
    def end(self) -> float:
        return 1.0 if self.at_upper else -1.0

    def at(self, points: np.ndarray) -> np.ndarray:
        """The values at points, always as many at once, since a user's function is compiled for each number of them."""
        filled = np.pad(points, [(0, -len(points) % AT_ONCE), (0, 0)])
        parts = [np.asarray(self.values(jnp.asarray(part))) for part in np.split(filled, len(filled) // AT_ONCE)]
        return np.concatenate(parts)[: len(points)]

    def missing(self, below: Function, points: np.ndarray) -> np.ndarray:
        """What another function lacks of these values at this end of the coordinate, wherever else the points are."""
        there = points.copy()
        there[:, self.axis] = self.end
        return self.at(there) - (0.0 if self.order else below(there))


def given_values(problem: "Problem", exact: Sequence[Condition], column: int, units: Units) -> list[Given]:
    """All values that are given for a field on whole faces; none of a face that has several, and none for a field that is made
    positive or depends on some coordinates only."""
    found, domain, name = [], problem.domain, problem.fields[column]
    assert isinstance(domain, Box)  # nothing else has faces that values could be continued from
    of_some = any(own == name and own.of is not None for own in problem.networks)
    if of_some or name in problem.positive or any(domain.breaks) or domain.dimension > DIMENSIONS:
        return []
    for condition in exact:
        match condition:
            case Robin(b=0, points=None, hard=True) if condition.a:
                faces, order, by = domain.faces(condition.on), 0, condition.a
            case Initial(points=None, hard=True, order=0 | 1):
                faces, order, by = domain.faces(TIME)[:1], condition.order, 1.0
            case _:
                continue
        if problem.field_name(condition.field) != name:
            continue
        for place, face in enumerate(faces):
            target = condition.target
            own = target if callable(target) or np.ndim(target) == 0 else np.asarray(target)[place]
            unit = by * units.scale[column] / (units.half[face.axis] if order else 1.0)
            offset = 0.0 if order else units.offset[column] * by / unit
            function, constant = (own, 0.0) if callable(own) else (None, own)
            values = Values(function, constant, domain.coordinates, units, unit, offset)
            found.append(Given(condition, face.axis, face.at_upper, order, len(faces), values))
    keys = [(one.axis, one.at_upper, one.order) for one in found]
    return [one for one, key in zip(found, keys, strict=True) if keys.count(key) == 1]


def begins(given: Sequence[Given], domain: Domain) -> bool:
    """Whether values are given for when time begins, and not for its end."""
    return all(domain.coordinates[one.axis] == TIME and not one.at_upper for one in given)
