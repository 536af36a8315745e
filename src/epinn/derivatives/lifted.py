"""Networks whose values are given where something is known exactly: u = lift + gate * network.

The lift takes the given values and is a polynomial in all coordinates; the gate is zero wherever they are given. Both are
arrays of Chebyshev coefficients in the coordinates of the network, -1 to 1, and no functions of the user's: so they can be
stored, and stacked over seeds.
"""

import functools
import operator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .jet import Jet, Value, affine, join
from .network import AbstractNetwork, Around


class Lifted(Around):
    """A network between given values; coefficients are frozen, and nothing in a tree of parameters alone."""

    network: AbstractNetwork
    lift: Any  # fields by degrees along each coordinate; None where all given values are zero
    gates: tuple[Any, ...]  # one for each coordinate, fields by degrees; None where nothing is given at its ends

    @property
    def inner(self) -> AbstractNetwork:
        return self.network

    def __call__(self, x: Value) -> Value:
        inner, gate = self.network(x), self.gate(x)
        inner = inner if gate is None else gate * inner
        return inner if self.lift is None else _polynomial(self.lift.content, x) + inner

    def gate(self, x: Value) -> Value | None:
        """What the network is multiplied by, for every field; None where nothing is given."""
        factors = [
            affine(gate.content, None, _chebyshev(_part(x, axis), gate.content.shape[-1]))
            for axis, gate in enumerate(self.gates)
            if gate is not None
        ]
        return functools.reduce(operator.mul, factors) if factors else None


def gate_of(network: AbstractNetwork, x: Value) -> Value | None:
    """What anything added to a network of any kind must be multiplied by, so that given values stay; None if none are given."""
    return network.gate(x) if isinstance(network, Lifted) else None


def _polynomial(coefficients: Array, x: Value) -> Value:
    """A sum of products of Chebyshev polynomials, one along each coordinate, for every field."""
    *_, last = sizes = coefficients.shape[1:]
    found = affine(coefficients.reshape(-1, last), None, _chebyshev(_part(x, len(sizes) - 1), last))
    for axis in reversed(range(len(sizes) - 1)):
        along, others = _chebyshev(_part(x, axis), sizes[axis]), len(coefficients) * int(np.prod(sizes[:axis]))
        found = _sums(found * _repeated(along, others), others)
    return found


def _chebyshev(x: Value, number: int) -> Value:
    """The first Chebyshev polynomials of one component, by T(m + j) = 2 T(m) T(j) - T(m - j) for all j up to m at once."""
    basis, size = join([jnp.ones(1, _stack(x).dtype), x]), 2
    while size < number:
        m = size - 1
        later = _taken(basis, np.arange(1, size)) * _part(basis, m) * 2.0 + _taken(basis, np.arange(m)[::-1]) * -1.0
        basis = join([basis, later])
        size += m
    return _taken(basis, np.arange(number))


def _stack(x: Value) -> Array:
    return x.stack if isinstance(x, Jet) else x


def _like(x: Value, stack: Array) -> Value:
    return Jet(stack, x.orders) if isinstance(x, Jet) else stack


def _taken(x: Value, places: np.ndarray) -> Value:
    return _like(x, _stack(x)[..., places])


def _part(x: Value, place: int) -> Value:
    return _like(x, _stack(x)[..., place : place + 1])


def _repeated(x: Value, times: int) -> Value:
    stack = _stack(x)
    return _like(x, jnp.tile(stack, (*(1,) * (stack.ndim - 1), times)))


def _sums(x: Value, groups: int) -> Value:
    """The sums over as many groups of components, each in a row."""
    stack = _stack(x)
    return _like(x, stack.reshape(*stack.shape[:-1], groups, -1).sum(axis=-1))
