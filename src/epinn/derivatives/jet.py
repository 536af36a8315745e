"""A value and its partial derivatives, carried through a network in one forward pass.

A *multi-index* such as (2, 0) says how often each coordinate is differentiated: u_xx in (x, t). A `Jet` stacks the
derivatives of one quantity for a set of multi-indices along its last axis but one. Pushing the jet of the coordinates through
a network gives the jet of the output: a dense layer is one matrix product for the whole stack, an activation follows
Faa di Bruno's rule. Networks are written once, with the functions below, and run on plain arrays and on jets alike.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .activation import Activation, softplus

MultiIndex = tuple[int, ...]

PRECISION = jax.lax.Precision.HIGHEST  # a GPU would otherwise round the factors to 10 bits, and second derivatives suffer


def lower_closure(requests: Iterable[MultiIndex]) -> tuple[MultiIndex, ...]:
    """Every derivative that the requested ones are built from, the value first, by rising order."""
    below = (itertools.product(*(range(n + 1) for n in request)) for request in requests)
    return tuple(sorted(set(itertools.chain.from_iterable(below)), key=lambda index: (sum(index), index)))


class Jet(eqx.Module):
    """Partial derivatives of one quantity at one point, or at many: `stack[..., i, :]` belongs to the multi-index `orders[i]`.

    Many points are a leading axis and need no `vmap`, which would move axes back and forth at every layer.
    """

    stack: Float[Array, "*points orders size"]
    orders: tuple[MultiIndex, ...] = eqx.field(static=True)

    @classmethod
    def variable(cls, x: Float[Array, "*points d"], orders: tuple[MultiIndex, ...]) -> "Jet":
        """The coordinates themselves: value x, first derivatives the unit vectors, all others zero."""
        rows = [x]
        for order in orders[1:]:
            rows.append(jnp.broadcast_to(jnp.asarray(order, x.dtype), x.shape) if sum(order) == 1 else jnp.zeros_like(x))
        return cls(jnp.stack(rows, axis=-2), orders)

    @property
    def value(self) -> Array:
        """The quantity itself, without derivatives."""
        return self.stack[..., 0, :]

    def __getitem__(self, order: MultiIndex) -> Array:
        return self.stack[..., self.orders.index(order), :]

    def parts(self) -> dict[MultiIndex, Array]:
        """All derivatives by multi-index: one split, whose transpose is one concatenation."""
        parts = jnp.split(self.stack, len(self.orders), axis=-2)
        return {order: part[..., 0, :] for order, part in zip(self.orders, parts, strict=True)}

    def __add__(self, other: "Jet | Array | float") -> "Jet":
        if isinstance(other, Jet):
            return Jet(self.stack + other.stack, self.orders)
        only_value = np.eye(len(self.orders), 1, dtype=self.stack.dtype)
        return Jet(self.stack + only_value * other, self.orders)

    def __sub__(self, other: "Jet | Array | float") -> "Jet":
        return self + -1.0 * other

    def __mul__(self, other: "Jet | Array | float") -> "Jet":
        if isinstance(other, Jet):
            return Jet(jnp.stack([_product(self, other, order) for order in self.orders], axis=-2), self.orders)
        return Jet(self.stack * other, self.orders)

    __radd__ = __add__
    __rmul__ = __mul__


Value = Array | Jet


def affine(weight: Float[Array, "out in"], bias: Float[Array, " out"] | None, x: Value) -> Value:
    """A dense layer."""
    if not isinstance(x, Jet):
        y = jnp.matmul(weight, x, precision=PRECISION)
        return y if bias is None else y + bias
    rows = x.stack.reshape(-1, x.stack.shape[-1])  # one long matrix: its gradient is then one plain product too
    rows = jnp.matmul(rows, weight.T, precision=PRECISION)
    if bias is not None:  # added before the shape is restored, or XLA computes the gradient of the rows a second time
        is_value = np.tile(np.eye(len(x.orders), 1, dtype=rows.dtype), (len(rows) // len(x.orders), 1))
        rows = rows + is_value * bias
    return Jet(rows.reshape(*x.stack.shape[:-1], weight.shape[0]), x.orders)


def activate(activation: Activation, x: Value) -> Value:
    """An elementwise function, by Faa di Bruno's rule on a jet."""
    if not isinstance(x, Jet):
        return activation(x)
    inner = x.parts()
    outer = activation.derivatives(inner[x.orders[0]], max(map(sum, x.orders)))

    @functools.cache
    def derivative(k: int, order: MultiIndex) -> Array:
        """D^order of activation^(k)(x): differentiate once by the chain rule, the rest by the product rule."""
        if not any(order):
            return outer[k]
        rest = _minus_one(order)
        return sum(  # type: ignore[return-value]
            _binomial(rest, part) * derivative(k + 1, part) * inner[_subtract(order, part)] for part in lower_closure([rest])
        )

    return Jet(jnp.stack([derivative(0, order) for order in x.orders], axis=-2), x.orders)


def positive(x: Value, columns: tuple[int, ...]) -> Value:
    """Some components made positive by softplus."""
    if not columns:
        return x
    size = (x.stack if isinstance(x, Jet) else x).shape[-1]
    chosen = np.isin(np.arange(size), columns)
    made = activate(softplus, x)
    if isinstance(x, Jet) and isinstance(made, Jet):
        return Jet(jnp.where(chosen, made.stack, x.stack), x.orders)
    return jnp.where(chosen, made, x)  # type: ignore[arg-type]


def before_softplus(value: Array) -> Array:
    """What softplus turns into `value`, also where exp(value) is no number any more."""
    return value + jnp.log(-jnp.expm1(-value))


def join(parts: Sequence[Value]) -> Value:
    """Concatenation along the last axis; plain arrays among jets are constants."""
    jets = [part for part in parts if isinstance(part, Jet)]
    if not jets:
        return jnp.concatenate(parts)  # type: ignore[arg-type]
    stacks = [part.stack if isinstance(part, Jet) else _constant(part, jets[0]) for part in parts]
    return Jet(jnp.concatenate(stacks, axis=-1), jets[0].orders)


def opaque(function: Callable[[Array], Array], x: Value) -> Value:
    """A function we cannot look into: its jet by nested forward differentiation along the input's Taylor polynomial."""
    if not isinstance(x, Jet):
        return function(x)
    if x.stack.ndim > 2:
        return jax.vmap(lambda at_point: opaque(function, at_point))(x)
    dimension = len(x.orders[0])

    def along(step: Float[Array, " d"]) -> Array:
        return function(sum((_monomial(step, order) * x[order] for order in x.orders[1:]), start=x.value))

    @functools.cache
    def derivative(order: MultiIndex) -> Callable[[Array], Array]:
        if not any(order):
            return along
        inner, axis = derivative(_minus_one(order)), _first(order)
        unit = jnp.zeros(dimension, x.stack.dtype).at[axis].set(1.0)
        return lambda step: jax.jvp(inner, (step,), (unit,))[1]

    origin = jnp.zeros(dimension, x.stack.dtype)
    return Jet(jnp.stack([derivative(order)(origin) for order in x.orders]), x.orders)


def _monomial(step: Array, order: MultiIndex) -> Array:
    return jnp.stack([step[axis] ** n for axis, n in enumerate(order) if n]).prod() / math.prod(map(math.factorial, order))


def _constant(value: Array, like: Jet) -> Array:
    """The stack of what does not depend on the coordinates, for the points of another jet."""
    return (Jet(jnp.zeros((*like.stack.shape[:-1], value.shape[-1]), value.dtype), like.orders) + value).stack


def _product(a: Jet, b: Jet, order: MultiIndex) -> Array:
    """Leibniz' rule."""
    return sum(  # type: ignore[return-value]
        _binomial(order, part) * a[part] * b[_subtract(order, part)] for part in lower_closure([order])
    )


def _binomial(n: MultiIndex, k: MultiIndex) -> int:
    return math.prod(map(math.comb, n, k))


def _subtract(a: MultiIndex, b: MultiIndex) -> MultiIndex:
    return tuple(i - j for i, j in zip(a, b, strict=True))


def _first(order: MultiIndex) -> int:
    return next(axis for axis, n in enumerate(order) if n)


def _minus_one(order: MultiIndex) -> MultiIndex:
    axis = _first(order)
    return (*order[:axis], order[axis] - 1, *order[axis + 1 :])
