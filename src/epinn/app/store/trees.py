"""Trees of epinn's own modules as safetensors files: arrays as tensors, structure as JSON. Nothing in them is executed."""

import importlib
import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from ...derivatives.activation import ACTIVATIONS, Activation
from ...errors import InputError
from ...interop.network.program import Program
from .files import write_atomically

HOME = "epinn"


def save_tree(tree: Any, path: Path) -> None:
    """Write a tree of epinn modules, tuples, dicts, numbers and arrays."""
    tensors: dict[str, np.ndarray] = {}
    structure = _pack(tree, tensors)
    write_atomically(path, to_bytes(tensors, metadata={"epinn": json.dumps(structure)}))


def load_tree(path: Path, programs: Iterable[Program] = ()) -> Any:
    """Read a tree that `save_tree` wrote. Functions that are not epinn's own are not in the file; `programs` has them."""
    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
            structure = json.loads(file.metadata()["epinn"])
        return _unpack(structure, tensors, {program.digest: program for program in programs})
    except (OSError, SafetensorError, LookupError, TypeError, ValueError, AttributeError, ImportError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a file written by epinn ({type(error).__name__}: {error}).") from None


def _pack(node: Any, tensors: dict[str, np.ndarray]) -> Any:
    if eqx.is_array(node) or isinstance(node, np.ndarray):
        name = f"{len(tensors):04d}"
        tensors[name] = np.array(node, order="C")
        return {"array": name}
    if isinstance(node, Activation):
        return {"activation": node.name}
    if isinstance(node, Program):
        return {"program": node.digest}
    if isinstance(node, eqx.Module) and type(node).__module__.startswith(f"{HOME}."):
        content = {field.name: _pack(getattr(node, field.name), tensors) for field in fields(node)}
        return {"module": f"{type(node).__module__.removeprefix(HOME)}:{type(node).__qualname__}", "content": content}
    if isinstance(node, tuple | list):
        return {"tuple": [_pack(child, tensors) for child in node]}
    if isinstance(node, dict):
        return {"dict": {key: _pack(child, tensors) for key, child in node.items()}}
    if node is None or isinstance(node, bool | int | float | str):
        return {"value": node}
    raise InputError(f"a {type(node).__name__} cannot be stored in a file; only epinn's own networks can.")


def _unpack(node: dict[str, Any], tensors: dict[str, np.ndarray], programs: dict[str, Program]) -> Any:
    ((kind, content),) = [(k, v) for k, v in node.items() if k != "content"]
    if kind == "array":
        return jnp.asarray(tensors[content])
    if kind == "activation":
        return ACTIVATIONS[content]
    if kind == "program":
        if content not in programs:
            raise InputError("the file belongs to a network that was trained elsewhere, which is needed to read it.")
        return programs[content]
    if kind == "tuple":
        return tuple(_unpack(child, tensors, programs) for child in content)
    if kind == "dict":
        return {key: _unpack(child, tensors, programs) for key, child in content.items()}
    if kind == "value":
        return content
    module, _, name = content.partition(":")
    if not module.startswith(".") or module.startswith(".."):
        raise InputError("the file names a class that is not epinn's own.")
    found = getattr(importlib.import_module(module, HOME), name)
    if not (isinstance(found, type) and issubclass(found, eqx.Module)):
        raise InputError(f"the file names {content!r}, which is no module of epinn's.")
    return found(**{key: _unpack(child, tensors, programs) for key, child in node["content"].items()})
