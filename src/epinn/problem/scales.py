"""Which units make a problem dimensionless: from its box, its data and conditions, and the size of its equations' own terms.

Coordinates run from -1 to 1. A field is measured from the middle of the values that are given for it, in units of half their
range. Where none are given, or none that differ, its scale is what balances the equations: random smooth fields of that scale
change the residuals by as much as is there without them. A residual is measured in units of what random smooth fields leave of
its condition, and an unknown in units of the change that alters a residual by as much.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.compiled import runs_once
from ..derivatives.directions import Directions
from ..derivatives.network import AbstractNetwork, Frozen, Solution
from ..derivatives.units import Units
from .channel import Channel, thinned
from .corners import Corner, contradictions
from .domain import Box
from .events import events
from .fans import Fan, fans
from .jumps import jumps
from .layers import Layer, layers
from .lift import Lift, find_lift, together
from .operators import Traces
from .periods import periods_in_half_the_box
from .precision import Exact
from .random_fields import draws, responses, sensitivities
from .region import TIME
from .values import values_of

if TYPE_CHECKING:
    from .problem import Problem

POINTS = 128  # of a condition are enough to see how large its terms are
SWEEPS = 3  # over the fields whose scale depends on that of others
TRIED = 65  # scales at once
DECADES = 16  # either way, of the scales that are tried
MOST_ROWS = 6000  # of a problem in windows, where each has points of its own
ZONED_ROWS = 2000  # of one whose zones were found, and have to be solved together
MOST_POINTS = 8  # times as many as usual
BEYOND = 10.0  # times the range of its given values is as much as a field is taken to vary, if the equation has guesses in it


class Scales(eqx.Module):
    """Units, and the size of the residuals of every channel by its name, row by row.

    `breaks` are those that are added to its domain: where the equation jumps, and where whoever solves it needs them.
    """

    units: Units
    sizes: dict[str, Float[Array, " k"]]
    breaks: Mapping[str, tuple[float, ...]] = eqx.field(static=True, default_factory=dict)
    periods: tuple[float, ...] = eqx.field(static=True, default=())  # of what is given, in half the box, along each coordinate
    events: tuple[float, ...] = eqx.field(static=True, default=())  # times at which something is sudden
    corners: tuple[Corner, ...] = eqx.field(static=True, default=())  # at which given values contradict each other
    fans: tuple[Fan, ...] = eqx.field(static=True, default=())  # the same, and others, where a network may be shown directions,
    layers: tuple[Layer, ...] = eqx.field(static=True, default=())  # or distances from walls at which fields may be steep,
    has_directions: bool = eqx.field(static=True, default=False)  # and whether it is shown any
    lift: Lift | None = None  # what holds by construction, where anything does

    @classmethod
    def of(cls, problem: "Problem", *, hard: bool = True) -> "Scales":
        """Those that make a problem dimensionless; `hard` if given values may hold by construction."""
        with jax.enable_x64(True):
            search = _Search(problem)
            found = search.scales()
            breaks = jumps(problem, search.channels, found.units)
            periods = () if breaks else search.periods(found.sizes)
            lift = None if breaks or not hard else search.lift(found)
            corners = contradictions(problem)
            later = () if breaks else events(problem, search.channels, found.units)
            in_windows = search.is_exact and not problem.parameters  # or without training, all at once
            spread = () if breaks else fans(problem, corners, later, search.channels, found.units, found.sizes, in_windows)
            thin = () if breaks or corners or spread else layers(problem, search.channels, found.units)
            on_host = jax.tree.map(np.asarray, dataclasses.replace(found, lift=lift))
        if breaks:  # there are conditions where zones meet, which have sizes too
            return dataclasses.replace(cls.of(problem.broken(breaks), hard=hard), breaks=breaks)
        times = tuple(sorted({event.time for event in later})) if in_windows else ()
        rounded: Scales = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), on_host)
        shown = bool(spread) and not in_windows and not problem.points.resample  # elsewhere, training is not what comes first
        found = dataclasses.replace(rounded, periods=periods, corners=corners, fans=spread, events=times, layers=thin)
        return found.with_directions() if shown else found

    @property
    def ends(self) -> tuple[float, ...]:
        """Times at which a window must end, since nothing is smooth across them."""
        return self.breaks.get(TIME, self.events)

    @property
    def stretch(self) -> tuple[float, ...]:
        """How many times faster than usual the fields are expected to vary along each coordinate; nothing if no faster."""
        return tuple(max(1.0, periods) for periods in self.periods) if max(self.periods, default=0.0) > 1 else ()

    @property
    def times(self) -> int:
        """How many times as many points as usual it takes to see that."""
        return min(MOST_POINTS, math.ceil(math.prod(self.stretch) - 0.5))

    def channels(self, problem: "Problem", key: PRNGKeyArray | int, elsewhere: bool = False) -> tuple[Channel, ...]:
        """The channels of a problem made dimensionless: in double precision, since an offset may be a thousand times larger
        than what is measured from it, and rounded only then."""
        with jax.enable_x64(True):
            most = problem.points.times * (MOST_ROWS if set(self.breaks) <= {TIME} else ZONED_ROWS)
            problem = problem.broken(self.breaks) if self.breaks else problem
            chosen = problem.points.collocation is not None or problem.points.boundary is not None
            problem = problem if chosen or self.times == 1 else problem.with_times_as_many_points(self.times)
            places = self.near if self.has_directions else self.corners
            problem = problem.clear_of(places) if places else problem
            made = problem.elsewhere(key) if elsewhere else problem.channels(key)
            made = made if self.lift is None else tuple(c for c in made if c.name not in self.lift.met)
            made = thinned(made, most) if self.breaks else made
            on_host = jax.tree.map(lambda leaf: np.asarray(leaf) if eqx.is_array(leaf) else leaf, _inside(self, made))
        return jax.tree.map(lambda leaf: jnp.asarray(leaf) if eqx.is_array(leaf) else leaf, on_host)  # type: ignore[no-any-return]

    def around(self, network: AbstractNetwork) -> AbstractNetwork:
        """A network in which holds by construction what can."""
        return network if self.lift is None else self.lift.around(network)

    def everywhere(self) -> "Scales":
        """The same with nothing that points keep away from."""
        return dataclasses.replace(self, corners=())

    def with_directions(self) -> "Scales":
        """The same for a network that is shown directions from corners, so that points may come as close as they like."""
        return dataclasses.replace(self.soft(), has_directions=True)

    @property
    def directions(self) -> Directions | None:
        """What a network is shown of them."""
        return _directions(self.near, self.units) if self.has_directions else None

    @property
    def near(self) -> tuple[Fan | Layer, ...]:
        """Where a network may be shown more than the coordinates."""
        return self.fans or self.layers

    def soft(self) -> "Scales":
        """The same with nothing that holds by construction."""
        return dataclasses.replace(self, lift=None)

    def of_a_network_in_the_users_units(self) -> "Scales":
        """The same for a network that takes coordinates and gives fields as they are."""
        units = self.units
        plain = Units(
            jnp.zeros_like(units.middle),
            jnp.ones_like(units.half),
            jnp.zeros_like(units.offset),
            jnp.ones_like(units.scale),
            units.unknowns,
        )
        return Scales(plain, self.sizes, self.breaks, self.periods, corners=self.corners)

    def size(self, channel: Channel) -> Float[Array, "*n k"]:
        """The size of a channel's residuals, row by row where a network is shown more; at a break that was added, that of what
        is continuous there."""
        if channel.name in self.sizes:
            own = self.sizes[channel.name]
            if channel.kind != "equation" or not self.has_directions:
                return own
            growth = jnp.stack([place.growth(channel.points) for place in self.near])
            return own * (1 + jnp.sum(growth, axis=0))[:, None]
        names, function = channel.operator.names, channel.operator.function
        assert isinstance(function, Traces)
        return jnp.stack(
            [
                self.units.scale[names.fields.index(field)]
                / jnp.prod(jnp.stack([self.units.half[names.coordinates.index(name)] for name in along] or [jnp.ones(())]))
                for field, along in function.parts
            ]
        )


def _directions(places: Sequence[Fan | Layer], units: Units) -> Directions | None:
    """What a network is shown of some places; nothing where there are none."""
    if not places:
        return None
    middle, half = np.asarray(units.middle, float), np.asarray(units.half, float)
    at = [tuple(float((x - middle[i]) / half[i]) for i, x in zip(one.axes, one.at, strict=True)) for one in places]
    by = Frozen(jnp.asarray([one.inward for one in places]))
    return Directions(tuple(one.axes for one in places), tuple(at), tuple(one.in_time for one in places), by)


def alike(scales: Sequence[Scales | None]) -> list[Scales | None]:
    """Scales of problems that are solved together: what holds by construction does so in all of them, and can be stacked."""
    lifts = together([one.lift for one in scales if one is not None and one.lift is not None])
    if len(lifts) < len(scales):
        return [None if one is None else one.soft() for one in scales]
    return [dataclasses.replace(one, lift=lift) for one, lift in zip(scales, lifts, strict=True) if one is not None]


@runs_once
def _inside(scales: Scales, channels: tuple[Channel, ...]) -> tuple[Channel, ...]:
    return tuple(channel.inside(scales.units, scales.size(channel)) for channel in channels)


class _Search:
    """The search for the scales of one problem, in double precision."""

    def __init__(self, problem: "Problem"):
        self.problem, self.channels = problem, tuple(_few(channel) for channel in problem.channels(0))
        domain, fields = problem.domain, len(problem.fields)
        lower, upper = np.asarray(domain.lower), np.asarray(domain.upper)
        given = [values_of(name, self.channels) for name in problem.fields]
        positive = np.isin(np.arange(fields), problem.names.positive_columns)
        low, high = (np.array([f(v) if v.size else 0.0 for v in given]) for f in (np.min, np.max))
        self.offset = np.where(positive, 0.0, (low + high) / 2)
        self.range = np.where(positive, np.maximum(np.abs(low), np.abs(high)), (high - low) / 2)
        self.is_measured = np.array([values_of(name, self.channels, ("data",)).size > 1 for name in problem.fields])
        self.guesses = {name: 1.0 if unknown.positive else unknown.guess for name, unknown in problem.parameters.items()}
        own = {name: jnp.asarray(unknown.guess if unknown.positive else 1.0) for name, unknown in problem.parameters.items()}
        middle, half = jnp.asarray((lower + upper) / 2), jnp.asarray((upper - lower) / 2)
        self.units = Units(middle, half, jnp.asarray(self.offset), jnp.asarray(self.range), own)
        self.waves = draws(fields, domain.dimension)
        ones = {channel.name: jnp.ones(channel.target.shape[1]) for channel in self.channels}
        # where a condition compares two places, one of them shows how large its terms are: the difference may be nothing
        inside = _inside(Scales(self.units, ones), self.channels)
        self.inside = tuple(dataclasses.replace(channel, partner=None) for channel in inside)
        self.is_exact = all(isinstance(channel.precision, Exact) for channel in self.channels)

    def scales(self) -> Scales:
        scale = self._field_scales()
        left = np.asarray(responses(self.inside, self._solution(self.waves, scale), jnp.asarray(scale[None]))[0])
        ends = np.cumsum([channel.target.shape[1] for channel in self.channels])
        sizes = {c.name: _row_sizes(c, size) for c, size in zip(self.channels, np.split(left, ends[:-1]), strict=True)}
        units = eqx.tree_at(lambda u: (u.scale, u.unknowns), self.units, (jnp.asarray(scale), self._unknowns(scale, sizes)))
        return Scales(units, {name: jnp.asarray(size) for name, size in sizes.items()})

    def periods(self, sizes: Mapping[str, Array]) -> tuple[float, ...]:
        """Those of what is given. None where there is noise: the number of points and a prior on functions are then part of
        what is known, and stay as they are."""
        return periods_in_half_the_box(self.problem, self.channels, self.units, sizes) if self.is_exact else ()

    def lift(self, scales: Scales) -> Lift | None:
        """What can hold by construction, in a box; None if nothing can, or points are drawn anew. Nor where there is noise:
        between values that hold exactly, a fit with unknown coefficients finds it harder to get from one explanation of the
        data to a better one."""
        if not self.is_exact or self.problem.points.resample or not isinstance(self.problem.domain, Box):
            return None
        domain, equations = self.problem.domain, [c for c in self.channels if c.kind == "equation" and not c.given]
        if TIME in domain.coordinates:
            axis = domain.axis(TIME)
            first = [dataclasses.replace(c, points=c.points.at[:, axis].set(domain.lower[axis])) for c in equations]
            same = {len(c.points) for c in first} == {len(c.points) for c in first[:1]}
            equations = list(_inside(scales, tuple(first))) if same else []
        found = find_lift(self.problem, self.channels, equations, scales.units)
        return found if found.met else None

    def _solution(self, network: AbstractNetwork, scale: np.ndarray) -> Solution:
        """Random fields of the given scales around the offsets, with every unknown at its guess."""
        raw = {
            name: jnp.asarray(np.log(value) if self.problem.parameters[name].positive else value)
            for name, value in self.guesses.items()
        }
        units = eqx.tree_at(lambda u: u.scale, self.units, jnp.asarray(scale))
        made = self.problem.solution(network)
        return Solution(network, raw, made.positive, made.positive_fields, Frozen(units))

    def _field_scales(self) -> np.ndarray:
        """Half the range of the given values, and what balances the equations where that says more."""
        scale = np.where(self.range > 0, self.range, 0.0)
        for _ in range(SWEEPS):
            for i in np.flatnonzero(~self.is_measured):
                balance = self._balance(int(i), scale)
                most = BEYOND * self.range[i] if self.guesses and self.range[i] > 0 else np.inf
                scale[i] = max(self.range[i], min(balance, most))
            if np.all(scale > 0) and len(scale) == 1:
                break
        own = np.where(self.offset != 0, np.abs(self.offset), 1.0)
        return np.where(scale > 0, scale, own)

    def _balance(self, i: int, scale: np.ndarray) -> float:
        """The scale of a field that changes the residuals by as much as is there without it, in the middle over all conditions;
        0 where that says nothing."""
        rough = self._crossings(i, scale, np.logspace(-DECADES, DECADES, TRIED))
        found = [  # conditions may disagree by decades: each is looked at again between its own neighbours
            self._crossings(i, scale, value * np.logspace(-0.75, 0.75, TRIED))[condition] or value
            for condition, value in enumerate(rough)
            if value > 0
        ]
        return float(np.exp(np.median(np.log(found)))) if found else 0.0

    def _crossings(self, i: int, scale: np.ndarray, tried: np.ndarray) -> list[float]:
        """The scale of a field at which each condition changes by as much as is there without it; 0 where none does."""
        there, change = (np.asarray(part) for part in self._changes(i, scale, tried))
        return [_crossing(tried, changes, size) for size, changes in zip(there, change.T, strict=True)]

    def _changes(self, i: int, scale: np.ndarray, tried: np.ndarray) -> tuple[Array, Array]:
        without = np.where(np.arange(len(scale)) == i, 0.0, scale)
        scales = np.where(np.arange(len(scale)) == i, tried[:, None], scale)
        return responses(self.inside, self._solution(self.waves, without), jnp.asarray(scales))

    def _unknowns(self, scale: np.ndarray, sizes: Mapping[str, np.ndarray]) -> dict[str, Array]:
        """The unit of every unknown: its guess if it is positive, else the change that a residual feels as its own size."""
        units = dict(self.units.unknowns)
        free = [name for name, unknown in self.problem.parameters.items() if not unknown.positive]
        if free:
            felt = sensitivities(self.inside, self._solution(self.waves, scale), tuple(free))
            for name in free:
                parts = [np.asarray(felt[name][j]) / sizes[c.name] for j, c in enumerate(self.channels)]
                most = max((float(np.max(part)) for part in parts if np.all(np.isfinite(part))), default=0.0)
                guess = abs(self.guesses[name])
                units[name] = jnp.asarray(1 / most if most > 0 else guess or 1.0)
        return units


def _few(channel: Channel) -> Channel:
    """A channel at some of its points."""
    n = len(channel.points)
    return channel.at(np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(int)))


def _row_sizes(channel: Channel, size: np.ndarray) -> np.ndarray:
    """Sizes that can be divided by. Where the user gave a sigma, it is one for all rows, and so is the size."""
    fine = np.where(np.isfinite(size) & (size > 0), size, 0.0)
    if not isinstance(channel.precision, Exact) or channel.precision.given:
        fine = np.full_like(fine, fine.max())
    return np.where(fine > 0, fine, 1.0)


def _crossing(tried: np.ndarray, changes: np.ndarray, size: float) -> float:
    """Where rising changes reach a size, between two that were tried; 0 if they do not."""
    fine = np.isfinite(changes) & (changes > 0)
    if not (size > 0 and np.isfinite(size) and fine.any()):
        return 0.0
    above = np.flatnonzero(fine & (changes >= size))
    if not above.size or above[0] == 0 or not fine[above[0] - 1]:
        return 0.0
    j = above[0]
    at = np.interp(np.log(size), np.log(changes[j - 1 : j + 1]), np.log(tried[j - 1 : j + 1]))
    return float(np.exp(at))
