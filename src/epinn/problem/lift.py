"""Which values of a problem can hold by construction, and what makes them: given ones on faces of the box, and initial ones.

Given values on opposite faces are interpolated along the coordinate between them, those when time begins fade away along it;
the next coordinate adds what is still missing at its own ends (transfinite interpolation). So values that agree where faces
meet are all taken. What disagrees there, or has kinks, has no such continuation: it shows as a series that does not end, or as
faces that are missed, and stays a condition among others.
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.polynomial import chebyshev

from ..derivatives.lifted import Lifted
from ..derivatives.network import AbstractNetwork, Frozen, Opaque
from ..derivatives.operator import at_points
from ..derivatives.units import Units
from .boundary import Periodic, Robin
from .channel import Channel, residuals
from .condition import Condition
from .conditions import Initial
from .domain import TIME, Box
from .precision import Exact

if TYPE_CHECKING:
    from .problem import Problem

DIMENSIONS = 3  # of a box, at most: in more, values have too many coefficients, and gates are next to nothing nearly everywhere
HIGHEST = 256  # degree along a coordinate
LINES = 4  # along each coordinate, on which is seen what degree it takes
MOST = 16384  # coefficients
AT_ONCE = 1024  # points
NEGLIGIBLE = 1e-13  # coefficients that are left out
FASTEST, SLOWEST = 0.02, 0.3  # parts of all time in which given values fade away
LEAST = 1e-3  # times its scale in all time: what changes less is taken to change so much
SMALL = 1e-10  # of a field's scale: coefficients and differences that are nothing
BENDS = 1e-6  # the same for derivatives at the ends of a periodic coordinate


class Lift(eqx.Module):
    """Coefficients of a polynomial that takes the given values, of factors that are zero there (see `derivatives/lifted.py`),
    and the names of the conditions that then hold by construction."""

    lift: Float[Array, "fields *degrees"] | None
    gates: tuple[Float[Array, "fields degrees"] | None, ...]
    met: tuple[str, ...] = eqx.field(static=True)

    def around(self, network: AbstractNetwork) -> AbstractNetwork:
        """A network that takes the given values."""
        frozen = tuple(None if gate is None else Frozen(gate) for gate in self.gates)
        return Lifted(network, None if self.lift is None else Frozen(self.lift), frozen)


def find_lift(problem: "Problem", channels: Sequence[Channel], equations: Sequence[Channel], units: Units) -> Lift:
    """What can hold by construction in a network of some units. The channels are those of the problem's conditions; the
    equations are made dimensionless, when time begins."""
    exact = (
        []
        if problem.points.resample
        else [
            condition
            for condition, channel in zip(problem.conditions, channels, strict=False)
            if isinstance(channel.precision, Exact) and not channel.precision.given
        ]
    )
    around = [c.label for c in exact if isinstance(c, Periodic) and c.along in problem.periodic]
    given = [_given_values(problem, exact, column, units) for column in range(len(problem.fields))]
    fades = _fading(problem, given, equations, units)
    fields = [_lift_of(problem, some, fading) for some, fading in zip(given, fades, strict=True)]
    met = [name for name in (c.label for c in exact) if any(name in found.met for found in fields)]
    return Lift(*_together(fields, problem.domain.dimension), met=(*around, *met))


def together(lifts: Sequence[Lift]) -> list[Lift]:
    """Lifts with arrays of the same sizes; none if not all of them meet the same conditions."""
    if len({(lift.met, lift.lift is None, tuple(gate is None for gate in lift.gates)) for lift in lifts}) != 1:
        return []

    def alike(*arrays: Array) -> list[Array]:
        return list(jnp.asarray(_padded([np.asarray(array) for array in arrays])))

    leaves, structure = zip(*map(jax.tree.flatten, lifts), strict=True)
    padded = [alike(*some) for some in zip(*leaves, strict=True)]
    return [jax.tree.unflatten(structure[0], own) for own in zip(*padded, strict=True)] if padded else list(lifts)


@dataclass(frozen=True)
class _Given:
    """Values of a field at one end of a coordinate, or its derivative along it, as a function of points of the network."""

    condition: Condition
    axis: int
    at_upper: bool
    order: int
    faces: int  # of its condition
    values: Callable[[Array], Array]

    @property
    def end(self) -> float:
        return 1.0 if self.at_upper else -1.0

    def at(self, points: np.ndarray) -> np.ndarray:
        """The values at points, always as many at once, since a user's function is compiled for each number of them."""
        filled = np.pad(points, [(0, -len(points) % AT_ONCE), (0, 0)])
        parts = [np.asarray(self.values(jnp.asarray(part))) for part in np.split(filled, len(filled) // AT_ONCE)]
        return np.concatenate(parts)[: len(points)]

    def missing(self, below: Callable[[np.ndarray], np.ndarray], points: np.ndarray) -> np.ndarray:
        """What another function lacks of these values, at the end of the coordinate that is nearest to each point."""
        there = points.copy()
        there[:, self.axis] = self.end
        return self.at(there) - (0.0 if self.order else below(there))


@dataclass(frozen=True)
class _FieldLift:
    """The same as `Lift` for one field."""

    coefficients: np.ndarray
    gates: tuple[np.ndarray | None, ...]
    met: tuple[str, ...] = ()


def _lift_of(problem: "Problem", given: Sequence[_Given], fades: float) -> _FieldLift:
    """As many conditions of a field as can be met together; those when time begins if they do not fade too fast."""
    domain, dimension = problem.domain, problem.domain.dimension
    periodic = [domain.axis(name) for name in problem.periodic]
    for some in _choices(given, domain, too_fast=fades < FASTEST):
        by_axis = {axis: [one for one in some if one.axis == axis] for axis in _time_first(some, domain)}
        blends = {axis: _blend(own, min(fades, SLOWEST) if _begins(own, domain) else None) for axis, own in by_axis.items()}
        coefficients = _series(_continued(by_axis, blends), some, periodic, dimension)
        if coefficients is not None:
            gates = tuple(blends[axis].gate if axis in blends else None for axis in range(dimension))
            return _FieldLift(coefficients, gates, tuple(dict.fromkeys(one.condition.label for one in some)))
    return _FieldLift(np.zeros((1,) * dimension), (None,) * dimension)


def _given_values(problem: "Problem", exact: Sequence[Condition], column: int, units: Units) -> list[_Given]:
    """All values that are given for a field on whole faces; none of a face that has several, and none for a field that is made
    positive or depends on some coordinates only."""
    found, domain, name = [], problem.domain, problem.fields[column]
    if name in problem.positive or any(own == name and own.of is not None for own in problem.networks) or any(domain.breaks):
        return []
    if domain.dimension > DIMENSIONS:
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
            values = _in_units(own, domain, units, unit, 0.0 if order else units.offset[column] * by / unit)
            found.append(_Given(condition, face.axis, face.at_upper, order, len(faces), values))
    keys = [(one.axis, one.at_upper, one.order) for one in found]
    return [one for one, key in zip(found, keys, strict=True) if keys.count(key) == 1]


def _in_units(target: Any, domain: Box, units: Units, unit: Any, offset: Any) -> Callable[[Array], Array]:
    """A target as a function of points of the network, in its units."""

    def values(points: Array) -> Array:
        if not callable(target):
            return jnp.full(len(points), target / unit - offset)
        found = at_points(target, domain.coordinates, units.outside(points))
        return jnp.asarray(found[:, 0] / unit - offset)

    return values


def _fading(problem: "Problem", given: Sequence[Sequence[_Given]], equations: Sequence[Channel], units: Units) -> list[float]:
    """For every field, the part of time in which it changes by about its scale, going by how the equations begin: at first
    order where its value is given, at second where its slope is too (Taylor's series)."""
    first = [[one for one in some if _begins([one], problem.domain)] for some in given]
    if not any(first) or not equations:
        return [SLOWEST] * len(given)
    powers = np.asarray([max(len(some), 1) for some in first])
    axis = problem.domain.axis(TIME)

    def begun(x: Float[Array, " d"], changes: Float[Array, " fields"]) -> Float[Array, " fields"]:
        since = 1 + x[axis]
        values = [sum((one.values(x[None])[0] * since**one.order for one in some), start=jnp.zeros(())) for some in first]
        return jnp.stack(values) + changes * jnp.where(powers == 1, since / 2, since**2 / 8)

    def left(changes: Float[Array, " fields"]) -> Float[Array, "n k"]:
        network = Opaque(lambda x: begun(x, changes))
        return jnp.concatenate(residuals(equations, problem.solution(network, units)), axis=1)

    still = jnp.zeros(len(given))
    there, felt = (np.nan_to_num(np.asarray(part)) for part in jax.jit(lambda at: (left(at), jax.jacfwd(left)(at)))(still))
    wanted = np.asarray([bool(some) for some in first])
    change = np.einsum("nfk,nk->nf", np.linalg.pinv(felt[:, :, wanted]), there)
    found = np.zeros(len(given))
    found[wanted] = np.sqrt(np.nanmean(change**2, axis=0))
    return list((powers / np.maximum(found, LEAST)) ** (1 / powers))


def _begins(given: Sequence[_Given], domain: Box) -> bool:
    """Whether values are given for when time begins, and not for its end."""
    return all(domain.coordinates[one.axis] == TIME and not one.at_upper for one in given)


def _time_first(given: Sequence[_Given], domain: Box) -> list[int]:
    """The coordinates with given values at their ends."""
    return sorted({one.axis for one in given}, key=lambda axis: (domain.coordinates[axis] != TIME, axis))


def _choices(given: Sequence[_Given], domain: Box, too_fast: bool) -> Iterator[list[_Given]]:
    """All of them; if they do not go together, fewer and fewer. A condition on several faces is met on all of them or not."""
    in_time = [one for one in given if domain.coordinates[one.axis] == TIME]
    in_space = [one for one in given if one not in in_time]
    beginning = [one for one in in_time if one.order == 0]
    for chosen in (in_time + in_space, beginning + in_space, in_space, in_time, beginning):
        whole = [one for one in chosen if sum(other.condition is one.condition for other in chosen) == one.faces]
        begun = any(one.order == 0 and not one.at_upper for one in whole if one in in_time)
        ended = any(one.at_upper for one in whole if one in in_time)
        some = [one for one in whole if one.order == 0 or (begun and not ended)]
        if some and not (too_fast and any(one in in_time for one in some)):
            yield some


@dataclass(frozen=True)
class _Blend:
    """Along one coordinate: how far each of the given values counts, and the gate as Chebyshev coefficients."""

    shares: tuple[Callable[[np.ndarray], np.ndarray], ...]
    gate: np.ndarray


def _blend(given: Sequence[_Given], fades: float | None) -> _Blend:
    """For the values that are given at the ends of one coordinate. If it is time, `fades` is the part of it in which what it
    begins with fades away: about as fast as the solution changes, or the network would have to be large at first."""
    if len(given) == 2 and given[0].at_upper != given[1].at_upper:
        return _Blend(tuple(functools.partial(_towards, one.end) for one in given), _series_along(lambda s: 1 - s**2))
    if fades is None:
        return _Blend((np.ones_like,), _series_along(functools.partial(_towards, -given[0].end)))
    power = len(given)  # gates of a value alone begin with a slope

    def kept(s: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-(((1 + s) / 2 / fades) ** power)))

    shares = tuple((lambda s: (1 + s) * kept(s)) if one.order else kept for one in given)
    return _Blend(shares, _series_along(lambda s: 1 - kept(s)))


def _towards(end: float, s: np.ndarray) -> np.ndarray:
    return (1 + end * s) / 2


def _series_along(function: Callable[[Any], Any]) -> np.ndarray:
    """Chebyshev coefficients of a function of one coordinate that is smooth."""
    found = chebyshev.chebinterpolate(function, HIGHEST)
    return found[: np.flatnonzero(np.abs(found) > NEGLIGIBLE)[-1] + 1]


def _continued(by_axis: Mapping[int, Sequence[_Given]], blends: Mapping[int, _Blend]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of points of the network that takes the given values, if they agree with each other: coordinate by coordinate,
    each adds what the ones before lack at its ends. Time is the first, so that slopes are those of nothing."""

    def zero(points: np.ndarray) -> np.ndarray:
        return np.zeros(len(points))

    found = zero
    for axis, given in by_axis.items():
        found = functools.partial(_completed, found, axis, given, blends[axis])
    return found


def _completed(
    below: Callable[[np.ndarray], np.ndarray], axis: int, given: Sequence[_Given], blend: _Blend, points: np.ndarray
) -> np.ndarray:
    total = below(points)
    for one, share in zip(given, blend.shares, strict=True):
        total = total + share(points[:, axis]) * one.missing(below, points)
    return total


def _series(
    function: Callable[[np.ndarray], np.ndarray], given: Sequence[_Given], periodic: Sequence[int], dimension: int
) -> np.ndarray | None:
    """The Chebyshev coefficients of a function that takes given values; None if they do not end, or if it misses some."""
    degrees = [_degree(function, axis, dimension) for axis in range(dimension)]
    if math.prod(degree + 1 for degree in degrees) > MOST:
        return None
    nodes = [_nodes(degree) for degree in degrees]
    values = function(_mesh(nodes)).reshape([degree + 1 for degree in degrees])
    if not np.all(np.isfinite(values)):
        return None
    found = values
    for axis, node in enumerate(nodes):
        found = _along(_to_coefficients(node), found, axis)
    small = SMALL * max(1.0, float(np.abs(found).max()))
    ends = all(np.abs(np.take(found, -1, axis)).max() < small for axis in range(dimension))
    met = all(_is_met(one, values, found, nodes, small) for one in given)
    smooth = all(np.abs(_along(_wraps(found.shape[axis]), found, axis)).max() < BENDS for axis in periodic)
    return _trimmed(found) if ends and met and smooth else None


def _degree(function: Callable[[np.ndarray], np.ndarray], axis: int, dimension: int) -> int:
    """The degree that a function needs along a coordinate, going by some lines through the box; MOST if its series does not
    end."""
    nodes = _nodes(HIGHEST)
    points = np.repeat(np.random.default_rng(0).uniform(-1, 1, (LINES, 1, dimension)), len(nodes), axis=1)
    points[:, :, axis] = nodes
    values = function(points.reshape(-1, dimension)).reshape(LINES, -1)
    if not np.all(np.isfinite(values)):
        return MOST
    found = np.abs(_along(_to_coefficients(nodes), values, 1)).max(axis=0)
    needed = np.flatnonzero(found > NEGLIGIBLE * max(1.0, found.max()))
    last = int(needed[-1]) if needed.size else 0
    tail = found[3 * HIGHEST // 4 :].max()
    return MOST if tail > SMALL * max(1.0, found.max()) else max(last + 2, 4)


def _nodes(degree: int) -> np.ndarray:
    """Chebyshev points from 1 to -1, ends included."""
    return np.asarray(np.cos(np.pi * np.arange(degree + 1) / degree))


def _to_coefficients(nodes: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.inv(chebyshev.chebvander(nodes, len(nodes) - 1)))


def _mesh(nodes: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(nodes))


def _along(matrix: np.ndarray, values: np.ndarray, axis: int) -> np.ndarray:
    return np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)


def _is_met(one: _Given, values: np.ndarray, coefficients: np.ndarray, nodes: Sequence[np.ndarray], small: float) -> bool:
    """Whether values on a grid, or the slope of their series, are those that are given at the end of a coordinate."""
    ends = [np.asarray([one.end]) if axis == one.axis else node for axis, node in enumerate(nodes)]
    points = _mesh(ends)
    if one.order == 0:
        found = np.take(values, 0 if one.at_upper else -1, one.axis)  # nodes run from 1 to -1
    else:
        n = np.arange(coefficients.shape[one.axis])
        found = _along((n**2 * one.end ** (n + 1))[None], coefficients, one.axis)
        for axis, node in enumerate(nodes):
            found = found if axis == one.axis else _along(chebyshev.chebvander(node, len(node) - 1), found, axis)
    return bool(np.all(np.abs(found.reshape(-1) - one.at(points)) < (BENDS if one.order else small)))


def _wraps(number: int) -> np.ndarray:
    """By how much value, slope and curvature of each Chebyshev polynomial differ between its ends."""
    n = np.arange(number)
    slope, curvature = n**2, n**2 * (n**2 - 1) / 3
    odd = 2.0 * (n % 2)
    return np.stack([odd, (2 - odd) * slope, odd * curvature])


def _trimmed(coefficients: np.ndarray) -> np.ndarray:
    """Without what is nothing at the end of each axis."""
    matters = np.abs(coefficients) > NEGLIGIBLE * max(1.0, float(np.abs(coefficients).max()))
    for axis in range(coefficients.ndim):
        some = np.flatnonzero(matters.any(axis=tuple(other for other in range(matters.ndim) if other != axis)))
        last = int(some[-1]) + 1 if some.size else 1
        coefficients, matters = (np.take(part, range(last), axis) for part in (coefficients, matters))
    return coefficients


def _together(fields: Sequence[_FieldLift], dimension: int) -> tuple[Array | None, tuple[Array | None, ...]]:
    """All fields as one array, and one for each coordinate."""
    every = _padded([found.coefficients for found in fields])
    gates = []
    for axis in range(dimension):
        some = [found.gates[axis] for found in fields]
        closed = any(gate is not None for gate in some)
        gates.append(jnp.asarray(_padded([np.ones(1) if g is None else g for g in some])) if closed else None)
    return (jnp.asarray(every) if np.any(every) else None), tuple(gates)


def _padded(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays of different sizes, filled up with zeros, as one."""
    shape = np.max([array.shape for array in arrays], axis=0)
    return np.stack([np.pad(a, [(0, n - m) for n, m in zip(shape, a.shape, strict=True)]) for a in arrays])
