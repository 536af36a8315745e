"""Which values of a problem can hold by construction, and what makes them: given ones on faces of the box, and initial ones.

Given values on opposite faces are interpolated along the coordinate between them, those when time begins fade away along it;
the next coordinate adds what is still missing at its own ends (transfinite interpolation). So values that agree where faces
meet are all taken. What disagrees there, or has kinks, has no such continuation: it shows as a series that does not end, or as
faces that are missed, and stays a condition among others.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.lifted import Lifted
from ..derivatives.network import AbstractNetwork, Frozen
from ..derivatives.units import Units
from .boundary import Periodic
from .channel import Channel
from .chebyshev import Function, along, at_end, evaluated, padded, series, series_of_one
from .fading import fading
from .given import Given, begins, given_values
from .precision import Exact
from .region import TIME, Domain

if TYPE_CHECKING:
    from .problem import Problem

FRESH = 4096  # points of a face at which values are compared with those that are given, so that no narrow peak is missed
FASTEST, SLOWEST = 0.02, 0.3  # parts of all time in which given values fade away
CLOSE = (1e-9, 1e-6)  # of a field's scale: values so close to the given ones are met, and slopes
BENDS = 1e-6  # differences of a value and its derivatives between the ends of a periodic coordinate that are nothing


class Lift(eqx.Module):
    """Coefficients of a polynomial that takes the given values, of factors that are zero there (see `derivatives/lifted.py`),
    and the names of the conditions that then hold by construction."""

    lift: Float[Array, "fields *_"] | None
    gates: tuple[Float[Array, "fields _"] | None, ...]
    met: tuple[str, ...] = eqx.field(static=True)

    @classmethod
    def of(cls, network: Lifted, found: "Lift | None") -> "Lift":
        """That of a network, which meets what was found for a problem if it is the same."""
        content = [None if part is None else part.content for part in (network.lift, *network.gates)]
        own = cls(content[0], tuple(content[1:]), met=() if found is None else found.met)
        same = found is not None and bool(eqx.tree_equal(own, found, rtol=1e-4, atol=1e-6))
        return own if same else cls(own.lift, own.gates, met=())

    def around(self, network: AbstractNetwork) -> AbstractNetwork:
        """A network that takes the given values."""
        frozen = tuple(None if gate is None else Frozen(gate) for gate in self.gates)
        return Lifted(network, None if self.lift is None else Frozen(self.lift), frozen)


def find_lift(problem: "Problem", channels: Sequence[Channel], equations: Sequence[Channel], units: Units) -> Lift:
    """What can hold by construction in a network of some units. The channels are those of the problem's conditions; the
    equations are made dimensionless, when time begins."""
    exact = [
        condition
        for condition, channel in zip(problem.conditions, channels, strict=False)
        if isinstance(channel.precision, Exact) and not channel.precision.given
    ]
    around = [c.label for c in exact if isinstance(c, Periodic) and c.along in problem.periodic]
    given = [given_values(problem, exact, column, units) for column in range(len(problem.fields))]
    fades = fading(problem, given, equations, units)
    fields = [_lift_of(problem, some, own) for some, own in zip(given, fades, strict=True)]
    met = [name for name in (c.label for c in exact) if any(name in found.met for found in fields)]
    return Lift(*_together(fields, problem.domain.dimension), met=(*around, *met))


def together(lifts: Sequence[Lift]) -> list[Lift]:
    """Lifts with arrays of the same sizes; none if not all of them meet the same conditions."""
    if len({(lift.met, lift.lift is None, tuple(gate is None for gate in lift.gates)) for lift in lifts}) != 1:
        return []

    leaves, structure = zip(*map(jax.tree.flatten, lifts), strict=True)
    if not leaves[0]:
        return list(lifts)  # nothing but periodic coordinates
    stacked = [jnp.asarray(padded([np.asarray(array) for array in arrays])) for arrays in zip(*leaves, strict=True)]
    return [jax.tree.unflatten(structure[0], own) for own in zip(*stacked, strict=True)]


@dataclass(frozen=True)
class _FieldLift:
    """The same as `Lift` for one field."""

    coefficients: np.ndarray
    gates: tuple[np.ndarray | None, ...]
    met: tuple[str, ...] = ()


def _lift_of(problem: "Problem", given: Sequence[Given], fades: float) -> _FieldLift:
    """As many conditions of a field as can be met together; those when time begins if they do not fade too fast."""
    domain, dimension = problem.domain, problem.domain.dimension
    periodic = [domain.axis(name) for name in problem.periodic]
    for some in _choices(given, domain, too_fast=fades < FASTEST):
        by_axis = {axis: [one for one in some if one.axis == axis] for axis in _time_first(some, domain)}
        blends = {axis: _blend(own, min(fades, SLOWEST) if begins(own, domain) else None) for axis, own in by_axis.items()}
        coefficients = series(_continued(by_axis, blends), dimension)
        if coefficients is not None and _are_met(some, coefficients) and _is_periodic(coefficients, periodic):
            gates = tuple(blends[axis].gate if axis in blends else None for axis in range(dimension))
            return _FieldLift(coefficients, gates, tuple(dict.fromkeys(one.condition.label for one in some)))
    return _FieldLift(np.zeros((1,) * dimension), (None,) * dimension)


def _time_first(given: Sequence[Given], domain: Domain) -> list[int]:
    """The coordinates with given values at their ends."""
    return sorted({one.axis for one in given}, key=lambda axis: (domain.coordinates[axis] != TIME, axis))


def _choices(given: Sequence[Given], domain: Domain, too_fast: bool) -> Iterator[list[Given]]:
    """All of them; if they do not go together, fewer and fewer. A condition on several faces is met on all of them or not."""
    in_time = [one for one in given if domain.coordinates[one.axis] == TIME]
    in_space = [one for one in given if one not in in_time]
    beginning = [one for one in in_time if one.order == 0]
    tried: list[list[Given]] = []
    for chosen in (in_time + in_space, beginning + in_space, in_space, in_time, beginning):
        whole = [one for one in chosen if sum(other.condition is one.condition for other in chosen) == one.faces]
        begun = any(one.order == 0 and not one.at_upper for one in whole if one in in_time)
        ended = any(one.at_upper for one in whole if one in in_time)
        some = [one for one in whole if one.order == 0 or (begun and not ended)]
        if some and some not in tried and not (too_fast and any(one in in_time for one in some)):
            tried.append(some)
            yield some


@dataclass(frozen=True)
class _Blend:
    """Along one coordinate: how far each of the given values counts, and the gate as Chebyshev coefficients."""

    shares: tuple[Function, ...]
    gate: np.ndarray


def _blend(given: Sequence[Given], fades: float | None) -> _Blend:
    """For the values that are given at the ends of one coordinate. If it is time, `fades` is the part of it in which what it
    begins with fades away: about as fast as the solution changes, or the network would have to be large at first."""
    if len(given) == 2 and given[0].at_upper != given[1].at_upper:
        return _Blend(tuple(functools.partial(_towards, one.end) for one in given), series_of_one(lambda s: 1 - s**2))
    if fades is None:
        return _Blend((np.ones_like,), series_of_one(functools.partial(_towards, -given[0].end)))
    power = len(given)  # gates of a value alone begin with a slope

    def kept(s: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-(((1 + s) / 2 / fades) ** power)))

    shares = tuple((lambda s: (1 + s) * kept(s)) if one.order else kept for one in given)
    return _Blend(shares, series_of_one(lambda s: 1 - kept(s)))


def _towards(end: float, s: np.ndarray) -> np.ndarray:
    return (1 + end * s) / 2


def _continued(by_axis: Mapping[int, Sequence[Given]], blends: Mapping[int, _Blend]) -> Function:
    """A function of points of the network that takes the given values, if they agree with each other: coordinate by coordinate,
    each adds what the ones before lack at its ends. Time is the first, so that slopes are those of nothing."""

    def zero(points: np.ndarray) -> np.ndarray:
        return np.zeros(len(points))

    found = zero
    for axis, given in by_axis.items():
        found = functools.partial(_completed, found, axis, given, blends[axis])
    return found


def _completed(below: Function, axis: int, given: Sequence[Given], blend: _Blend, points: np.ndarray) -> np.ndarray:
    total = below(points)
    for one, share in zip(given, blend.shares, strict=True):
        total = total + share(points[:, axis]) * one.missing(below, points)
    return total


def _are_met(given: Sequence[Given], coefficients: np.ndarray) -> bool:
    """Whether a series has the given values at the ends of the coordinates."""
    dimension = coefficients.ndim
    points = np.random.default_rng(0).uniform(-1, 1, (FRESH, dimension))

    def distance(one: Given) -> float:
        there = np.where(np.arange(dimension) == one.axis, one.end, points)
        trace = along(at_end(coefficients.shape[one.axis], one.end, one.order)[None], coefficients, one.axis)
        return float(np.abs(evaluated(trace, there) - one.at(there)).max())

    return all(distance(one) < CLOSE[one.order] * max(1.0, float(np.abs(coefficients).max())) for one in given)


def _is_periodic(coefficients: np.ndarray, axes: Sequence[int]) -> bool:
    """Whether value, slope and curvature of a series are the same at both ends of some coordinates."""
    ends = [(axis, order) for axis in axes for order in range(3)]
    differences = (
        along((at_end(n, 1.0, order) - at_end(n, -1.0, order))[None], coefficients, axis)
        for axis, order in ends
        for n in [coefficients.shape[axis]]
    )
    return all(float(np.abs(difference).max()) < BENDS for difference in differences)


def _together(fields: Sequence[_FieldLift], dimension: int) -> tuple[Array | None, tuple[Array | None, ...]]:
    """All fields as one array, and one for each coordinate."""
    every = padded([found.coefficients for found in fields])
    gates = []
    for axis in range(dimension):
        some = [found.gates[axis] for found in fields]
        closed = any(gate is not None for gate in some)
        gates.append(jnp.asarray(padded([np.ones(1) if g is None else g for g in some])) if closed else None)
    return (jnp.asarray(every) if np.any(every) else None), tuple(gates)
