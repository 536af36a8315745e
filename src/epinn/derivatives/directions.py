"""The direction in which a point lies from a corner, and its distance.

Where a wall is suddenly heated, or a hot edge meets a cold one, a field takes all values between two at one place. There it is
no smooth function of the coordinates, but it is one of the direction and the distance: they are what a network is shown as
well. With time, the distance is that which diffusion goes; a direction is then a constant x / sqrt(t), the similarity variable.

The simplest field that goes from one value to the other is among what is shown: an angle, or the error function. If it happens
later, the time since then is shown as well, which is nothing before: fields may bend in time at that moment.

Next to a wall at which a field may end steeply, it is the distance that is shown, stretched: every layer that is not thinner
than the thinnest one is a smooth function of that.
"""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .activation import Activation, by_nesting
from .jet import Jet, Value, activate, join

ROUNDED = 1e-6  # of half of all time: a coordinate may be before the beginning by so much
TINY = 1e-12  # the square of a distance below which all directions are the same


def _inverse_root(x: Array, n: int) -> list[Array]:
    found = [x**-0.5]
    for k in range(n):
        found.append(-(k + 0.5) * found[-1] / x)
    return found


def _erf(x: Array, n: int) -> list[Array]:
    """Every derivative is a polynomial times exp(-x^2): p' - 2 x p follows p."""
    found, slope, polynomial = [jax.lax.erf(x)], jnp.exp(-x * x), np.polynomial.Polynomial([2 / np.sqrt(np.pi)])
    for _ in range(n):
        found.append(slope * jnp.polyval(jnp.asarray(polynomial.coef[::-1], x.dtype), x, unroll=128))
        polynomial = polynomial.deriv() - np.polynomial.Polynomial([0, 2]) * polynomial
    return found


INVERSE_ROOT, ERF = Activation("inverse root", _inverse_root), Activation("erf", _erf)
ARCTAN = Activation("arctan", functools.partial(by_nesting, jnp.arctan))
ARCSINH = Activation("arcsinh", functools.partial(by_nesting, jnp.arcsinh))


class Directions(eqx.Module):
    """Those from some corners, or distances from walls, in the coordinates of a network."""

    axes: tuple[tuple[int, ...], ...] = eqx.field(static=True)  # of each corner, the two coordinates that count; time is last;
    # of a wall, the one that it is across
    at: tuple[tuple[float, ...], ...] = eqx.field(static=True)  # where it is
    in_time: tuple[bool, ...] = eqx.field(static=True)  # whether that counts by its root
    by: Any  # what lengths are multiplied by, into the domain, corners by two, or what a length and what is made of it are
    # multiplied by: frozen, as nothing here is trained

    @property
    def size(self) -> int:
        """How many numbers they are."""
        return sum(1 if len(axes) == 1 else 3 + self._is_later(i) if self.in_time[i] else 4 for i, axes in enumerate(self.axes))

    def _is_later(self, corner: int) -> bool:
        """Whether it is at a time when time has begun already."""
        return self.in_time[corner] and self.at[corner][1] > -1 + ROUNDED

    @property
    def in_words(self) -> str:
        """What a network is shown."""
        number, walls = len(self.axes), all(len(axes) == 1 for axes in self.axes)
        what, where = ("distances", "wall") if walls else ("directions", "corner")
        return f"shown {what} from {number} {where}{'s' if number > 1 else ''}"

    def __call__(self, x: Value) -> Value:
        return join([self._from_one(x, i) for i in range(len(self.axes))])

    def _from_one(self, x: Value, corner: int) -> Value:
        by, axes, at = self.by.content[corner], self.axes[corner], self.at[corner]
        if len(axes) == 1:
            stretched: Value = activate(ARCSINH, (_part(x, axes[0]) - at[0]) * by[0]) * by[1]
            return stretched
        first, second = (_part(x, axis) - place for axis, place in zip(axes, at, strict=True))
        first = first * by[0]
        if self.in_time[corner]:
            since = _not_negative(second)
            spread = since * by[1] + TINY
            inverse = activate(INVERSE_ROOT, square := first * first + spread)
            across = join([first * inverse, activate(ERF, first * activate(INVERSE_ROOT, spread))])
            if self._is_later(corner):
                return join([_one_before(second, across), _distance(square, inverse), since])
            return join([across, _distance(square, inverse)])
        second = second * by[1]
        inverse = activate(INVERSE_ROOT, square := first * first + second * second + TINY)
        across, along = first * inverse, second * inverse
        half = along * activate(INVERSE_ROOT, (across + 1.0) * (across + 1.0))
        return join([across, along, activate(ARCTAN, half), _distance(square, inverse)])


def _distance(square: Value, inverse_root: Value) -> Value:
    """The distance where it is small beside half a side of the box, and never more than 1: what happens soon must be told
    apart, whatever comes after it."""
    return square * inverse_root * activate(INVERSE_ROOT, square + 1.0)


def _part(x: Value, axis: int) -> Value:
    """One coordinate."""
    return Jet(x.stack[..., axis : axis + 1], x.orders) if isinstance(x, Jet) else x[..., axis : axis + 1]


def _not_negative(time: Value) -> Value:
    """Time since a corner, which a coordinate may be before by its rounding."""
    if isinstance(time, Jet):
        since = jnp.where(time.stack[..., :1, :] < -ROUNDED, 0.0, time.stack)
        return Jet(since.at[..., 0, :].max(0.0), time.orders)
    return jnp.maximum(time, 0.0)


def _one_before(time: Value, across: Value) -> Value:
    """What is shown across a corner; before anything happens there, the same as far away from it."""
    if isinstance(across, Jet):
        assert isinstance(time, Jet)  # as what is made of it
        far = jnp.zeros_like(across.stack).at[..., 0, :].set(1.0)
        return Jet(jnp.where(time.stack[..., :1, :] < 0, far, across.stack), across.orders)
    assert not isinstance(time, Jet)
    return jnp.where(time < 0, jnp.ones_like(across), across)
