"""Unknowns of which no measurement says more than a combination: with D and v unknown, D * u.xx - v * u.x holds for twice of
both as well, and for nothing of both.

What changes such unknowns together and leaves all conditions as they are is linear in its first order, so that linear algebra
finds it: a combination of their logarithms, of the unknowns themselves and of the logarithms of fields along which nothing
changes, or along which what is to be zero stays so, since it is multiplied as a whole. Whatever the terms are, each of them
must show: fields and their derivatives are drawn over many decades.
"""

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

if TYPE_CHECKING:
    from .problem import Problem

DRAWS = 96  # of fields and unknowns
DECADES = 12.0  # over which derivatives are drawn, up and down
NEAR = 1.0  # decade around their guesses, in which the unknowns are
NOTHING = 1e-7  # of the largest: a change that is smaller is none
LEAST = 1e-3  # of a combination: what has less of a part in it has none


@dataclass(frozen=True)
class Combination:
    """Unknowns and fields that may change together. What is to be zero becomes smaller with them or not: if it does, it is
    zero most easily if they are, whatever the measurements say."""

    unknowns: tuple[str, ...]
    fields: tuple[str, ...]
    shrinks: bool

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
        channels = (*problem.channels(0), *problem.held_out())
        rows = _Rows(problem, free, channels)
        return list(_named(rows.unchanged(), free, tuple(problem.fields)))


class _Rows:
    """What changes of all conditions: one column for the logarithm of each unknown, one for itself, one for the logarithm of
    each field, and one for each condition that may be multiplied as a whole."""

    def __init__(self, problem: "Problem", free: list[str], channels: tuple[Channel, ...]):
        random = np.random.default_rng(0)
        guesses = {name: unknown.guess for name, unknown in problem.parameters.items()}
        near = {
            name: (guess or 1.0) * 10 ** random.uniform(-NEAR, NEAR, DRAWS) if name in free else np.full(DRAWS, guess)
            for name, guess in guesses.items()
        }
        self.unknowns = {name: jnp.asarray(values) for name, values in near.items()}
        self.units = {name: abs(guesses[name]) or 1.0 for name in free}
        self.columns = 2 * len(free) + len(problem.fields)
        blocks = [block for channel in channels for block in self._of(channel, free, random)]
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
        self.rows = np.concatenate([np.zeros((1, self.columns + multiplied)), *every])

    def _of(
        self, channel: Channel, free: list[str], random: np.random.Generator
    ) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Of one condition, its parts one by one: how it changes, and the whole, where that is to be zero exactly."""
        operator = channel.operator
        is_zero = isinstance(channel.precision, Exact) and not np.any(np.asarray(channel.target))
        if isinstance(operator.function, Derivatives | Flux):
            own = operator.names.fields.index(operator.function.field)
            change = np.zeros((0 if is_zero else 1, self.columns))
            change[:, 2 * len(free) + own] = 1.0
            yield change, None
            return
        shape = (DRAWS, len(operator.orders), len(operator.names.fields))
        fields = random.normal(size=shape) * 10 ** random.uniform(-DECADES, DECADES, shape)
        fields[..., list(operator.names.positive_columns)] = np.abs(fields[..., list(operator.names.positive_columns)])
        at = random.integers(len(channel.points), size=DRAWS)
        given = {name: jnp.asarray(values)[at] for name, values in channel.given.items()}
        points = jnp.asarray(channel.points)[at]
        whole, (by_unknown, by_field) = _changes(operator, points, given, self.unknowns, jnp.asarray(fields))
        values = {name: (np.asarray(by_unknown[name]), np.asarray(self.unknowns[name])[:, None]) for name in free}
        by_log = [change * at for change, at in values.values()]
        by_itself = [change * self.units[name] for name, (change, _) in values.items()]
        parts = np.stack([*by_log, *by_itself, *np.moveaxis(np.asarray(by_field), 1, 0)], axis=-1)
        for i in range(parts.shape[1]):
            yield parts[:, i], np.asarray(whole)[:, i] if is_zero else None

    def unchanged(self) -> Float[np.ndarray, "combinations columns"]:
        """A basis of what leaves all conditions as they are, each with as few parts as possible; then come the conditions that
        become smaller."""
        used = np.flatnonzero(np.any(self.rows, axis=0))
        _, values, right = np.linalg.svd(self.rows[:, used])
        rank = int(np.sum(values > NOTHING * np.sqrt(len(self.rows))))
        found = np.zeros((len(used) - rank, self.rows.shape[1]))
        found[:, used] = right[rank:]
        return _reduced(found, self.columns)


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
        if unknowns or 0 < len(of_fields) < len(fields):
            yield Combination(unknowns, of_fields, bool(np.any(has[2 * number + len(fields) :])))


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
