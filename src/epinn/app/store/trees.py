"""Trees of epinn's own modules as safetensors files: arrays as tensors, structure as JSON. Nothing in them is executed."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from ...derivatives.activation import ACTIVATIONS, Activation
from ...errors import InputError
from ...interop.network.program import KIND as DIGESTS_BEGIN
from ...interop.network.program import Program
from ..plan.plain import parse_json
from .files import ELSEWHERE, damaged, read_whole, write_atomically
from .registry import FORMAT, class_of, name_of
from .seal import BLANK, ENTRY, SEALED, Damaged, is_intact, sealed


def save_tree(tree: Any, path: Path) -> None:
    """Write a tree of epinn modules, tuples, dicts, numbers and arrays."""
    tensors: dict[str, np.ndarray] = {}
    structure = _pack(tree, tensors)
    metadata = {"epinn": json.dumps(structure), "format": str(FORMAT), ENTRY: BLANK}
    write_atomically(path, sealed(to_bytes(tensors, metadata=metadata)))


def load_tree(path: Path, programs: Iterable[Program] = (), remedy: str = ELSEWHERE) -> Any:
    """The tree that `save_tree` wrote, in this version or an earlier one; `remedy` is what to do if the file is damaged.

    A file does not hold the functions of a network that was trained elsewhere; `programs` brings them.
    """
    try:
        intact = is_intact(read_whole(path))
        if intact is False:
            raise damaged(path, remedy)
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if "epinn" not in metadata:
                raise InputError("it has no structure of epinn's")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
        written_as = _format(metadata.get("format", "1"))
        if written_as >= SEALED and intact is None:
            raise damaged(path, remedy)
        reader = _Reader(written_as, tensors, {program.digest: program for program in programs})
        return reader.unpack(parse_json(metadata["epinn"]))
    except Damaged:
        raise
    except InputError as error:
        raise InputError(f"{path} cannot be read: {str(error).rstrip('.')}.") from None
    except (OSError, SafetensorError, LookupError, TypeError, ValueError, AttributeError) as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        raise InputError(
            f"{path} is damaged, or not a file written by epinn ({type(error).__name__}: {reason}); {remedy}."
        ) from None


def _format(text: str) -> int:
    """The format of a file, if this version can read it."""
    number = int(text) if text.isdecimal() else 0
    if number > FORMAT:
        raise InputError(f"a newer version of epinn wrote it, in format {number}; update epinn to read it")
    if number < 1:
        raise InputError(f"its format is {text!r}, which no version of epinn writes")
    return number


def _pack(node: Any, tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    """The structure of a tree as plain data; its arrays go into `tensors`."""
    if eqx.is_array(node) or isinstance(node, np.ndarray):
        name = f"{len(tensors):04d}"
        tensors[name] = np.array(node, order="C")
        return {"array": name}
    if isinstance(node, Activation):
        return {"activation": node.name}
    if isinstance(node, Program):
        return {"program": node.digest}
    if isinstance(node, eqx.Module) and name_of(type(node)) is not None:
        content = {field.name: _pack(getattr(node, field.name), tensors) for field in fields(node)}
        return {"module": name_of(type(node)), "content": content}
    if isinstance(node, tuple | list):
        return {"tuple": [_pack(child, tensors) for child in node]}
    if isinstance(node, dict):
        return {"dict": {key: _pack(child, tensors) for key, child in node.items()}}
    if node is None or isinstance(node, bool | int | float | str):
        return {"value": node}
    raise InputError(f"a {type(node).__name__} cannot be stored in a file; only epinn's own networks can.")


@dataclass(frozen=True)
class _Reader:
    """What is needed to make a tree again from its structure: the file's format and arrays, and functions from outside."""

    written_as: int
    tensors: Mapping[str, np.ndarray]
    programs: Mapping[str, Program]

    def unpack(self, node: Mapping[str, Any]) -> Any:
        ((kind, content),) = [(k, v) for k, v in node.items() if k != "content"]
        if kind == "array":
            return jnp.asarray(self.tensors[content])
        if kind == "activation":
            return ACTIVATIONS[content]
        if kind == "program":
            return self._program(content)
        if kind == "tuple":
            return tuple(self.unpack(child) for child in content)
        if kind == "dict":
            return {key: self.unpack(child) for key, child in content.items()}
        if kind == "value":
            return content
        if kind == "module":
            return self._module(content, {key: self.unpack(child) for key, child in node["content"].items()})
        raise InputError(f"its structure has {kind!r} where a value is expected")

    def _program(self, digest: str) -> Program:
        if digest in self.programs:
            return self.programs[digest]
        if not digest.startswith(DIGESTS_BEGIN):
            raise InputError(
                "it belongs to a network that was trained elsewhere, and was written by an older epinn: attach again"
            )
        other = "this is not that network" if self.programs else "the network is needed to read it: pass it as model=..."
        raise InputError(f"it belongs to a network that was trained elsewhere, and {other}")

    def _module(self, name: Any, content: Mapping[str, Any]) -> eqx.Module:
        found = class_of(name, self.written_as)
        known = {field.name for field in fields(found)}
        needed = {field.name for field in fields(found) if field.default is MISSING and field.default_factory is MISSING}
        if not needed <= set(content) <= known:
            raise InputError(
                f"its {name!r} has the parts {sorted(content)}, and this version of epinn knows {sorted(known)}; "
                "compute it again, or read it with the version that wrote it"
            )
        return found(**content)
