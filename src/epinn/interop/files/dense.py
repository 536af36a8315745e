"""Dense layers from weights by name: which bias belongs to which weight, and in which order the layers come."""

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Shaped

from ...derivatives.activation import ACTIVATIONS
from ...derivatives.network import MLP
from ...errors import InputError, shown, unknown_name

EXAMPLE = "2x32x32x1:tanh"
LONG = 300  # characters of a list in a message


@dataclass(frozen=True)
class Layer:
    """A dense layer. `text` is the name of its weight without its numbers: layers of one text are numbered."""

    name: str
    weight: Float[np.ndarray, "fan_out fan_in"]
    bias: Float[np.ndarray, " fan_out"] | None

    @property
    def text(self) -> str:
        return re.sub(r"\d+", "#", self.name)

    @property
    def numbers(self) -> tuple[int, ...]:
        return _numbers(self.name)


@dataclass(frozen=True)
class DenseLayers:
    """A network of dense layers in the precision of its file, which JAX may not be in."""

    weights: tuple[Float[np.ndarray, "_ _"], ...]
    biases: tuple[Float[np.ndarray, " _"], ...]
    activation: str

    @property
    def parameters(self) -> tuple[Any, ...]:
        return self.weights, self.biases

    def network(self) -> MLP:
        """The network in the precision that JAX is in."""
        weights, biases = (tuple(jnp.asarray(array, float) for array in part) for part in self.parameters)
        return MLP(weights, biases, ACTIVATIONS[self.activation])


def dense_layers(
    arrays: Mapping[str, Shaped[np.ndarray, "..."]], architecture: str | None, path: Path, in_order: bool
) -> DenseLayers:
    """A network of dense layers; `in_order` says whether the arrays come in the order in which the layers were defined."""
    listed = _shortened(", ".join(f"{name} {array.shape}" for name, array in arrays.items()))
    layers = _layers(arrays, in_order)
    if architecture is None:
        hint = _suggested(layers or (), in_order, listed)
        raise InputError(f"{path} holds weights without an architecture: add architecture={EXAMPLE!r}; {hint}.")
    sizes, activation = _described(architecture)
    chain = None if layers is None else _chain(layers, sizes, in_order, path)
    if chain is None:
        raise InputError(
            f"{path} does not hold dense layers of sizes {_shortened('x'.join(map(str, sizes)))}: it has {listed}."
        )
    biases = [np.zeros(len(layer.weight), layer.weight.dtype) if layer.bias is None else layer.bias for layer in chain]
    return DenseLayers(tuple(layer.weight for layer in chain), tuple(biases), activation)


def _layers(arrays: Mapping[str, Shaped[np.ndarray, "..."]], in_order: bool) -> list[Layer] | None:
    """The layers in the order of the file; None where some array is no part of a dense layer."""
    weights = [name for name, array in arrays.items() if array.ndim == 2 and np.issubdtype(array.dtype, np.floating)]
    biases = [name for name, array in arrays.items() if array.ndim == 1 and np.issubdtype(array.dtype, np.floating)]
    if not weights or len(weights) + len(biases) < len(arrays):
        return None
    pairs = _paired(weights, biases, in_order)
    if pairs is None:
        return None
    layers = [Layer(name, _upright(name, arrays[name]), arrays[pairs[name]] if name in pairs else None) for name in weights]
    fits = all(layer.bias is None or len(layer.bias) == len(layer.weight) for layer in layers)
    return layers if fits else None


def _paired(weights: Sequence[str], biases: Sequence[str], in_order: bool) -> dict[str, str] | None:
    """The bias of each weight that has one: that of the same layer, or with the same numbers, or in the same place."""
    if not biases:
        return {}
    for key in (_layer_name, _numbers):
        found = {key(name): name for name in biases}
        if len(found) == len(biases) and len({key(name) for name in weights}) == len(weights):
            pairs = {name: found[key(name)] for name in weights if key(name) in found}
            if len(pairs) == len(biases):
                return pairs
    return dict(zip(weights, biases, strict=True)) if in_order and len(weights) == len(biases) else None


def _chain(layers: Sequence[Layer], sizes: Sequence[int], in_order: bool, path: Path) -> list[Layer] | None:
    """The layers from input to output; None where their shapes do not allow it. More than one way is refused."""
    wanted = [(fan_out, fan_in) for fan_in, fan_out in itertools.pairwise(sizes)]
    if sorted(layer.weight.shape for layer in layers) != sorted(wanted):
        return None
    numbered = _numbered(layers)
    if numbered is not None and not _fits(numbered, wanted):
        return None  # numbers that contradict the shapes
    file_counts = in_order and _fits(layers, wanted)
    alike: defaultdict[tuple[int, ...], list[Layer]] = defaultdict(list)
    for layer in layers:
        alike[layer.weight.shape].append(layer)
    ordered = {shape: iter(_ordered(group, file_counts, path)) for shape, group in alike.items()}
    return [next(ordered[shape]) for shape in wanted]


def _fits(layers: Sequence[Layer], wanted: Sequence[tuple[int, ...]]) -> bool:
    return [layer.weight.shape for layer in layers] == list(wanted)


def _ordered(group: Sequence[Layer], file_counts: bool, path: Path) -> Sequence[Layer]:
    """Layers of one shape in the order of the file, if it is known, and of their numbers, if they have any."""
    orders = [[layer.name for layer in group]] if file_counts or len(group) == 1 else []
    if (numbered := _numbered(group)) is not None:
        orders.append([layer.name for layer in numbered])
    if not orders or orders[0] != orders[-1]:
        names = ", ".join(layer.name for layer in group)
        raise InputError(
            f"the layers in {path} are ambiguous: {names} have the same shape, and their order cannot be told from the file. "
            "Give the module that the weights belong to, architecture=MyNetwork(), or number the names from input to output."
        )
    by_name = {layer.name: layer for layer in group}
    return [by_name[name] for name in orders[0]]


def _suggested(layers: Sequence[Layer], in_order: bool, listed: str) -> str:
    """What the shapes say of the sizes, where the order of the layers is known and they make a chain in it."""
    chain = _numbered(layers) or (layers if in_order else ())
    if chain and all(a.weight.shape[0] == b.weight.shape[1] for a, b in itertools.pairwise(chain)):
        sizes = [chain[0].weight.shape[1], *(len(layer.weight) for layer in chain)]
        return f"its shapes suggest {'x'.join(map(str, sizes))}"
    return f"it has {listed}"


def _numbered(layers: Sequence[Layer]) -> list[Layer] | None:
    """The layers by their numbers, where their names differ in nothing else."""
    return sorted(layers, key=lambda layer: layer.numbers) if len({layer.text for layer in layers}) == 1 else None


def _shortened(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def _layer_name(name: str) -> str:
    """What stands before `.weight` or `/kernel`."""
    return re.sub(r"(^|[./])[^./]*$", "", name)


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", name))


def _upright(name: str, weight: Float[np.ndarray, "a b"]) -> Float[np.ndarray, "fan_out fan_in"]:
    """As outputs times inputs; Flax and Keras store `kernel` the other way round."""
    return weight.T if re.search(r"(^|[./])kernel$", name) else weight


def _described(architecture: str) -> tuple[tuple[int, ...], str]:
    sizes, _, activation = architecture.partition(":")
    try:
        numbers = tuple(int(part) for part in sizes.replace(",", "x").split("x"))
    except ValueError:
        numbers = ()
    if len(numbers) < 2 or min(numbers) < 1:
        raise InputError(
            "an architecture is sizes from input to output and an activation, as in "
            f"architecture={EXAMPLE!r}; got {shown(architecture)}."
        )
    activation = activation or "tanh"
    if activation not in ACTIVATIONS:
        raise unknown_name("activation", activation, ACTIVATIONS)
    return numbers, activation
