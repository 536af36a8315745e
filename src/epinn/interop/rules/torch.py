"""What an operator of PyTorch's ATen or of ONNX is in JAX: one table, from which the walkers take what they meet.

A rule takes the operator's arguments in PyTorch's order, with arrays in place of tensors. Names are PyTorch's without
overload (`aten.add` is `add.Tensor` and `add.Scalar`); ONNX' names are mapped to these where the meaning is the same.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...derivatives.jet import PRECISION
from ...errors import InputError
from . import functions as f
from .functions import Number, Tensor

Rule = Callable[..., Any]

ELEMENTWISE: dict[str, Rule] = {
    "sigmoid": jax.lax.logistic,
    "relu": f.relu,
    "silu": f.silu,
    "gelu": f.gelu,
    "softplus": lambda x, beta=1.0, threshold=20.0: f.softplus(x, beta, threshold),
    "elu": f.elu,
    "celu": lambda x, alpha=1.0: f.elu(x, alpha, input_scale=1 / alpha),
    "selu": lambda x: f.elu(x, 1.6732632423543772, 1.0507009873554805),
    "leaky_relu": f.leaky_relu,
    "prelu": f.leaky_relu,
    "relu6": lambda x: f.clip(x, 0, 6),
    "mish": lambda x: x * jnp.tanh(f.softplus(x, threshold=20.0)),
    "hardtanh": lambda x, low=-1.0, high=1.0: f.clip(x, low, high),
    "hardsigmoid": lambda x: f.clip(x / 6 + 0.5, 0, 1),
    "hardswish": lambda x: x * f.clip(x / 6 + 0.5, 0, 1),
    "log_sigmoid": lambda x: -f.softplus(-x),
    "softsign": lambda x: x / (1 + jnp.abs(x)),
    "tanhshrink": lambda x: x - jnp.tanh(x),
    "erf": jax.lax.erf,
    "erfc": jax.lax.erfc,
    "erfinv": jax.lax.erf_inv,
    "rsqrt": jax.lax.rsqrt,
    "neg": operator.neg,
    "reciprocal": lambda x: 1 / x,
    "frac": lambda x: x - jnp.trunc(x),
    "logical_not": jnp.logical_not,
    "bitwise_not": jnp.bitwise_not,
    **{name: getattr(jnp, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "sinc", "exp", "exp2", "expm1")},
    **{name: getattr(jnp, name) for name in ("log", "log2", "log10", "log1p", "sqrt", "square")},
    **{name: getattr(jnp, name) for name in ("abs", "sign", "floor", "ceil", "round", "trunc", "isnan")},
    **{f"a{name}": getattr(jnp, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}

BINARY: dict[str, Rule] = {
    "add": lambda x, y, alpha=1: x + (y if alpha == 1 else alpha * y),
    "sub": lambda x, y, alpha=1: x - (y if alpha == 1 else alpha * y),
    "rsub": lambda x, y, alpha=1: y - (x if alpha == 1 else alpha * x),
    "mul": operator.mul,
    "div": f.divide,
    "floor_divide": jnp.floor_divide,
    "remainder": jnp.remainder,
    "fmod": jnp.fmod,
    "pow": f.power,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "atan2": jnp.arctan2,
    "hypot": jnp.hypot,
    "where": jnp.where,
    "gt": jnp.greater,
    "ge": jnp.greater_equal,
    "lt": jnp.less,
    "le": jnp.less_equal,
    "eq": jnp.equal,
    "ne": jnp.not_equal,
    **{f"{kind}_{name}": getattr(jnp, f"{kind}_{name}") for kind in ("logical", "bitwise") for name in ("and", "or", "xor")},
}


def _extreme(reduce: Rule, of_two: Rule) -> Rule:
    """`max` has three meanings: of all, of two arrays, and along an axis together with the place."""

    def rule(x: Tensor, other: Any = None, keepdim: bool = False) -> Any:
        if other is None:
            return reduce(x)
        if not isinstance(other, int):
            return of_two(x, other)
        place = (jnp.argmax if reduce is jnp.max else jnp.argmin)(x, other, keepdims=keepdim)
        return reduce(x, other, keepdims=keepdim), place

    return rule


def _reduction(reduce: Rule) -> Rule:
    def rule(x: Tensor, dim: f.Axes = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
        return reduce(x, f.axes(dim), keepdims=keepdim)

    return rule


def _norm(x: Tensor, order: Number | None = 2, dim: f.Axes = None, keepdim: bool = False, *_: Any, dtype: Any = None) -> Tensor:
    return f.norm(x, 2 if order is None else order, dim, keepdim)


REDUCTIONS: dict[str, Rule] = {
    **{name: _reduction(getattr(jnp, name)) for name in ("sum", "mean", "prod", "amax", "amin", "all", "any")},
    "max": _extreme(jnp.max, jnp.maximum),
    "min": _extreme(jnp.min, jnp.minimum),
    "norm": _norm,
    "linalg_vector_norm": _norm,
    "var": f.variance,
    "std": lambda x, *dim, **options: jnp.sqrt(f.variance(x, *dim, **options)),
    "softmax": f.softmax,
    "_softmax": f.softmax,
    "log_softmax": lambda x, dim, *_: x - f.logsumexp(x, dim, keepdim=True),
    "logsumexp": f.logsumexp,
    "cumsum": lambda x, dim, **_: jnp.cumsum(x, dim),
}


def _glu(x: Tensor, dim: int = -1) -> Tensor:
    value, gate = jnp.split(x, 2, dim)
    return value * jax.lax.logistic(gate)


PRODUCTS: dict[str, Rule] = {
    "linear": f.dense,
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot"), f.product),
    "addmm": lambda bias, x, y, beta=1, alpha=1: beta * bias + alpha * f.product(x, y),
    "baddbmm": lambda bias, x, y, beta=1, alpha=1: beta * bias + alpha * f.product(x, y),
    "addcmul": lambda x, y, z, value=1: x + value * y * z,
    "addcdiv": lambda x, y, z, value=1: x + value * y / z,
    "lerp": lambda x, y, weight: x + weight * (y - x),
    "einsum": lambda formula, operands, **_: jnp.einsum(formula, *operands, precision=PRECISION),
    "outer": jnp.outer,
    "linalg_matrix_exp": jax.scipy.linalg.expm,
    "bilinear": lambda x, y, weight, bias=None: (
        jnp.einsum("...i,kij,...j->...k", x, weight, y, precision=PRECISION) + (0 if bias is None else bias)
    ),
    "layer_norm": f.layer_norm,
    "native_layer_norm": lambda *arguments: (f.layer_norm(*arguments), None, None),
    "batch_norm": f.batch_norm,
    "_native_batch_norm_legit_no_training": lambda x, weight, bias, mean, var, momentum, eps: (
        f.batch_norm(x, weight, bias, mean, var, False, momentum, eps),
        None,
        None,
    ),
    "_weight_norm": f.weight_norm,
    "_weight_norm_interface": lambda *arguments: (f.weight_norm(*arguments), None),
    "glu": _glu,
}


def _reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    return jnp.reshape(x, tuple(shape))


def _expand(x: Tensor, shape: Sequence[int], **_: Any) -> Tensor:
    own = (1,) * (len(shape) - x.ndim) + x.shape
    return jnp.broadcast_to(x, tuple(have if want == -1 else want for have, want in zip(own, shape, strict=True)))


def _flatten(x: Tensor, start: int = 0, end: int = -1) -> Tensor:
    start, end = start % x.ndim, end % x.ndim
    return jnp.reshape(x, (*x.shape[:start], -1, *x.shape[end + 1 :]))


def _pad(x: Tensor, widths: Sequence[int], value: Number = 0.0) -> Tensor:
    """Widths are listed from the last axis on."""
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)][::-1]
    return jnp.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + pairs, constant_values=value)


def _at(indices: Sequence[Any]) -> Any:
    return tuple(slice(None) if index is None else f.places(index) for index in indices)


def _put(x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype == bool and np.ndim(values) == 0:
        mask = jnp.reshape(indices[0], indices[0].shape + (1,) * (x.ndim - indices[0].ndim))
        return jnp.where(mask, x + values if accumulate else values, x)
    place = jnp.asarray(x).at[_at(indices)]
    return place.add(values) if accumulate else place.set(values)


def _into(x: Tensor, new: Tensor, dim: int, place: Any) -> Tensor:
    return jnp.asarray(x).at[(*[slice(None)] * (dim % x.ndim), place)].set(new)


def _same(x: Any, *_: Any, **__: Any) -> Any:
    return x


def _cast(x: Tensor, *arguments: Any, **options: Any) -> Tensor:
    kinds = [kind for kind in (*arguments, options.get("dtype")) if isinstance(kind, np.dtype)]
    return jnp.asarray(x, kinds[0]) if kinds else x


def _dropout(x: Tensor, _rate: Number, training: bool) -> Tensor:
    if training:
        raise InputError("the network drops units at random even in evaluation: call dropout with training=self.training.")
    return x


SHAPES: dict[str, Rule] = {
    **dict.fromkeys(("view", "reshape", "_unsafe_view"), _reshape),
    "view_as": lambda x, like: jnp.reshape(x, like.shape),
    "permute": jnp.transpose,
    "transpose": jnp.swapaxes,
    "t": jnp.transpose,
    "numpy_T": jnp.transpose,
    "mT": lambda x: jnp.swapaxes(x, -1, -2),
    "movedim": jnp.moveaxis,
    "unsqueeze": jnp.expand_dims,
    "squeeze": lambda x, dims: jnp.squeeze(x, tuple(dims)),
    "expand": _expand,
    "expand_as": lambda x, like: jnp.broadcast_to(x, like.shape),
    "flatten": _flatten,
    "unflatten": lambda x, dim, sizes: jnp.reshape(x, (*x.shape[: dim % x.ndim], *sizes, *x.shape[dim % x.ndim + 1 :])),
    "cat": lambda parts, dim=0: jnp.concatenate(parts, dim),
    "stack": lambda parts, dim=0: jnp.stack(parts, dim),
    **dict.fromkeys(("split", "split_with_sizes"), f.split),
    "chunk": lambda x, count, dim=0: f.split(x, -(-x.shape[dim] // count), dim),
    "unbind": lambda x, dim=0: [jax.lax.index_in_dim(x, i, dim, keepdims=False) for i in range(x.shape[dim])],
    "slice": f.part,
    "narrow": lambda x, dim, start, length: f.part(x, dim, start, start + length),
    "select": lambda x, dim, index: jax.lax.index_in_dim(x, index, dim, keepdims=False),
    "index": lambda x, indices: jnp.asarray(x)[_at(indices)],
    "index_put": _put,
    "index_select": lambda x, dim, index: jnp.take(x, f.places(index), axis=dim),
    "gather": lambda x, dim, index, **_: jnp.take_along_axis(x, f.places(index), dim),
    "select_scatter": _into,
    "slice_scatter": lambda x, new, dim=0, start=None, end=None, step=1: _into(x, new, dim, slice(start, end, step)),
    "copy": lambda x, new, *_: jnp.broadcast_to(new, x.shape),
    "repeat": lambda x, repeats: jnp.tile(x, tuple(repeats)),
    "flip": lambda x, dims: jnp.flip(x, tuple(dims)),
    "roll": lambda x, shifts, dims=None: jnp.roll(x, tuple(shifts), tuple(dims) if dims else None),
    "constant_pad_nd": _pad,
    "tril": jnp.tril,
    "triu": jnp.triu,
    **dict.fromkeys(("clone", "contiguous", "alias", "lift_fresh_copy", "requires_grad_"), _same),
    **dict.fromkeys(("detach", "detach_copy"), jax.lax.stop_gradient),
    **dict.fromkeys(("to", "_to_copy"), _cast),
    **dict.fromkeys(("dropout", "feature_dropout", "alpha_dropout"), _dropout),
    "native_dropout": lambda *arguments: (_dropout(*arguments), None),
    "clamp": f.clip,
    "clamp_min": f.clip,
    "clamp_max": lambda x, high: f.clip(x, None, high),
    "masked_fill": lambda x, mask, value: jnp.where(mask, value, x),
}

CREATION: dict[str, Rule] = {  # the walker says in which precision, whether the program does or not
    **dict.fromkeys(("zeros", "empty"), np.zeros),
    "ones": np.ones,
    "full": np.full,
    "scalar_tensor": np.asarray,
    **dict.fromkeys(("zeros_like", "empty_like"), lambda x, dtype: np.zeros(x.shape, dtype)),
    "ones_like": lambda x, dtype: np.ones(x.shape, dtype),
    "full_like": lambda x, value, dtype: np.full(x.shape, value, dtype),
    "new_zeros": lambda x, shape, dtype: np.zeros(shape, dtype),
    "new_ones": lambda x, shape, dtype: np.ones(shape, dtype),
    "new_full": lambda x, shape, value, dtype: np.full(shape, value, dtype),
    "arange": lambda *limits, dtype: np.arange(*limits, dtype=dtype),
    "linspace": lambda start, end, steps, dtype: np.linspace(start, end, steps, dtype=dtype),
    "eye": lambda *shape, dtype: np.eye(*shape, dtype=dtype),
}

RULES: dict[str, Rule] = {
    f"aten.{name}": rule
    for table in (ELEMENTWISE, BINARY, REDUCTIONS, PRODUCTS, SHAPES, CREATION)
    for name, rule in table.items()
}
