"""Activations, each with its derivatives of any order: what a jet needs to pass through it."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array


class Activation:
    """An elementwise function by name; `derivatives(x, n)` lists its derivatives of order 0 to n at x."""

    def __init__(self, name: str, derivatives: Callable[[Array, int], list[Array]]):
        self.name = name
        self.derivatives = derivatives

    def __call__(self, x: Array) -> Array:
        return self.derivatives(x, 0)[0]

    def __repr__(self) -> str:
        return self.name


def _tanh(x: Array, n: int) -> list[Array]:
    """Every derivative is a polynomial in y = tanh(x): p' (1 - y^2) follows p.

    By the logistic function, which XLA computes in a third of the time of its tanh on a CPU, as precisely (2e-7 absolute).
    """
    y = 2 * jax.lax.logistic(2 * x) - 1
    square, polynomial, out = y * y, np.polynomial.Polynomial([0, 1]), [y]
    for order in range(1, n + 1):
        polynomial = polynomial.deriv() * np.polynomial.Polynomial([1, 0, -1])
        odd = (order + 1) % 2  # the polynomial has odd powers alone, or even ones
        even_part = jnp.polyval(jnp.asarray(polynomial.coef[odd::2][::-1], x.dtype), square, unroll=128)
        out.append(y * even_part if odd else even_part)
    return out


def _sin(x: Array, n: int) -> list[Array]:
    s, c = jnp.sin(x), jnp.cos(x)
    return [(s, c, -s, -c)[k % 4] for k in range(n + 1)]


def _cos(x: Array, n: int) -> list[Array]:
    return _sin(x, n + 1)[1:]


def by_nesting(function: Callable[[Array], Array], x: Array, n: int) -> list[Array]:
    out = []
    for _ in range(n + 1):
        out.append(function(x))
        function = _slope(function)
    return out


def _slope(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1]


def _silu(x: Array) -> Array:
    return x * jax.lax.logistic(x)


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1 + jax.lax.erf(x / np.sqrt(2).astype(x.dtype)))


cos = Activation("cos", _cos)
softplus = Activation("softplus", functools.partial(by_nesting, jax.nn.softplus))

ACTIVATIONS = {
    activation.name: activation
    for activation in (
        Activation("tanh", _tanh),
        Activation("sin", _sin),
        Activation("silu", functools.partial(by_nesting, _silu)),
        Activation("gelu", functools.partial(by_nesting, _gelu)),
    )
}
