"""Files with networks, read as data. What can run code when it is opened is not opened, unless the user says so."""

import copy
import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped
from safetensors import SafetensorError, deserialize

from ...errors import InputError, one_line
from ..rules.torch import Rule
from ..torch.source import import_torch
from .dense import EXAMPLE, dense_layers
from .torch_file import read as read_torch

TYPES = {  # safetensors' names of NumPy's types; bfloat16, which NumPy does not have, is read by its bits
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "?"},
    **{f"{kind.upper()}{8 * size}": f"<{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)},
}


def read(path: Path, architecture: Any = None, trust_file: bool = False, rules: Mapping[str, Rule] | None = None) -> Any:
    """What a file holds: dense layers, a PyTorch module, or what an ONNX file was converted to.

    `architecture`, for files with weights alone, is a text ("2x32x32x1:tanh") or a PyTorch module. `trust_file` allows
    files that can run code when they are opened. `rules` are for operators of ONNX that epinn does not know.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    if path.suffix == ".onnx":
        from ..onnx.graph import convert

        return convert(path, rules)
    if path.suffix == ".mdlus":
        return _physicsnemo(path)
    is_safetensors = path.suffix == ".safetensors"
    weights = _safetensors(path) if is_safetensors else read_torch(path, trust_file)
    if not isinstance(weights, Mapping):
        return weights  # a whole module, from a file that is trusted
    arrays = {name: _as_numpy(value) for name, value in weights.items()}
    if architecture is not None and not isinstance(architecture, str):
        return _filled(architecture, arrays, path)
    return dense_layers(arrays, architecture, path, in_order=not is_safetensors)


def _safetensors(path: Path) -> dict[str, Shaped[np.ndarray, "..."]]:
    """The arrays of a file by name: the order in which they were defined is not in it."""
    try:
        found = {}
        entries = deserialize(path.read_bytes())  # type: ignore[no-untyped-call]  # it comes without types
        for name, entry in sorted(entries, key=operator.itemgetter(0)):
            array = np.frombuffer(entry["data"], TYPES[entry["dtype"]]).reshape(entry["shape"])
            is_half = entry["dtype"] == "BF16"  # the upper half of a float32
            found[name] = (array.astype(np.uint32) << 16).view(np.float32) if is_half else array
        return found
    except KeyError as error:
        raise InputError(f"{path} has tensors of type {error.args[0]}: save them as float32 or float64.") from None
    except (OSError, SafetensorError, ValueError) as error:
        raise InputError(f"{path} is damaged, or no safetensors file ({one_line(error)}): copy or save it again.") from None


def _physicsnemo(path: Path) -> Any:
    import_torch()
    from ..torch.physicsnemo_file import read as read_physicsnemo

    return read_physicsnemo(path)


def _as_numpy(value: Any) -> Shaped[np.ndarray, "..."]:
    """An array in single or double precision; half precision is part of single precision."""
    if not isinstance(value, np.ndarray):
        value = value.detach().cpu()
        is_half = value.is_floating_point() and value.element_size() < 4
        value = (value.float() if is_half else value).numpy()
    array: Shaped[np.ndarray, ...] = value
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _filled(module: Any, weights: Mapping[str, Shaped[np.ndarray, "..."]], path: Path) -> Any:
    """A PyTorch module with these weights; the user's own is left as it is."""
    if not hasattr(module, "load_state_dict"):
        raise InputError(f"the architecture of {path} is a text such as {EXAMPLE!r}, or a torch.nn.Module; got {module!r}.")
    torch, module = import_torch(), copy.deepcopy(module)
    tensors = {name: torch.tensor(value) for name, value in weights.items()}
    floating = {tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()}
    if len(floating) == 1:
        module = module.to(floating.pop())
    try:
        module.load_state_dict(tensors)
    except RuntimeError as error:
        raise InputError(f"the weights in {path} do not belong to this module: {one_line(error)}") from None
    return module.eval()
