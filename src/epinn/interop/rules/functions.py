"""Functions that other frameworks have and that need care in JAX: both walkers build their rules on them.

Derivatives of any order must come out right, and by forward differentiation alone. So nothing here has a derivative rule of
its own (as many functions in `jax.nn` do), and what overflows is kept away from the branch that is not taken.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...derivatives.jet import PRECISION
from ...errors import InputError

Axes = int | Sequence[int] | None
Number = float | int
Tensor = Any  # an array of JAX or NumPy, or a number: a graph may hand over constants in place of anything


def relu(x: Tensor) -> Tensor:
    return jnp.maximum(x, 0)


def softplus(x: Tensor, beta: Number = 1.0, threshold: Number = 40.0) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x itself above the threshold, where PyTorch (20) is no longer exact to 1e-10."""
    scaled = x * beta
    large = scaled > threshold
    return jnp.where(large, x, jnp.log1p(jnp.exp(jnp.where(large, 0.0, scaled))) / beta)


def silu(x: Tensor) -> Tensor:
    return x * jax.lax.logistic(x)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        return 0.5 * x * (1 + jnp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + jax.lax.erf(x * math.sqrt(0.5)))


def elu(x: Tensor, alpha: Number = 1.0, scale: Number = 1.0, input_scale: Number = 1.0) -> Tensor:
    return scale * jnp.where(x > 0, x, alpha * jnp.expm1(input_scale * jnp.where(x > 0, 0.0, x)))


def leaky_relu(x: Tensor, slope: Tensor = 0.01) -> Tensor:
    return jnp.where(x > 0, x, slope * x)


def clip(x: Tensor, low: Any = None, high: Any = None) -> Tensor:
    x = x if low is None else jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


def power(x: Any, exponent: Any) -> Tensor:
    """Integer powers as such: their derivatives end, and they hold for negative x."""
    known = None if isinstance(exponent, jax.Array) or np.ndim(exponent) else float(exponent)
    if known is not None and known.is_integer() and not isinstance(x, int | float):
        return jax.lax.integer_pow(x, int(known)) if known else jnp.ones_like(x)
    return jnp.sqrt(x) if known == 0.5 else jnp.power(x, exponent)


def divide(x: Any, y: Any, rounding_mode: str | None = None) -> Tensor:
    quotient = jnp.true_divide(x, y)
    return {None: lambda q: q, "floor": jnp.floor, "trunc": jnp.trunc}[rounding_mode](quotient)


def product(x: Tensor, y: Tensor) -> Tensor:
    return jnp.matmul(x, y, precision=PRECISION)


def dense(x: Tensor, weight: Tensor, bias: Any = None) -> Tensor:
    """x Wᵀ + b as one contraction, without a transpose."""
    y = jax.lax.dot_general(x, weight, (((x.ndim - 1,), (1,)), ((), ())), precision=PRECISION)
    return y if bias is None else y + bias


def axes(dim: Axes) -> int | tuple[int, ...] | None:
    """PyTorch's and ONNX' empty list of axes means all of them."""
    return dim if isinstance(dim, int) else (tuple(operator.index(i) for i in dim) or None) if dim is not None else None


def norm(x: Tensor, order: Number = 2, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    size = jnp.abs(x)
    if order in (math.inf, -math.inf):
        return (jnp.max if order > 0 else jnp.min)(size, axes(dim), keepdims=keepdim)
    if order == 2:
        return jnp.sqrt(jnp.sum(x * x, axes(dim), keepdims=keepdim))
    return power(jnp.sum(power(size, order), axes(dim), keepdims=keepdim), 1 / order)


def variance(x: Tensor, dim: Axes = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None) -> Tensor:
    centred = x - jnp.mean(x, axes(dim), keepdims=True)
    total = jnp.sum(centred * centred, axes(dim), keepdims=keepdim)
    return total / (x.size // total.size - (int(unbiased) if correction is None else correction))


def softmax(x: Tensor, dim: int = -1, *_: Any) -> Tensor:
    weights = jnp.exp(x - jax.lax.stop_gradient(jnp.max(x, dim, keepdims=True)))
    return weights / jnp.sum(weights, dim, keepdims=True)


def logsumexp(x: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    top = jax.lax.stop_gradient(jnp.max(x, axes(dim), keepdims=True))
    total = jnp.log(jnp.sum(jnp.exp(x - top), axes(dim), keepdims=True)) + top
    return total if keepdim else jnp.squeeze(total, axes(dim))


def layer_norm(x: Tensor, shape: Sequence[int], weight: Any = None, bias: Any = None, eps: Number = 1e-5, *_: Any) -> Tensor:
    """Over as many trailing axes as `shape` has."""
    last = tuple(range(-len(shape), 0))
    centred = x - jnp.mean(x, last, keepdims=True)
    y = centred * jax.lax.rsqrt(jnp.mean(centred * centred, last, keepdims=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def batch_norm(
    x: Tensor, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: Number, eps: Number, *_: Any
) -> Tensor:
    """With the statistics of training, along the second axis."""
    if training or mean is None:
        raise InputError("the network has a batch norm without stored statistics: a point's value depends on its neighbours.")
    shape = (-1, *[1] * (x.ndim - 2))
    y = (x - jnp.reshape(mean, shape)) * jnp.reshape(jax.lax.rsqrt(jnp.asarray(var) + eps), shape)
    y = y if weight is None else y * jnp.reshape(weight, shape)
    return y if bias is None else y + jnp.reshape(bias, shape)


def weight_norm(direction: Tensor, length: Tensor, dim: int = 0) -> Tensor:
    others = tuple(axis for axis in range(direction.ndim) if axis != dim % direction.ndim)
    return direction * (length / norm(direction, 2, others, keepdim=True))


def part(x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    return x[(*[slice(None)] * (dim % x.ndim), slice(start, end, step))]


def split(x: Tensor, sizes: int | Sequence[int], dim: int = 0) -> list[Tensor]:
    """Into parts of one size (the last may be shorter), or of the sizes listed."""
    length = x.shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, length - at) for at in range(0, length, sizes)]
    ends = np.cumsum(sizes).tolist()
    return [part(x, dim, end - size, end) for end, size in zip(ends, sizes, strict=True)]


def places(index: Any) -> Any:
    """Indices as JAX has them in either precision; those of truth values are not known beforehand."""
    if index.dtype == bool:
        raise InputError("the network picks entries by their values, x[mask]: write it with where(mask, ..., ...).")
    return index.astype(np.int32)
