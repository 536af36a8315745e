"""Any network that was trained elsewhere as a base PINN."""

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxtyping import PRNGKeyArray

from ..derivatives.network import AbstractNetwork, Solution
from ..derivatives.units import Units
from ..errors import InputError, shown, unknown_name
from ..problem.problem import Problem
from ..solve.config import Base
from ..solve.pinn import Pinn, estimated_channels
from .advice import misfit_warnings
from .converted import Converted
from .files.dense import DenseLayers
from .torch.frameworks import torch_module_of

KNOWN = (
    "a JAX function, an Equinox, Flax (linen: with its variables), nnx or Keras model, a PyTorch module, a DeepXDE or PINA "
    "model, or the path of an .onnx, .safetensors or state-dict file"
)


# longer than forty lines for its signature and the description of its arguments
def adopt(
    model: Any,
    problem: Problem,
    *,
    features: Any = None,
    rules: Mapping[str, Any] | None = None,
    architecture: Any = None,
    trust_file: bool = False,
    unknowns: Mapping[str, float] | None = None,
    base: Base = Base(),
    key: PRNGKeyArray | int = 0,
) -> Pinn:
    """A network that was trained elsewhere as a base PINN, checked against the framework it comes from.

    **Arguments:**

    - `model`: a PyTorch module, a model of DeepXDE, PINA, Equinox, Flax, Haiku or Keras, a JAX function (with its
        parameters, as `(function, parameters)`), or the path of a file.
    - `problem`: what the network solves.
    - `features`: what the paper's epinet sees of the network: the name of a PyTorch layer, whose input is taken, or a JAX
        function of one point. By default it is what goes into the last layer.
    - `rules`: JAX functions, by name, for operators of PyTorch or ONNX that epinn does not know.
    - `architecture`: of a file with weights alone: a text such as "2x32x32x1:tanh", or a PyTorch module.
    - `trust_file`: open a file that can run any code when it is opened.
    - `unknowns`: the values of the problem's unknown parameters that the network was trained with; otherwise its guesses.
    - `base`: settings, of which the tolerance of exact conditions and the width of the prior matter here.
    - `key`: for the collocation points.

    **Returns:** a `Pinn` for `epinn.attach`. Its `warnings` say where the network is far from solving the problem.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"a network belongs to an epinn.Problem, not to {shown(problem)}.")
    started = time.perf_counter()
    content = opened(model, architecture, trust_file, rules)
    if isinstance(content, DenseLayers) and problem.positive:
        raise InputError(
            "a network from a state dict cannot have fields that are made positive; drop positive from the problem."
        )
    network, warnings = _network(content, problem, features, rules)
    scales = dataclasses.replace(base, hard=False).scales(problem)
    scales = None if scales is None else scales.of_a_network_in_the_users_units()
    solution = _solution(problem, network, unknowns or {}, None if scales is None else scales.units)
    channels = base.channels(problem, key, scales)
    return Pinn(
        solution=solution,
        problem=problem,
        channels=estimated_channels(base, solution, problem, key, scales, trained_elsewhere=True),
        points_key=key,
        base=base,
        seconds=time.perf_counter() - started,
        warnings=[*warnings, *misfit_warnings(solution, channels, problem, unknowns or {})],
        trained_elsewhere=True,
    )


def opened(model: Any, architecture: Any = None, trust_file: bool = False, rules: Mapping[str, Any] | None = None) -> Any:
    """What is in the file, where a model is the path of one; otherwise the model itself."""
    if isinstance(model, str | Path):
        from .files.read import read

        return read(Path(model), architecture, trust_file, rules)
    if architecture is not None or trust_file:
        raise InputError("architecture and trust_file are for files; this model is an object already.")
    return model


def convert(model: Any, problem: Problem, rules: Mapping[str, Any] | None = None) -> AbstractNetwork | DenseLayers | Converted:
    """A network of ours, dense layers from a file, or a function of parameters and a point."""
    if isinstance(model, AbstractNetwork | DenseLayers | Converted):
        return model
    dimension, fields = problem.domain.dimension, len(problem.fields)
    from .jax_models import convert as convert_jax
    from .jax_models import is_keras

    found = None if is_keras(model) else torch_module_of(model, problem.domain.coordinates)
    if found is not None:
        from .torch.graph import convert as convert_torch

        return dataclasses.replace(convert_torch(found[0], dimension, rules), source=found[1])
    converted = convert_jax(model, dimension, fields)
    if converted is None:
        raise InputError(f"a {type(model).__name__} is not a network that can be imported; known are {KNOWN}.")
    return converted


def _network(model: Any, problem: Problem, features: Any, rules: Mapping[str, Any] | None) -> tuple[AbstractNetwork, list[str]]:
    """The network, and what there is to say of it."""
    from .network.check import check_shape, in_precision
    from .network.imported import imported, precision_lost

    made = convert(model, problem, rules)
    if isinstance(made, Converted):
        return imported(made, problem, _named_layer(model, features, problem, rules) if isinstance(features, str) else features)
    if features is not None:
        raise InputError("this network is one of epinn's own, whose features are known; leave features out.")
    network: AbstractNetwork = made.network() if isinstance(made, DenseLayers) else in_precision(made)
    check_shape(network, problem, "the network")
    return network, precision_lost(made.parameters if isinstance(made, DenseLayers) else made, "a file")


def _named_layer(model: Any, name: str, problem: Problem, rules: Mapping[str, Any] | None) -> Converted:
    """What goes into a layer of a PyTorch module."""
    found = torch_module_of(model, problem.domain.coordinates)
    if found is None:
        raise InputError(
            f"a layer can be named ({name!r}) in PyTorch modules only; give features as a JAX function of one point."
        )
    from .torch.graph import convert as convert_torch
    from .torch.layers import input_of

    return convert_torch(input_of(found[0], name), problem.domain.dimension, rules)


def _solution(problem: Problem, network: AbstractNetwork, unknowns: Mapping[str, float], units: Units | None) -> Solution:
    """The network with values for the unknown parameters: those given, or the problem's guesses."""
    known = problem.parameters
    for name in unknowns:
        if name not in known:
            raise unknown_name("unknown", name, known)
    guesses = {name: dataclasses.replace(known[name], guess=float(value)) for name, value in unknowns.items()}
    return dataclasses.replace(problem, unknowns=known | guesses).solution(network, units)
