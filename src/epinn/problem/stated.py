"""What the conditions of a problem say exactly of a field on whole parts of the boundary, and when time begins."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..derivatives.operator import at_points
from .boundary import Robin
from .conditions import Initial
from .region import TIME, Part

if TYPE_CHECKING:
    from .problem import Problem


@dataclass(frozen=True)
class Stated:
    """A value of a field on one part of the boundary, or a derivative: `what` says which, "u", "u.t", "du/dn"."""

    condition: Robin | Initial
    what: str
    by: float  # what the target is divided by
    part: Part
    place: int  # of the part among those of the condition

    @property
    def is_function(self) -> bool:
        return callable(self.condition.target)

    @property
    def is_number(self) -> bool:
        """Whether it is one number on all parts that its condition is about."""
        return not callable(self.condition.target) and np.ndim(self.condition.target) == 0

    def at(self, points: Any, coordinates: tuple[str, ...]) -> Float[np.ndarray, " n"]:
        """The value at points of the part."""
        target = self.condition.target
        if callable(target):
            return np.asarray(at_points(target, coordinates, jnp.asarray(points)))[:, 0] / self.by
        one = np.asarray(target, float)
        return np.full(len(points), (one if one.ndim == 0 else one.ravel()[self.place]) / self.by)


def stated(problem: "Problem") -> Iterator[Stated]:
    """All that is stated, part by part."""
    for condition in problem.conditions:
        match condition:
            case Robin(a=a, b=b, points=None, sigma=None) if a or b:
                by, parts, u = a or b, problem.domain.faces(condition.on), problem.field_name(condition.field)
                what = u if not b else f"d{u}/dn" if not a else f"{u} + {b / a:.6g} d{u}/dn"
            case Initial(points=None, order=order, sigma=None) if TIME in problem.domain.coordinates:
                by, parts, u = 1.0, problem.domain.faces(TIME)[:1], problem.field_name(condition.field)
                what = u + ("." + TIME * order if order else "")
            case _:
                continue
        yield from (Stated(condition, what, by, part, place) for place, part in enumerate(parts))
