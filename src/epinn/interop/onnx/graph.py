"""An ONNX model as a pure JAX function. The file is read as data; nothing in it is executed but the operators we know."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from scipy import special

from ...errors import InputError, one_line
from ..converted import Converted, in_precision, working_type
from ..rules.onnx import ONNX
from ..rules.torch import Rule

LARGEST = 2**26  # numbers in an array on the way from one point to its fields, or in a constant


def convert(path_or_model: Any, rules: Mapping[str, Rule] | None = None) -> Converted:
    """An `.onnx` file or a model in memory; `rules` adds operators by name, inputs by position and attributes by name.

    ONNX does not tell trained weights from other stored arrays: all of real numbers that are not single count as parameters.
    """
    model = _read(path_or_model)
    try:
        return _converted(_inlined(model), {**ONNX, **(rules or {})})
    except InputError:
        raise
    except Exception as error:  # a file may be ONNX and no model: names that nothing has, types that do not exist
        raise InputError(f"the ONNX model is damaged ({type(error).__name__}: {one_line(error)}): export it again.") from None


def _converted(model: Any, table: Mapping[str, Rule]) -> Converted:
    _refuse_missing(model, table)
    name, own, rows, dimension = _only_input(model)
    arrays = {array.name: _onnx().numpy_helper.to_array(array) for array in model.graph.initializer}
    used = {entry for node in model.graph.node for entry in node.input}
    parameters = {k: a for k, a in arrays.items() if k in used and a.ndim and np.issubdtype(a.dtype, np.floating)}
    constants = {k: a for k, a in arrays.items() if k in used and k not in parameters}
    walk = _walker(model, table, own)

    def function(parameters: Mapping[str, Any], x: Any) -> Array:
        dtype = working_type(parameters, x)
        return jnp.reshape(walk({**constants, **parameters, name: jnp.asarray(x, dtype)[None]}, dtype), -1)

    reference = _reference(model, name, own, rows)
    _try(function, parameters, reference, dimension, rows)
    return Converted(function, parameters, reference, None, "ONNX", constants)


def _onnx() -> Any:
    try:
        import onnx
        import onnx.inliner
        import onnx.reference
    except ImportError as error:
        raise InputError("ONNX files need the package onnx: pip install 'epinn[onnx]'.") from error
    return onnx


def _read(path_or_model: Any) -> Any:
    onnx = _onnx()
    if not isinstance(path_or_model, str | Path):
        return path_or_model
    if not Path(path_or_model).is_file():
        raise InputError(f"there is no file {path_or_model}.")
    try:
        model = onnx.load(str(path_or_model))
    except Exception as error:
        raise InputError(f"{path_or_model} cannot be read as ONNX: {one_line(error)}") from None
    if not model.graph.node:
        raise InputError(f"{path_or_model} cannot be read as ONNX: there is no network in it.")
    return model


def _inlined(model: Any) -> Any:
    return _onnx().inliner.inline_local_functions(model) if model.functions else model


def _operator(node: Any) -> str:
    """Operators of other makers have the name of their domain in front."""
    return node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"


def _refuse_missing(model: Any, table: Mapping[str, Rule]) -> None:
    places: dict[str, list[str]] = {}
    for node in _needing_rules(model):
        if _operator(node) not in table:
            places.setdefault(_operator(node), []).append(node.name or f"the node of {node.output[0]}")
    if any(name in ("If", "Loop", "Scan") for name in places):
        raise InputError("the network branches on values, so it is not one function: give the network as a JAX function.")
    if places:
        listed = ", ".join(f"{name} ({', '.join(nodes)})" for name, nodes in places.items())
        raise InputError(
            f"there is no rule for {listed}: pass rules={{{next(iter(places))!r}: ..., ...}} with a JAX function for each, "
            "or give the network as a JAX function."
        )


def _needing_rules(model: Any) -> list[Any]:
    """The nodes whose result depends on the points or the weights; the others are computed by ONNX itself."""
    known = {array.name for array in model.graph.initializer}
    varying = {entry.name for entry in model.graph.input} | known
    nodes = []
    for node in model.graph.node:
        if any(entry in varying for entry in node.input):
            nodes.append(node)
            if node.op_type not in ("Shape", "Size"):
                varying |= set(node.output)
    return nodes


def _only_input(model: Any) -> tuple[str, np.dtype, int | None, int]:
    """The name of the input, its precision, its number of points if that is fixed, and its number of coordinates."""
    stored = {array.name for array in model.graph.initializer}
    inputs = [entry for entry in model.graph.input if entry.name not in stored]
    if len(inputs) != 1 or len(model.graph.output) != 1:
        raise InputError(
            f"the model has {len(inputs)} inputs and {len(model.graph.output)} outputs: "
            "export it with one input (points, coordinates) and one output (points, fields)."
        )
    kind = inputs[0].type.tensor_type
    sizes = [size.dim_value or None for size in kind.shape.dim]
    dtype = _onnx().helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"the model takes {dtype} numbers: export it in float32 or float64.")
    if len(sizes) != 2 or sizes[1] is None:
        raise InputError("the model's input must be (points, coordinates) with a known number of coordinates: export it so.")
    return inputs[0].name, np.dtype(dtype), sizes[0], sizes[1]


def _walker(model: Any, table: Mapping[str, Rule], own: np.dtype) -> Callable[..., Array]:
    """A function of all arrays by name and the precision to work in, which stands for the model's `own`."""
    onnx = _onnx()
    result = model.graph.output[0].name
    steps = [(node, _attributes(node)) for node in model.graph.node]

    def walk(given: Mapping[str, Any], dtype: Any) -> Any:
        values = {"": None} | {name: in_precision(array, dtype) for name, array in given.items()}
        for node, attributes in steps:
            inputs = [values[name] for name in node.input]
            options = dict(attributes)
            if node.op_type == "Cast" and not node.domain:
                kind = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(options["to"]))
                options["to"] = dtype if kind == own else kind
            if not any(isinstance(value, jax.Array) for value in inputs):
                outputs = [in_precision(value, dtype) for value in _computed(node, inputs, model.opset_import)]
            else:
                outputs = _applied(table[_operator(node)], node, inputs, options)
            _refuse_large(node, outputs)
            values.update(zip(node.output, outputs, strict=False))
        return jnp.asarray(values[result], dtype)

    return walk


def _refuse_large(node: Any, outputs: Iterable[Any]) -> None:
    """Refuse what no network for points needs. Shapes are known while a model is traced, before anything is computed."""
    if any(math.prod(np.shape(value)) > LARGEST for value in outputs):
        raise InputError(
            f"{_called(node)} makes an array of more than {LARGEST:,} numbers for one point: export a smaller network."
        )


def _called(node: Any) -> str:
    """A node in a message."""
    return f"{_operator(node)} ({node.name or next(iter(node.output), 'without a result')})"


def _attributes(node: Any) -> dict[str, Any]:
    onnx = _onnx()
    found = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
    found = {name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()}
    return found | ({"outputs": len(node.output)} if node.op_type == "Split" else {})


def _computed(node: Any, inputs: list[Any], opsets: Any) -> list[np.ndarray]:
    """Constants and arithmetic on sizes, by ONNX itself: what comes out must be numbers, not steps of a traced program."""
    _refuse_large_constant(node, inputs)
    onnx = _onnx()
    given = {name: np.asarray(value) for name, value in zip(node.input, inputs, strict=True) if name}
    entries = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in given.items()
    ]
    results = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output]
    graph = onnx.helper.make_graph([node], "constant", entries, results)
    try:
        model = onnx.helper.make_model(graph, opset_imports=opsets)
        found: list[np.ndarray] = onnx.reference.ReferenceEvaluator(model).run(None, given)
    except Exception as error:  # whatever its operators raise
        raise InputError(f"{_called(node)} fails ({one_line(error)}): export the network again.") from None
    return found


def _refuse_large_constant(node: Any, inputs: list[Any]) -> None:
    """Refuse constants that a few numbers ask for, before they are made: the inputs say how large they get."""
    numbers = [np.ravel(value).astype(float) for value in inputs if value is not None and np.asarray(value).dtype.kind in "iuf"]
    match node.op_type:
        case "ConstantOfShape" | "Expand" if numbers:
            size = np.prod(numbers[-1])
        case "Tile" if len(numbers) > 1:
            size = np.prod(numbers[-1]) * numbers[0].size
        case "Pad" if len(numbers) > 1:
            size = (np.max(np.abs(numbers[1]), initial=0) + 1) ** max(1, np.count_nonzero(numbers[1])) * numbers[0].size
        case "Range" if len(numbers) == 3 and all(part.size == 1 for part in numbers):
            size = abs(numbers[1] - numbers[0])[0] / max(abs(numbers[2][0]), 1e-300)
        case _:
            size = 0
    if not size <= LARGEST:
        raise InputError(f"{_called(node)} makes a constant of more than {LARGEST:,} numbers: export a smaller network.")


def _applied(rule: Rule, node: Any, inputs: list[Any], options: dict[str, Any]) -> Any:
    try:
        result = rule(*inputs, **options)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the rule for {_called(node)} fails ({one_line(error)}): "
            f"pass rules={{{_operator(node)!r}: ...}} with a JAX function, or give the network as a JAX function."
        ) from error
    return result if isinstance(result, list | tuple) else [result]


def _reference(model: Any, name: str, own: np.dtype, rows: int | None) -> Callable[[np.ndarray], np.ndarray]:
    """ONNX' own evaluation, in portions where the model takes a fixed number of points."""
    evaluator = _onnx().reference.ReferenceEvaluator(model, new_ops=_exact_operators())

    def values(points: np.ndarray) -> np.ndarray:
        count, size = len(points), rows or len(points)
        padded = np.resize(points, (-(-count // size) * size, points.shape[1])).astype(own)
        parts = [evaluator.run(None, {name: part})[0].reshape(size, -1) for part in np.split(padded, len(padded) // size)]
        return np.concatenate(parts)[:count]

    return values


def _exact_operators() -> list[Any]:
    """Those that ONNX' own evaluator computes in single precision whatever it is given."""
    from onnx.reference.op_run import OpRun

    class Erf(OpRun):
        def _run(self, x: Any) -> tuple[Any]:
            return (special.erf(x),)

    class Gelu(OpRun):
        def _run(self, x: Any, approximate: str = "none") -> tuple[Any]:
            inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
            share = np.tanh(inner) if approximate == "tanh" else special.erf(x / math.sqrt(2))
            return ((0.5 * x * (1 + share)).astype(x.dtype),)

    return [Erf, Gelu]


def _try(
    function: Callable[..., Any],
    parameters: Mapping[str, np.ndarray],
    reference: Callable[..., Any],
    dimension: int,
    rows: int | None,
) -> None:
    """Run it for its shape alone: a model made for many points at a time may not be a function of one."""
    with jax.enable_x64(True):
        dtype = next((array.dtype for array in parameters.values()), np.dtype(np.float32))
        found = jax.eval_shape(function, parameters, np.zeros(dimension, dtype)).size
    try:
        expected = reference(np.zeros((2, dimension), dtype)).shape[1]
    except Exception as error:  # whatever its operators raise
        raise InputError(f"ONNX itself cannot evaluate the model ({one_line(error)}): export it again.") from None
    if found != expected:
        many = f"a fixed number of {rows} points" if rows else "many points at once"
        raise InputError(f"the model is made for {many}: export it with a dynamic first axis.")
