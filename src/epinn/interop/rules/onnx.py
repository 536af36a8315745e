"""The operators of ONNX, most of them by PyTorch's rule of the same meaning.

A rule takes the operator's inputs by position and its attributes by name. What was an attribute in older versions of ONNX and
is an input in newer ones may come either way.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...derivatives.jet import PRECISION
from ...errors import InputError
from . import functions as f
from .functions import Number, Tensor
from .torch import BINARY, ELEMENTWISE, REDUCTIONS, Rule

SAME_NAME = (
    "Tanh Sigmoid Relu Erf Exp Log Sqrt Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Abs Neg Reciprocal Sign Floor "
    "Ceil Round Softsign Mish IsNaN"
)


# Defaults are in single precision.
SLOPE, STEEPNESS, SIXTH, EPSILON = (float(np.float32(value)) for value in (0.01, 0.2, 1 / 6, 1e-5))


def _numbers(*given: Any) -> list[int] | None:
    """Whole numbers that are an attribute or an input, or absent."""
    for numbers in given:
        if numbers is not None:
            return [int(i) for i in np.ravel(numbers)]
    return None


def _gemm(
    a: Tensor,
    b: Tensor,
    c: Any = None,
    alpha: Number = 1.0,
    beta: Number = 1.0,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> Tensor:
    a = a.T if transA else a
    y = f.dense(a, b) if transB else f.product(a, b)
    y = y if alpha == 1 else alpha * y
    return y if c is None else y + (c if beta == 1 else beta * c)


def _reduce(rule: Rule) -> Rule:
    def reduce(x: Tensor, later: Any = None, *, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Tensor:
        chosen = _numbers(later, axes)
        return x if noop_with_empty_axes and not chosen else rule(x, chosen, bool(keepdims))

    return reduce


def _fold(of_two: Rule) -> Rule:
    """Of any number of inputs."""

    def rule(first: Tensor, *others: Tensor) -> Tensor:
        for other in others:
            first = of_two(first, other)
        return first

    return rule


def _reshape(x: Tensor, shape: Any, allowzero: int = 0) -> Tensor:
    wanted = _numbers(shape) or []
    return jnp.reshape(x, [x.shape[i] if size == 0 and not allowzero else size for i, size in enumerate(wanted)])


def _squeeze(x: Tensor, later: Any = None, *, axes: Any = None) -> Tensor:
    chosen = _numbers(later, axes)
    return jnp.squeeze(x, None if chosen is None else tuple(chosen))


def _split(x: Tensor, later: Any = None, *, axis: int = 0, split: Any = None, num_outputs: int = 0, outputs: int = 0) -> Any:
    return f.split(x, _numbers(later, split) or -(-x.shape[axis] // (num_outputs or outputs)), axis)


def _slice(
    x: Tensor, later_starts: Any = None, later_ends: Any = None, later_axes: Any = None, steps: Any = None, *,
    starts: Any = None, ends: Any = None, axes: Any = None,
) -> Tensor:  # fmt: skip
    first, last = _numbers(later_starts, starts) or [], _numbers(later_ends, ends) or []
    chosen = _numbers(later_axes, axes) or list(range(len(first)))
    for axis, start, end, step in zip(chosen, first, last, _numbers(steps) or [1] * len(first), strict=True):
        # Going backwards, an end far below zero means that the first entry belongs to it.
        x = f.part(x, axis, start, None if step < 0 and end < -x.shape[axis] else end, step)
    return x


def _clip(x: Tensor, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> Tensor:
    return f.clip(x, min if low is None else low, max if high is None else high)


def _pad(
    x: Tensor, later: Any = None, value: Any = 0.0, axes: Any = None, *, pads: Any = None, mode: str = "constant", **_: Any
) -> Tensor:
    if mode != "constant":
        raise InputError(f"padding by {mode} has no rule: pad by a constant, or give the network as a JAX function.")
    widths = _numbers(later, pads) or []
    chosen, half = _numbers(axes) or list(range(x.ndim)), len(widths) // 2
    pairs = {axis % x.ndim: (widths[i], widths[half + i]) for i, axis in enumerate(chosen)}
    return jnp.pad(x, [pairs.get(axis, (0, 0)) for axis in range(x.ndim)], constant_values=0.0 if value is None else value)


def _scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    place = jnp.asarray(x).at[tuple(jnp.moveaxis(f.places(indices), -1, 0))]
    ways: dict[str, Rule] = {"none": place.set, "add": place.add, "mul": place.multiply}
    return ways[reduction](updates)


def _flatten(x: Tensor, axis: int = 1) -> Tensor:
    return jnp.reshape(x, (int(np.prod(x.shape[: axis % (x.ndim + 1)], dtype=int)), -1))


def _layer_norm(x: Tensor, scale: Tensor, bias: Any = None, *, axis: int = -1, epsilon: Number = EPSILON, **_: Any) -> Tensor:
    return f.layer_norm(x, x.shape[axis % x.ndim :], scale, bias, epsilon)


def _rms_norm(x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: Number = EPSILON, **_: Any) -> Tensor:
    last = tuple(range(axis % x.ndim, x.ndim))
    return x * jax.lax.rsqrt(jnp.mean(x * x, last, keepdims=True) + epsilon) * scale


def _expand(x: Tensor, shape: Any) -> Tensor:
    return jnp.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(_numbers(shape) or ())))


def _unsqueeze(x: Tensor, later: Any = None, *, axes: Sequence[int] | None = None) -> Tensor:
    return jnp.expand_dims(x, tuple(_numbers(later, axes) or ()))


ONNX: dict[str, Rule] = {
    **{name: ELEMENTWISE[name.lower()] for name in SAME_NAME.split()},
    "Softplus": f.softplus,
    "Gelu": f.gelu,
    "Elu": f.elu,
    "Celu": lambda x, alpha=1.0: f.elu(x, alpha, input_scale=1 / alpha),
    "Selu": lambda x, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875: f.elu(x, alpha, gamma),
    "LeakyRelu": lambda x, alpha=SLOPE: f.leaky_relu(x, alpha),
    "PRelu": f.leaky_relu,
    "Swish": lambda x, alpha=1.0: x * jax.lax.logistic(alpha * x),
    "HardSigmoid": lambda x, alpha=STEEPNESS, beta=0.5: f.clip(alpha * x + beta, 0, 1),
    "HardSwish": lambda x: x * f.clip(SIXTH * x + 0.5, 0, 1),
    "Not": jnp.logical_not,
    **{name: BINARY[name.lower()] for name in ("Add", "Sub", "Mul", "Pow", "Where")},
    "Div": lambda x, y: x / y if jnp.issubdtype(x.dtype, jnp.floating) else f.divide(x, y, "trunc").astype(x.dtype),
    "Mod": lambda x, y, fmod=0: (jnp.fmod if fmod else jnp.remainder)(x, y),
    "Greater": jnp.greater,
    "GreaterOrEqual": jnp.greater_equal,
    "Less": jnp.less,
    "LessOrEqual": jnp.less_equal,
    "Equal": jnp.equal,
    "And": jnp.logical_and,
    "Or": jnp.logical_or,
    "Xor": jnp.logical_xor,
    "Max": _fold(jnp.maximum),
    "Min": _fold(jnp.minimum),
    "Sum": _fold(jnp.add),
    "Mean": lambda *parts: sum(parts) / len(parts),
    "Gemm": _gemm,
    "MatMul": f.product,
    "Einsum": lambda *operands, equation: jnp.einsum(equation, *operands, precision=PRECISION),
    **{f"Reduce{name}": _reduce(REDUCTIONS[name.lower()]) for name in ("Sum", "Mean", "Prod")},
    "ReduceMax": _reduce(REDUCTIONS["amax"]),
    "ReduceMin": _reduce(REDUCTIONS["amin"]),
    "ReduceL1": _reduce(lambda x, dim, keepdim: f.norm(x, 1, dim, keepdim)),
    "ReduceL2": _reduce(lambda x, dim, keepdim: f.norm(x, 2, dim, keepdim)),
    "ReduceSumSquare": _reduce(lambda x, dim, keepdim: REDUCTIONS["sum"](x * x, dim, keepdim)),
    "ReduceLogSumExp": _reduce(f.logsumexp),
    "Softmax": lambda x, axis=-1: f.softmax(x, axis),
    "LogSoftmax": lambda x, axis=-1: x - f.logsumexp(x, axis, keepdim=True),
    "CumSum": lambda x, axis: jnp.cumsum(x, int(axis)),
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm,
    "BatchNormalization": lambda x, scale, bias, mean, var, *, epsilon=EPSILON, training_mode=0, **_: f.batch_norm(
        x, scale, bias, mean, var, bool(training_mode), 0.0, epsilon
    ),
    "Identity": lambda x: x,
    "Dropout": lambda x, *_, **__: x,
    "Cast": lambda x, to, **_: jnp.asarray(x, to),
    "CastLike": lambda x, like, **_: jnp.asarray(x, like.dtype),
    "Clip": _clip,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Transpose": lambda x, perm=None: jnp.transpose(x, perm),
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Concat": lambda *parts, axis: jnp.concatenate(parts, axis),
    "Split": _split,
    "Slice": _slice,
    "Gather": lambda x, index, axis=0: jnp.take(x, f.places(index), axis=axis),
    "GatherElements": lambda x, index, axis=0: jnp.take_along_axis(x, f.places(index), axis),
    "ScatterND": _scatter_nd,
    "Expand": _expand,
    "Tile": lambda x, repeats: jnp.tile(x, tuple(_numbers(repeats) or ())),
    "Pad": _pad,
    "Shape": lambda x, start=0, end=None: np.asarray(x.shape[start:end], np.int64),
    "Size": lambda x: np.asarray(x.size, np.int64),
}
