"""Unknowns of which no measurement says more than a combination: with D and v unknown, D * u.xx - v * u.x holds for twice of
both as well, and for nothing of both.

What changes such unknowns together and leaves all conditions as they are is linear in its first order, so that linear algebra
finds it: a combination of their logarithms, of the unknowns themselves and of the logarithms of fields along which nothing
changes, or along which what is to be zero stays so, since it is multiplied as a whole. Whatever the terms are, each of them
must show: fields and their derivatives are drawn over many decades and around the values that are given, and left out, so
that what remains is a source, however small and wherever it is.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.compiled import runs_once
from ..derivatives.jet import Jet
from ..derivatives.operator import Operator
from .channel import Channel
from .operators import Derivatives, Flux
from .precision import Exact
from .values import values_of

if TYPE_CHECKING:
    from .problem import Problem
    from .shorthand import Unknown

DRAWS = 96  # of fields and unknowns, of each kind
PLACES = 2000  # at most, where it is looked for sources
DECADES = 12.0  # over which derivatives are drawn, up and down, and unknowns whose guess is zero
CLOSE = 3.0  # decades, likewise, of what is drawn around the values that are given
NEAR = 1.0  # decade around their guesses, in which the unknowns are
MANY = 64  # times as many places as a fit has, where it must be certain that there is nothing
TINY = 1e-9  # of the largest: what changes by less says nothing
NOTHING = 1e-7  # of the largest: a change that is smaller is none
LEAST = 1e-3  # of a combination: what has less of a part in it has none


@dataclass(frozen=True)
class Combination:
    """Unknowns and fields that may change together, all of them growing or not. What is to be zero becomes smaller with them or
    stays as it is: if it does, it is zero most easily if they are, whatever the measurements say."""

    unknowns: tuple[str, ...]
    fields: tuple[str, ...]
    shrinks: bool
    together: bool

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.unknowns, *self.fields)


def free_combinations(problem: "Problem") -> list[Combination]:
    """All of them in which an unknown has a part, or a field of which there are no values beside one that is measured. What
    is known beforehand of an unknown settles it."""
    free = [name for name, unknown in problem.parameters.items() if unknown.prior is None]
    if not free and (len(problem.fields) == 1 or not problem.data):
        return []
    with jax.enable_x64(True):
        channels = problem.channels(0)
        rows = _Rows(problem, free, channels)
        valued = {name for name in problem.fields if values_of(name, channels).size}
        found = dict.fromkeys(_named(rows.unchanged(), free, tuple(problem.fields)))
        return [one for one in found if one.unknowns or not valued.intersection(one.fields)]


def settled_elsewhere(problem: "Problem", found: Combination) -> bool:
    """Whether some condition is not met if all that may shrink is zero, so that something settles it after all: a source too
    small to be seen in few places. There are many more here."""
    with jax.enable_x64(True):
        channels = problem.with_many_points(MANY).channels(0)
        rows = _Rows(problem, list(found.unknowns), channels)
        return any(rows.is_left(channel, found) for channel in channels if _is_zero(channel))


def _is_zero(channel: Channel) -> bool:
    return isinstance(channel.precision, Exact) and not np.any(np.asarray(channel.target))


class _Rows:
    """What changes of all conditions: one column for the logarithm of each unknown, one for itself, one for the logarithm of
    each field, and one for each condition that may be multiplied as a whole."""

    def __init__(self, problem: "Problem", free: list[str], channels: tuple[Channel, ...]):
        self.free, self.fields, self.channels, self.random = free, problem.fields, channels, np.random.default_rng(0)
        self.half = (np.asarray(problem.domain.upper) - np.asarray(problem.domain.lower)) / 2
        self.given = [_Given.of(values_of(name, channels)) for name in problem.fields]
        self.unknowns = {name: self._near(unknown) for name, unknown in problem.parameters.items()}
        self.units = {name: abs(problem.parameters[name].guess) or 1.0 for name in free}
        self.columns = 2 * len(free) + len(problem.fields)

    @functools.cached_property
    def rows(self) -> Float[np.ndarray, "rows columns"]:
        """All of them, each in parts of its largest change."""
        blocks = [block for channel in self.channels for block in self._of(channel)]
        multiplied = sum(block[1] is not None for block in blocks)
        every, number = [], 0
        for changes, whole in blocks:
            rows = np.zeros((len(changes), self.columns + multiplied))
            rows[:, : self.columns] = changes
            if whole is not None:
                rows[:, self.columns + number] = -whole
                number += 1
            size = np.max(np.abs(rows), axis=1)
            fine = np.isfinite(size) & (size > 0)
            every.append(rows[fine] / size[fine, None])
        return np.concatenate([np.zeros((1, self.columns + multiplied)), *every])

    def _near(self, unknown: "Unknown") -> np.ndarray:
        """Values of an unknown around its guess, or around what is known of it beforehand. Where that is zero, nobody knows its
        unit."""
        middle = unknown.guess or (unknown.prior.mean or unknown.prior.sd if unknown.prior is not None else 0.0)
        if middle:  # it may be far from there all the same
            decades = np.where(np.arange(DRAWS) % 2, NEAR, DECADES)
            return np.asarray(middle * 10 ** self.random.uniform(-decades, decades))
        return self._over(DECADES, (DRAWS,))

    def _over(self, decades: float, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(self.random.normal(size=shape) * 10 ** self.random.uniform(-decades, decades, shape))

    def _of(self, channel: Channel) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Of one condition, its parts one by one: how it changes, and the whole, where that is to be zero exactly."""
        operator, free = channel.operator, self.free
        is_zero = _is_zero(channel)
        if isinstance(operator.function, Derivatives | Flux):
            own = operator.names.fields.index(operator.function.field)
            change = np.zeros((0 if is_zero else 1, self.columns))
            change[:, 2 * len(free) + own] = 1.0
            yield change, None
            return
        number = len(channel.points)
        evenly = np.unique(np.linspace(0, number - 1, min(number, PLACES)).astype(int))
        drawn = self._drawn(operator, len(evenly))
        at = np.concatenate([self.random.integers(number, size=2 * DRAWS), evenly, evenly])
        given = {name: jnp.asarray(values)[at] for name, values in channel.given.items()}
        unknowns = {name: jnp.asarray(np.resize(values, len(drawn))) for name, values in self.unknowns.items()}
        whole, (by_unknown, by_field) = _changes(operator, jnp.asarray(channel.points)[at], given, unknowns, jnp.asarray(drawn))
        values = {name: (np.asarray(by_unknown[name]), np.asarray(unknowns[name])[:, None]) for name in free}
        by_log = [change * at for change, at in values.values()]
        by_itself = [change * self.units[name] for name, (change, _) in values.items()]
        parts = np.stack([*by_log, *by_itself, *np.moveaxis(np.asarray(by_field), 1, 0)], axis=-1)
        for i in range(parts.shape[1]):
            yield parts[:, i], np.asarray(whole)[:, i] if is_zero else None

    def is_left(self, channel: Channel, found: Combination) -> bool:
        """Whether an operator is anything but zero somewhere where all that may shrink is."""
        operator, number = channel.operator, len(channel.points)
        if isinstance(operator.function, Derivatives | Flux):
            return False
        given = {name: jnp.asarray(values) for name, values in channel.given.items()}
        unknowns = {
            name: jnp.zeros(number) if name in found.unknowns else jnp.asarray(np.resize(values, number))
            for name, values in self.unknowns.items()
        }
        fields = np.asarray(self._drawn(operator, 0)[np.arange(number) % (2 * DRAWS)])
        fields[:, :, [self.fields.index(name) for name in found.fields]] = 0.0
        whole = np.asarray(_changes(operator, jnp.asarray(channel.points), given, unknowns, jnp.asarray(fields))[0])
        finite = np.all(np.isfinite(whole), axis=1)
        return not np.any(finite) or bool(np.any(whole[finite]))

    def _drawn(self, operator: Operator, places: int) -> Float[np.ndarray, "n orders f"]:
        """Fields and their derivatives: over many decades, then around what is given; then, in so many places each, none at
        all, and fields as they are given that do not vary."""
        orders = np.asarray(operator.orders)
        unit = np.array([one.span for one in self.given]) * np.prod(self.half**-orders, axis=1)[:, None]
        value = np.flatnonzero(np.sum(orders, axis=1) == 0)
        shape = (DRAWS, *unit.shape)
        far, close = (self._over(decades, shape) * unit for decades in (DECADES, CLOSE))
        for i, one in enumerate(self.given):
            away = self.random.normal(size=DRAWS) * 10 ** self.random.uniform(-CLOSE, 0, DRAWS)
            close[:, value, i] = (one.middle + one.span * away)[:, None]
        nothing = np.zeros((places, *unit.shape))
        even = nothing.copy()
        even[:, value] = [one.middle or one.span for one in self.given]
        drawn = np.concatenate([far, close, nothing, even])
        for i in operator.names.positive_columns:
            drawn[:, value, i] = np.where(drawn[:, value, i] == 0, self.given[i].span, np.abs(drawn[:, value, i]))
        return drawn

    def unchanged(self) -> Float[np.ndarray, "combinations columns"]:
        """A basis of what leaves all conditions as they are, each with as few parts as possible; then come the conditions that
        become smaller."""
        used = np.flatnonzero(np.any(self.rows, axis=0))
        own = self.rows[:, used]
        own = own / np.maximum(np.max(np.abs(own), axis=0), TINY)  # the unit of an unknown must not decide
        _, values, right = np.linalg.svd(own, full_matrices=len(own) < len(used))
        rank = int(np.sum(values > NOTHING * np.sqrt(len(self.rows))))
        found = np.zeros((len(used) - rank, self.rows.shape[1]))
        found[:, used] = right[rank:]
        return _reduced(found, self.columns)


@dataclass(frozen=True)
class _Given:
    """Of one field, around which values it is known to be, and over how much it may vary."""

    middle: float
    span: float

    @classmethod
    def of(cls, values: np.ndarray) -> "_Given":
        low, high = (float(np.min(values)), float(np.max(values))) if values.size else (0.0, 0.0)
        middle = (low + high) / 2
        return cls(middle, max(high - low, abs(middle)) or 1.0)


def _reduced(basis: Float[np.ndarray, "n columns"], first: int) -> Float[np.ndarray, "n columns"]:
    """Row echelon form by the first columns, with the largest entries as pivots."""
    basis, row = basis.copy(), 0
    for column in range(first):
        if row == len(basis):
            break
        best = row + int(np.argmax(np.abs(basis[row:, column])))
        if abs(basis[best, column]) < LEAST:
            continue
        basis[[row, best]] = basis[[best, row]]
        basis[row] /= basis[row, column]
        others = np.arange(len(basis)) != row
        basis[others] -= np.outer(basis[others, column], basis[row])
        row += 1
    return basis[:row]


def _named(basis: Float[np.ndarray, "n columns"], free: list[str], fields: tuple[str, ...]) -> Iterator[Combination]:
    number = len(free)
    for one in basis:
        has = np.abs(one) > LEAST
        unknowns = tuple(name for i, name in enumerate(free) if has[i] or has[number + i])
        of_fields = tuple(name for i, name in enumerate(fields) if has[2 * number + i])
        shrinks = bool(np.any(has[2 * number + len(fields) :]))
        logs = np.delete(one, np.s_[number : 2 * number])[has[np.r_[0:number, 2 * number : len(one)]]]
        together = not np.any(has[number : 2 * number]) and (np.all(logs > 0) or np.all(logs < 0))
        alone = len(unknowns) + len(of_fields) == 1 and not shrinks  # an unknown that hardly matters is no combination
        if (unknowns and not alone) or 0 < len(of_fields) < len(fields):
            yield Combination(unknowns, of_fields, shrinks, bool(together))


@runs_once
def _changes(
    operator: Operator,
    points: Float[Array, "n d"],
    given: dict[str, Float[Array, " n"]],
    unknowns: dict[str, Float[Array, " n"]],
    fields: Float[Array, "n orders f"],
) -> tuple[Float[Array, "n k"], tuple[dict[str, Float[Array, "n k"]], Float[Array, "n f k"]]]:
    """An operator, its derivatives by the unknowns, and what multiplying a field with all its derivatives does."""

    def one(
        x: Array, own: dict[str, Array], unknowns: dict[str, Array], values: Array
    ) -> tuple[Array, tuple[dict[str, Array], Array]]:
        def at(unknowns: dict[str, Array], times: Array) -> Array:
            found: Array = operator(Jet(values * times, operator.orders), x, unknowns, own)
            return found

        ones = jnp.ones(values.shape[-1])
        by_unknown, by_field = jax.jacfwd(at, argnums=(0, 1))(unknowns, ones)
        return at(unknowns, ones), (by_unknown, by_field.T)

    found: tuple[Array, tuple[dict[str, Array], Array]] = jax.vmap(one)(points, given, unknowns, fields)
    return found
