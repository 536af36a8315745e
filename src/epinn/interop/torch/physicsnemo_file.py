"""PhysicsNeMo's `.mdlus` files: a state dict and the arguments of a model, read as data. Fully connected networks only."""

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ...errors import InputError, unknown_name
from ..archive import refuse_bomb

ACTIVATIONS: dict[str, Any] = {
    "identity": lambda x: x,
    "sin": torch.sin,
    "squareplus": lambda x: 0.5 * (x + torch.sqrt(x * x + 4)),
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.1),
    **{name: getattr(functional, name) for name in ("relu", "relu6", "elu", "celu", "selu", "silu", "gelu", "sigmoid")},
    **{name: getattr(functional, name) for name in ("logsigmoid", "softplus", "softsign", "tanh", "tanhshrink", "hardtanh")},
}


def read(path: Path | str) -> nn.Module:
    """The network in a file, with its weights."""
    try:
        content = _members(Path(path))
        described = json.loads(content["args.json"])
        weights = torch.load(io.BytesIO(content["model.pt"]), map_location="cpu", weights_only=True)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is not a model that PhysicsNeMo has saved as weights and arguments alone.") from error
    if described.get("__name__") != "FullyConnected":
        raise InputError(
            f"{path} holds a {described.get('__name__')}: of PhysicsNeMo's models only FullyConnected can be read."
        )
    try:
        return FullyConnected(described["__args__"], weights)
    except KeyError as error:
        raise InputError(f"{path} lacks {error.args[0]!r}, which a FullyConnected has.") from error


def _members(path: Path) -> dict[str, bytes]:
    """The two files in it. Older ones are tar archives, with the weights inside as a zip archive."""
    names = ("args.json", "model.pt")
    if tarfile.is_tarfile(path):
        with tarfile.open(path, "r:") as archive:  # as it is: a packed one may get larger than the memory
            entries = {Path(entry.name).name: entry for entry in archive.getmembers() if entry.isfile()}
            return {name: archive.extractfile(entries[name]).read() for name in names}  # type: ignore[union-attr]
    with zipfile.ZipFile(path) as archive:
        refuse_bomb(path, archive)
        return {name: archive.read(name) for name in names}


class FullyConnected(nn.Module):
    """Dense layers of one size, every second with a skip connection if asked for, and a linear last layer."""

    def __init__(self, arguments: Mapping[str, Any], weights: Mapping[str, torch.Tensor]):
        super().__init__()
        names = arguments.get("activation_fn", "silu")
        names = [names] if isinstance(names, str) else list(names)
        count = arguments.get("num_layers", 6)
        names = (names + [names[-1]] * count)[:count]
        for name in names:
            if name.lower() not in ACTIVATIONS:
                raise unknown_name("activation", name, ACTIVATIONS)
        self.activations = [ACTIVATIONS[name.lower()] for name in names]
        self.skips = bool(arguments.get("skip_connections", False))
        slope = weights["layers.0.activation_par"] if arguments.get("adaptive_activations") else None
        self.slope = None if slope is None else nn.Parameter(slope)
        self.layers = nn.ModuleList(Dense(weights, f"layers.{i}.linear.") for i in range(count))
        self.last = Dense(weights, "final_layer.linear.")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = None
        for i, (layer, activation) in enumerate(zip(self.layers, self.activations, strict=True)):
            x = layer(x)
            x = activation(x if self.slope is None else self.slope * x)
            if self.skips and i % 2 == 0:
                x, before = (x if before is None else x + before), x
        return self.last(x)


class Dense(nn.Module):
    """A dense layer; its weight may be stored as direction and length, or as a product with one factor for each row."""

    weight: torch.Tensor
    weight_g: torch.Tensor
    g: torch.Tensor
    v: torch.Tensor
    bias: torch.Tensor

    def __init__(self, weights: Mapping[str, torch.Tensor], prefix: str):
        super().__init__()
        kinds = (("weight", "weight_g"), ("g", "v"), ("weight",))
        self.kind = next((kind for kind in kinds if all(prefix + name in weights for name in kind)), ("weight",))
        for name in (*self.kind, "bias"):
            self.register_parameter(name, nn.Parameter(weights[prefix + name]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.weight if "weight" in self.kind else self.g * self.v
        if "weight_g" in self.kind:
            weight = self.weight_g * weight / weight.norm(dim=1, keepdim=True)
        return functional.linear(x, weight, self.bias)
