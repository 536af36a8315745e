"""Networks that JAX runs already: functions, Equinox, Flax (linen and nnx), Haiku, Keras 3. Only their calls differ."""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.compiled import runs_once
from ..errors import InputError
from .converted import Converted
from .network.program import traced


@dataclass(frozen=True)
class Native:
    """A network as its framework sees it: `call(parameters, constants, *inputs)`, with trees of any kind."""

    source: str
    call: Callable[..., Any]
    parameters: Any
    constants: Any = None


@dataclass(frozen=True)
class Convention:
    """How a network takes its points."""

    inputs: Callable[[Array], tuple[Array, ...]]  # from a batch of points to what the network is called with
    one_by_one: bool = False


CONVENTIONS = (
    Convention(lambda points: (points[0],), one_by_one=True),  # f(x) with x of shape (d,)
    Convention(lambda points: (points,)),  # f(x) with x of shape (n, d)
    Convention(lambda points: tuple(points[0]), one_by_one=True),  # f(x, t) with numbers
    Convention(lambda points: tuple(jnp.split(points, points.shape[1], axis=1))),  # f(x, t) with columns
)


def convert(model: Any, dimension: int, fields: int) -> Converted | None:
    """A network that JAX can run; None for anything else."""
    native = _native(model, dimension, fields)
    if native is None:
        return None
    arrays, numbers = eqx.partition(native.parameters, lambda leaf: hasattr(leaf, "dtype"))
    names, parameters, tree = _named(arrays)

    def call(given: Mapping[str, Any], *inputs: Array) -> Any:
        whole = eqx.combine(jax.tree.unflatten(tree, [given[name] for name in names]), numbers)
        return native.call(whole, native.constants, *inputs)

    convention = _convention(functools.partial(call, parameters), dimension, fields, native.source)

    def function(given: Mapping[str, Any], x: Float[Array, " d"]) -> Float[Array, " fields"]:
        values: Float[Array, " fields"] = call(given, *convention.inputs(x[None])).reshape(fields)
        return values

    def reference(points: np.ndarray) -> np.ndarray:
        if not convention.one_by_one:
            return np.asarray(call(parameters, *convention.inputs(jnp.asarray(points)))).reshape(len(points), fields)
        rows = [call(parameters, *convention.inputs(jnp.asarray(points[i : i + 1]))) for i in range(len(points))]
        return np.stack([np.asarray(row).reshape(fields) for row in rows])

    def derivatives(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first = jax.jacrev(lambda x: function(parameters, x))

        def both(x: Float[Array, " d"]) -> tuple[Array, Array]:
            return first(x), jax.jacrev(first)(x)

        firsts, seconds = (np.asarray(part) for part in runs_once(jax.vmap(both))(jnp.asarray(points)))
        return firsts, np.diagonal(seconds, axis1=2, axis2=3)

    return Converted(function, parameters, reference, derivatives, native.source, {})


def _native(model: Any, dimension: int, fields: int) -> Native | None:
    makers = (_linen, _haiku, _pair, _nnx, _keras, _equinox)
    found = next((native for make in makers if (native := make(model)) is not None), None)
    if found is not None or not callable(model) or _is_torch(model):
        return found
    return _closure(model, dimension, fields)


def _linen(model: Any) -> Native | None:
    if not _is_pair(model) or not _belongs(model[0], "flax.linen", "Module"):
        if _belongs(model, "flax.linen", "Module"):
            raise InputError("a Flax linen module has no weights of its own: give it with them, as (module, variables).")
        return None
    module, variables = model[0], dict(model[1])
    variables = variables if "params" in variables else {"params": variables}
    rest = {name: part for name, part in variables.items() if name != "params"}
    return Native("Flax linen", lambda p, c, *x: module.apply({"params": p, **c}, *x), variables["params"], rest)


def _haiku(model: Any) -> Native | None:
    if not _is_pair(model) or not _belongs(model[0], "haiku", "Transformed"):
        return None
    apply = model[0].apply
    takes_key = len(inspect.signature(apply).parameters) > 1 and "rng" in inspect.signature(apply).parameters
    return Native("Haiku", lambda p, _, *x: apply(p, None, *x) if takes_key else apply(p, *x), model[1])


def _pair(model: Any) -> Native | None:
    if not _is_pair(model) or not callable(model[0]):
        return None
    function = model[0]
    return Native("a JAX function", lambda p, _, *x: function(p, *x), model[1])


def _nnx(model: Any) -> Native | None:
    if not _belongs(model, "flax.nnx", "Module"):
        return None
    nnx = sys.modules["flax.nnx"]
    model = nnx.merge(*nnx.split(model))  # a copy: `eval` changes what it is called on
    model.eval()
    graph, parameters, rest = nnx.split(model, nnx.Param, ...)
    return Native("Flax nnx", lambda p, c, *x: nnx.merge(graph, p, c)(*x), parameters, rest)


def _keras(model: Any) -> Native | None:
    if not is_keras(model):
        return None
    backend = sys.modules["keras"].backend.backend()
    if backend != "jax":
        raise InputError(f"this Keras model runs on {backend}; set KERAS_BACKEND=jax and load it again.")
    parameters, rest = ([np.asarray(v) for v in part] for part in (model.trainable_variables, model.non_trainable_variables))
    return Native("Keras", lambda p, c, x: model.stateless_call(p, c, x, training=False)[0], parameters, rest)


def _equinox(model: Any) -> Native | None:
    """Anything callable that is a tree of arrays itself."""
    if not callable(model) or not jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)) or _is_torch(model):
        return None
    if isinstance(model, eqx.Module):
        model = eqx.nn.inference_mode(model)
    parameters, rest = eqx.partition(model, eqx.is_inexact_array)
    return Native("Equinox", lambda p, _, *x: eqx.combine(p, rest)(*x), parameters)


def _closure(model: Callable[..., Any], dimension: int, fields: int) -> Native:
    """A plain function: the arrays that it was written around are its weights."""
    inputs = _convention(model, dimension, fields, "the function").inputs(jnp.zeros((1, dimension)))
    found = traced(model, *inputs).consts
    chosen = [i for i, value in enumerate(found) if isinstance(value, jax.Array) and _is_weight(value)]
    chosen = chosen or [i for i, value in enumerate(found) if _is_weight(value)]

    def call(parameters: Any, _: None, *inputs: Array) -> Any:
        closed = traced(model, *inputs)
        replaced = dict(zip(chosen, parameters, strict=True))
        consts = [replaced.get(i, value) for i, value in enumerate(closed.consts)]
        return jax.core.eval_jaxpr(closed.jaxpr, consts, *inputs)[0]

    return Native("a JAX function", call, [found[i] for i in chosen])


def _is_weight(value: Any) -> bool:
    return value.ndim > 0 and np.issubdtype(value.dtype, np.floating)


def _convention(call: Callable[..., Any], dimension: int, fields: int, source: str) -> Convention:
    """The first way of calling that gives as many numbers as there are fields."""
    for convention in CONVENTIONS:
        try:
            shape = jax.eval_shape(call, *convention.inputs(jnp.zeros((1, dimension)))).shape
        except Exception:  # noqa: S112  # whatever somebody else's function raises when it is not called as it wants to be
            continue
        if int(np.prod(shape)) == fields:
            return convention
    raise InputError(
        f"{source} could not be called with {dimension} coordinates to give {fields} fields: neither with one point of shape "
        f"({dimension},), nor with points of shape (n, {dimension}), nor with one argument per coordinate."
    )


def _named(tree: Any) -> tuple[list[str], dict[str, np.ndarray], Any]:
    """The arrays of any tree by name."""
    pairs, structure = jax.tree_util.tree_flatten_with_path(tree)
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in pairs]
    names = names if len(set(names)) == len(names) else [f"{name}#{i}" for i, name in enumerate(names)]
    return names, {name: np.asarray(leaf) for name, (_, leaf) in zip(names, pairs, strict=True)}, structure


def _is_pair(model: Any) -> bool:
    return isinstance(model, tuple | list) and len(model) == 2 and not hasattr(model, "_fields")


def _belongs(model: Any, module: str, name: str) -> bool:
    """Whether this is an instance of a class of a framework, which is not imported for the question."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(model, kind)


def is_keras(model: Any) -> bool:
    """Also where it is a PyTorch module by birth, whose weights PyTorch's export does not see."""
    return _belongs(model, "keras", "Model")


def _is_torch(model: Any) -> bool:
    return _belongs(model, "torch.nn", "Module")
