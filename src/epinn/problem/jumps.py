"""Where an equation jumps along a coordinate: at the edge of a material, when a heater is switched on.

A smooth network cannot bend there, so the domain is broken at such places, as the user could have written it. What jumps is
seen before anything is solved: the equation is followed along lines, with fields and derivatives that stay the same.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.compiled import runs_once
from ..derivatives.jet import Jet
from ..derivatives.jet import positive as made_positive
from ..derivatives.operator import POINT, Operator
from ..derivatives.units import Units
from .channel import Channel
from .domain import Box

if TYPE_CHECKING:
    from .problem import Problem

LINES = 25  # along each coordinate, with other fields on each
ALONG = 1025  # points of a line
STEEP = 30.0  # times the usual step from one point to the next is looked at more closely,
MATTERS = 1e-3  # if it is so much of the largest value on the line
ZOOMS = 3  # into the space between two points, after which a step that is still there is a jump
MOST = 4  # breaks along a coordinate: more are too many for a network on each side
PIECES = 12  # of a domain, at most
AWAY = 1e-3  # of the domain: nearer than that to its ends, or to another one, there is no break
DIGITS = 10  # of the length of the domain, to which a place is known
VARIED = 0.3  # unknowns are moved by up to this part of their guesses, which may be the same on both sides


def jumps(problem: "Problem", channels: Sequence[Channel], units: Units) -> dict[str, tuple[float, ...]]:
    """The places along each coordinate, of all equations together; none along coordinates that are broken already.

    With more than one coordinate, a network on each side of an edge takes its time, and is worth it where fluxes jump: fields
    have a kink there. Where nothing but a source jumps, one network comes nearer in the same time. The channels are those of
    the problem in the user's units.
    """
    if not isinstance(problem.domain, Box):  # no lines run through it from end to end, and it cannot be broken
        return {}
    domain, found = problem.domain, {}
    varied = 1 + VARIED * np.random.default_rng(0).uniform(-1, 1, len(problem.parameters))
    guesses = zip(problem.parameters.items(), varied, strict=True)
    unknowns = {name: jnp.asarray((unknown.guess or 1.0) * factor) for (name, unknown), factor in guesses}
    equations = [channel.operator for channel in channels if channel.kind == "equation" and looks_at_its_place(channel)]
    for axis, name in enumerate(domain.coordinates):
        followed = equations if domain.dimension == 1 else [flux for one in equations for flux in _fluxes(one, name)]
        if not domain.breaks[axis] and (places := places_along(followed, axis, domain, units, unknowns)):
            found[name] = places
    return found if len(domain.broken(found).pieces) <= PIECES else {}


def places_along(
    operators: Sequence[Operator], axis: int, domain: Box, units: Units, unknowns: dict[str, Array], most: int = MOST
) -> tuple[float, ...]:
    """Where operators jump along a coordinate; nothing if the places are too many, too near, or not the same everywhere."""
    low, high, apart = domain.lower[axis], domain.upper[axis], AWAY * (domain.upper[axis] - domain.lower[axis])
    seen = Counter(place for operator in operators for place in _Lines(operator, units, unknowns).jumps(axis, most))
    places = sorted(place for place in seen if low + apart < place < high - apart)
    if not places or len(places) > most or np.min(np.diff(places), initial=np.inf) < apart:
        return ()
    # a straight edge is at the same place on all lines that cross it, a curved one is not
    return tuple(places) if min(seen.values()) > 1 else ()


def looks_at_its_place(channel: Channel) -> bool:
    """Whether a condition has the coordinates in it, of the place that it is asked for."""
    return not channel.given and not {*channel.operator.names.coordinates, *POINT}.isdisjoint(channel.operator.arguments)


def _fluxes(operator: Operator, along: str) -> list[Operator]:
    """The expressions that an equation differentiates along a coordinate: K * h.x of (K * h.x).x."""
    return [
        Operator(operator.function, operator.names, flux=number) for number, name in enumerate(operator.fluxes) if name == along
    ]


class _Lines:
    """An operator along straight lines through the domain."""

    def __init__(self, operator: Operator, units: Units, unknowns: dict[str, Array]):
        names, random = operator.names, np.random.default_rng(0)
        self.through = random.uniform(-1, 1, (LINES, len(names.coordinates)))
        self.fields = random.normal(size=(LINES, len(operator.orders), len(names.fields)))
        self.operator, self.units, self.unknowns = operator, units, unknowns

    def jumps(self, axis: int, at_most: int) -> list[float]:
        """All places along a coordinate, in the user's units; rounded, since on other lines they may be the same."""
        places = np.tile(np.linspace(-1, 1, ALONG), (LINES, 1))
        values = self._values(axis, places)
        steps, size = _steps(values), np.max(np.abs(values), axis=(1, 2), initial=0.0)[:, None]
        large = (steps > STEEP * np.median(steps, axis=1, keepdims=True)) & (steps > MATTERS * size)
        most = large.sum(axis=1).max()
        if most > 2 * at_most:
            return []
        found, line = [], np.arange(LINES)
        for rank in range(most):
            at = np.argsort(~large, axis=1, kind="stable")[:, rank]
            low, high = places[line, at], places[line, at + 1]
            for _ in range(ZOOMS):
                closer = np.linspace(low, high, ALONG, axis=1)
                smaller = _steps(self._values(axis, closer))
                here = np.argmax(smaller, axis=1)
                low, high = closer[line, here], closer[line, here + 1]
            stays = large[line, at] & (smaller[line, here] > steps[line, at] / 2)
            middle, half = float(self.units.middle[axis]), float(self.units.half[axis])
            digits = DIGITS - math.ceil(math.log10(2 * half))
            found += [round(middle + half * float(place), digits) for place in ((low + high) / 2)[stays]]
        return found

    def _values(self, axis: int, places: np.ndarray) -> np.ndarray:
        """What the operator gives at places along the lines; nothing where that is no number."""
        points = np.repeat(self.through[:, None], places.shape[1], axis=1)
        points[:, :, axis] = places
        found = operator_values(self.operator, self.units, self.unknowns, jnp.asarray(points), jnp.asarray(self.fields))
        return np.asarray(np.nan_to_num(np.asarray(found), posinf=0.0, neginf=0.0))


def _steps(values: np.ndarray) -> np.ndarray:
    """From each place on a line to the next."""
    return np.asarray(np.linalg.norm(np.diff(values, axis=1), axis=2))


@runs_once
def operator_values(
    operator: Operator,
    units: Units,
    unknowns: dict[str, Array],
    points: Float[Array, "lines n d"],
    fields: Float[Array, "lines orders f"],
) -> Float[Array, "lines n k"]:
    """An operator at points of the network, of fields and derivatives that are the same all along a line."""

    def on_line(points: Float[Array, "n d"], fields: Float[Array, "orders f"]) -> Float[Array, "n k"]:
        return jax.vmap(lambda x: _value(operator, units, unknowns, x, fields))(points)

    return jax.vmap(on_line)(points, fields)


@runs_once
def operator_slopes(
    operator: Operator,
    units: Units,
    unknowns: dict[str, Array],
    point: Float[Array, " d"],
    fields: Float[Array, "draws orders f"],
) -> Float[Array, "draws k orders f"]:
    """The derivatives of an operator at one point of the network by those of the fields."""
    found: Array = jax.vmap(jax.jacfwd(lambda own: _value(operator, units, unknowns, point, own)))(fields)
    return found


def _value(
    operator: Operator, units: Units, unknowns: dict[str, Array], x: Float[Array, " d"], fields: Float[Array, "orders f"]
) -> Float[Array, " k"]:
    inside = made_positive(Jet(fields, operator.orders), operator.names.positive_columns)
    assert isinstance(inside, Jet)  # as what it was made of
    found: Array = operator(units.fields(inside), units.outside(x), unknowns, {})
    return found
