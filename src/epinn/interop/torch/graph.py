"""A PyTorch module as a pure JAX function: the graph that `torch.export` records, walked with one rule per operator."""

import io
import logging
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...errors import InputError
from ..converted import Converted, in_precision, working_type
from ..rules.torch import CREATION, RULES, Rule
from .places import place_in, place_of_failure
from .source import derivatives, evaluating, floating_type, import_torch, mode_notes, only_tensor, reference

EXAMPLE_POINTS = 7  # any number but 1, for which PyTorch records another program
PLACEMENT = ("device", "pin_memory", "layout", "memory_format", "non_blocking", "copy", "generator")
ASSERTIONS = (
    "_assert_scalar",
    "_assert_tensor_metadata",
    "_assert_async",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
)
VALUES_AS_NUMBERS = ("aten.item", "aten._local_scalar_dense", "aten.nonzero")


def convert(module: Any, dimension: int, rules: Mapping[str, Rule] | None = None) -> Converted:
    """The module in evaluation mode. `rules` adds operators by name, {"aten.erfinv": jax.scipy.special.erfinv}."""
    table = {**RULES, **(rules or {})}
    with evaluating(module):
        program = _decomposed(_exported(module, dimension), table)
    _refuse_missing(program.graph, table)
    names, arrays, trained = _inputs(program)
    parameters = {name: arrays[name] for name in arrays if name in trained}
    constants = {name: arrays[name] for name in arrays if name not in trained}
    walk = _walker(program.graph, table, names, floating_type(module))

    def function(parameters: Mapping[str, Any], x: Any) -> Array:
        dtype = working_type(parameters, x)
        return jnp.reshape(walk({**constants, **parameters}, jnp.asarray(x, dtype)[None], dtype), -1)

    _try(function, parameters, dimension)
    notes = mode_notes(module, dimension)
    return Converted(function, parameters, reference(module), derivatives(module), "PyTorch", constants, notes)


def _exported(module: Any, dimension: int) -> Any:
    torch = import_torch()
    parameter = next(module.parameters(), torch.zeros(()))
    example = torch.rand(EXAMPLE_POINTS, dimension, dtype=floating_type(module), device=parameter.device)
    with _quiet():
        try:
            only_tensor(module(example), EXAMPLE_POINTS)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"the network fails on an array of shape (n, {dimension}): {_first_line(error)}") from error
        try:
            points = {0: torch.export.Dim("points")}
            with torch.backends.opt_einsum.flags(enabled=False):  # its search for an order would fix the number of points
                program = torch.export.export(module, (example,), dynamic_shapes=(points,), strict=False)
            return program.run_decompositions({})
        except Exception as error:
            raise _reason(error) from error


def _reason(error: Exception) -> InputError:
    """Why PyTorch could not record the module, in a sentence."""
    text, place = str(error), place_of_failure(error)
    if any(
        sign in text for sign in ("data-dependent", "DataDependent", "GuardOnDataDependent", "FakeTensor", "data dependent")
    ):
        return InputError(
            f"the network branches on values or turns them into numbers{place}, so it is not one function: "
            "write it with torch.where, or give the network as a JAX function."
        )
    if "Constraints violated" in text or "specializ" in text:
        return InputError(f"the network depends on how many points it is given{place}: write it for any number of points.")
    if "fake tensor" in text:
        return InputError(f"the network differentiates inside its forward{place}: give the network as a JAX function instead.")
    return InputError(f"PyTorch cannot record the network{place} ({_first_line(error)}): give the network as a JAX function.")


def _decomposed(program: Any, table: Mapping[str, Rule]) -> Any:
    """Operators without a rule are taken apart by PyTorch as far as it can; the others are left as they are."""
    import torch

    known, tried = torch.export.default_decompositions(), set()
    while True:
        parts = {
            n.target: known[n.target] for n in _missing(program.graph, table) if n.target in known and n.target not in tried
        }
        if not parts:
            return program
        tried |= set(parts)
        with _quiet():
            program = program.run_decompositions(parts)


def _name(node: Any) -> str:
    """`aten.add` for `aten.add.Tensor`."""
    return node.target.name().split(".")[0].replace("::", ".") if hasattr(node.target, "overloadpacket") else str(node.target)


def _place(node: Any) -> str:
    """The user's line, or the layer where it is one of PyTorch's own."""
    layers = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values() if path]
    return place_in(node.meta.get("stack_trace")) or (f"layer {layers[-1]}" if layers else "in its forward")


def _rule(node: Any, table: Mapping[str, Rule]) -> Rule | None:
    """The rule for a node; arithmetic on sizes, which are numbers here, is done as it stands."""
    name = _name(node)
    if rule := table.get(str(node.target)) or table.get(name):
        return rule
    if name == "aten.sym_size":
        return lambda x, axis: x.shape[axis]
    if name == "aten.sym_numel":
        return lambda x: x.size
    if name.removeprefix("aten.") in ASSERTIONS:
        return lambda *_, **__: None
    home = getattr(node.target, "__module__", "")
    sizes = home in (operator.__name__, "_operator", "math") or (home == "torch" and node.target.__name__.startswith("sym_"))
    return node.target if sizes else None


def _missing(graph: Any, table: Mapping[str, Rule]) -> list[Any]:
    return [node for node in graph.nodes if node.op == "call_function" and _rule(node, table) is None]


def _refuse_missing(graph: Any, table: Mapping[str, Rule]) -> None:
    places: dict[str, list[str]] = {}
    for node in _missing(graph, table):
        places.setdefault(_name(node), []).append(_place(node))
    if not places:
        return
    if numbers := [name for name in VALUES_AS_NUMBERS if name in places]:
        raise InputError(
            f"the network turns values into numbers or branches on them ({places[numbers[0]][0]}), so it is not one function: "
            "write it with torch.where, or give the network as a JAX function."
        )
    listed = ", ".join(f"{name} ({', '.join(dict.fromkeys(lines))})" for name, lines in places.items())
    raise InputError(
        f"there is no rule for {listed}: pass rules={{{next(iter(places))!r}: ..., ...}} with a JAX function for each, "
        "or give the network as a JAX function."
    )


def _inputs(program: Any) -> tuple[dict[str, str], dict[str, np.ndarray], set[str]]:
    """By node the name of what it stands for, by name the arrays, and the names of those that were trained.

    Parameters that were frozen count as constants, unless all of them were.
    """
    from torch.export.graph_signature import InputKind

    used = {node.name for node in program.graph.nodes if node.op == "placeholder" and node.users}
    names, tensors, parameters = {}, {}, set()
    for spec in program.graph_signature.input_specs:
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR) and spec.arg.name in used:
            names[spec.arg.name] = spec.target
            tensors[spec.target] = program.state_dict.get(spec.target, program.constants.get(spec.target))
            parameters |= {spec.target} if spec.kind == InputKind.PARAMETER else set()
    trained = {name for name in parameters if tensors[name].requires_grad} or parameters
    return names, {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}, trained


def _walker(graph: Any, table: Mapping[str, Rule], names: Mapping[str, str], own: Any) -> Callable[..., Array]:
    """A function of the arrays by name, the points and the precision to work in, which stands for the module's `own`."""
    import torch
    from torch.fx.node import map_arg

    steps = [(node, _rule(node, table)) for node in graph.nodes if node.op == "call_function"]
    (points,) = (node for node in graph.nodes if node.op == "placeholder" and node.name not in names and node.users)
    placeholders = [node for node in graph.nodes if node.name in names]
    result = graph.output_node().args[0][-1]

    def walk(inputs: Mapping[str, Any], x: Any, dtype: Any) -> Any:
        def plain(value: Any) -> Any:
            if isinstance(value, torch.dtype):
                return np.dtype(dtype if value == own else str(value).removeprefix("torch."))
            return [plain(v) for v in value] if isinstance(value, list | tuple) else value

        values = {node: in_precision(inputs[names[node.name]], dtype) for node in placeholders}
        values[points] = x
        for node, rule in steps:
            arguments = plain(map_arg(_arguments(node), values.__getitem__))
            options = {k: plain(v) for k, v in map_arg(node.kwargs, values.__getitem__).items() if k not in PLACEMENT}
            if _name(node).removeprefix("aten.") in CREATION:
                options["dtype"] = plain(node.meta["val"].dtype)
            values[node] = _applied(rule, node, arguments, options)
        return jnp.asarray(values[result], dtype)

    return walk


def _applied(rule: Any, node: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
    try:
        return rule(*arguments, **options)
    except InputError:
        raise
    except Exception as error:
        where = _place(node)
        raise InputError(
            f"the rule for {_name(node)} ({where}) fails ({_first_line(error)}): pass rules={{{_name(node)!r}: ...}} "
            "with a JAX function, or give the network as a JAX function."
        ) from error


def _arguments(node: Any) -> Any:
    """What is squeezed is what had length 1 when it was recorded: a single point has it along the first axis too."""
    if _name(node) != "aten.squeeze":
        return node.args
    shape = node.args[0].meta["val"].shape
    asked = node.args[1] if len(node.args) > 1 else range(len(shape))
    asked = [i % len(shape) for i in ([asked] if isinstance(asked, int) else asked)]
    return node.args[0], [i for i in asked if isinstance(shape[i], int) and shape[i] == 1]


def _try(function: Callable[..., Any], parameters: Mapping[str, np.ndarray], dimension: int) -> None:
    """Run it without computing anything, so that what fails does so here."""
    with jax.enable_x64(True):
        dtype = next((p.dtype for p in parameters.values()), np.dtype(np.float32))
        jax.eval_shape(function, parameters, np.zeros(dimension, dtype))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what PyTorch warns, logs and prints while it records: what matters of it is in our messages."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
