"""Files with networks, read as data. What can run code when it is opened is not opened, unless the user says so."""

import copy
import itertools
import pickle
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from ...derivatives.activation import ACTIVATIONS
from ...derivatives.network import MLP
from ...errors import InputError, unknown_name
from ..torch.source import import_torch

NESTED = ("model_state_dict", "state_dict", "model")  # where checkpoints of DeepXDE, Lightning and others keep their weights
EXAMPLE = "architecture='2x32x32x1:tanh'"


def read(path: Path, architecture: Any = None, trust_file: bool = False) -> Any:
    """A network of ours, or something that a converter takes: a PyTorch module, or what an ONNX file was converted to."""
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    if path.suffix == ".onnx":
        from ..onnx.graph import convert

        return convert(path)
    if path.suffix == ".mdlus":
        return _physicsnemo(path)
    weights = _safetensors(path) if path.suffix == ".safetensors" else _torch_file(path, trust_file)
    if not isinstance(weights, Mapping):
        return weights  # a whole module, from a file that is trusted
    if architecture is not None and not isinstance(architecture, str):
        return _filled(architecture, weights, path)
    return _mlp({name: _as_numpy(value) for name, value in weights.items()}, architecture, path)


def _safetensors(path: Path) -> dict[str, np.ndarray]:
    try:
        return load_file(path)
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise InputError(f"{path} cannot be read as safetensors ({error}).") from None


def _physicsnemo(path: Path) -> Any:
    import_torch()
    from ..torch.physicsnemo_file import read as read_physicsnemo

    return read_physicsnemo(path)


def _torch_file(path: Path, trust_file: bool) -> Any:
    """The weights in a file of PyTorch's; with trust, whatever is in it."""
    kind = _risky_kind(path)
    if kind is not None and not trust_file:
        raise _refusal(path, kind)
    torch = import_torch()
    try:
        if kind is not None:
            return (torch.jit.load if kind == "a TorchScript program" else _exported)(str(path))
        content = torch.load(path, map_location="cpu", weights_only=not trust_file)
    except pickle.UnpicklingError:
        raise _refusal(path, "pickled Python objects") from None
    except Exception as error:  # whatever is thrown at a damaged file
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(f"{path} cannot be read as a file of PyTorch's ({type(error).__name__}: {reason}).") from None
    return _weights_in(content, path) if isinstance(content, Mapping) else content


def _exported(path: str) -> Any:
    module = import_torch().export.load(path).module()
    for name in ("train", "eval"):  # a program has one mode, and refuses to be asked for another
        vars(module).pop(name, None)
    return module


def _risky_kind(path: Path) -> str | None:
    """What a file would run when it is opened, told from the names in its archive alone."""
    if not zipfile.is_zipfile(path):
        return "an exported program" if path.suffix == ".pt2" else None
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(re.search(r"(^|/)code/", name) or name.endswith("constants.pkl") for name in names) and path.suffix != ".pt2":
        return "a TorchScript program"
    is_exported = any(name.endswith(("archive_format", "serialized_exported_program.json")) for name in names)
    return "an exported program" if is_exported or path.suffix == ".pt2" else None


def _refusal(path: Path, kind: str) -> InputError:
    return InputError(
        f"{path} holds {kind}, which can run any code when opened, so it was not opened. Save the weights alone, "
        "torch.save(model.state_dict(), 'weights.pt'), or export the network by torch.onnx.export; or, if you trust whoever "
        "made the file as you would trust a program of theirs, pass trust_file=True (--trust-file)."
    )


def _weights_in(content: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The state dict, also where a checkpoint holds it beside other things."""
    inner = next((content[name] for name in NESTED if isinstance(content.get(name), Mapping)), content)
    if not inner or not all(hasattr(value, "shape") for value in inner.values()):
        raise InputError(f"{path} holds no state dict: a mapping from names to tensors was expected.")
    return inner


def _as_numpy(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else value.detach().cpu().numpy()


def _filled(module: Any, weights: Mapping[str, Any], path: Path) -> Any:
    """A PyTorch module with these weights; the user's own is left as it is."""
    if not hasattr(module, "load_state_dict"):
        raise InputError(f"the architecture of {path} is a text such as {EXAMPLE[13:]}, or a torch.nn.Module; got {module!r}.")
    torch, module = import_torch(), copy.deepcopy(module)
    tensors = {name: torch.as_tensor(value) for name, value in weights.items()}
    floating = {tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()}
    if len(floating) == 1:
        module = module.to(floating.pop())
    try:
        module.load_state_dict(tensors)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the weights in {path} do not belong to this module: {reason}") from None
    return module.eval()


def _mlp(arrays: Mapping[str, np.ndarray], architecture: str | None, path: Path) -> MLP:
    """Dense layers, from weights in the order of their names."""
    names = sorted(arrays, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])
    weights = [_upright(name, arrays[name]) for name in names if arrays[name].ndim == 2]
    biases = [arrays[name] for name in names if arrays[name].ndim == 1]
    found = "x".join(str(n) for n in [*(w.shape[1] for w in weights), *(w.shape[0] for w in weights[-1:])])
    if architecture is None:
        raise InputError(f"{path} holds weights without an architecture: add {EXAMPLE}; its shapes suggest {found}.")
    sizes, activation = _described(architecture)
    shapes = [(fan_out, fan_in) for fan_in, fan_out in itertools.pairwise(sizes)]
    left_over = len(arrays) - len(weights) - len(biases)
    if [w.shape for w in weights] != shapes or [b.shape[0] for b in biases] not in ([], list(sizes[1:])) or left_over:
        listed = ", ".join(f"{name} {arrays[name].shape}" for name in names)
        raise InputError(f"{path} does not hold dense layers of sizes {'x'.join(map(str, sizes))}: it has {listed}.")
    biases = biases or [np.zeros(n, weights[0].dtype) for n in sizes[1:]]
    return MLP(tuple(weights), tuple(biases), ACTIVATIONS[activation])  # type: ignore[arg-type]  # JAX arrays later


def _upright(name: str, weight: np.ndarray) -> np.ndarray:
    """As outputs times inputs; Flax and Keras store `kernel` the other way round."""
    return weight.T if name.rpartition(".")[2] == "kernel" or name.rpartition("/")[2] == "kernel" else weight


def _described(architecture: str) -> tuple[tuple[int, ...], str]:
    sizes, _, activation = architecture.partition(":")
    try:
        numbers = tuple(int(part) for part in sizes.replace(",", "x").split("x"))
    except ValueError:
        numbers = ()
    if len(numbers) < 2 or min(numbers) < 1:
        raise InputError(
            f"an architecture is sizes from input to output and an activation, as in {EXAMPLE}; got {architecture!r}."
        )
    activation = activation or "tanh"
    if activation not in ACTIVATIONS:
        raise unknown_name("activation", activation, ACTIVATIONS)
    return numbers, activation
