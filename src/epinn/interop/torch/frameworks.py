"""Where in the objects of other PINN libraries the PyTorch module is. None of these libraries is imported here."""

import inspect
import sys
from collections.abc import Sequence
from typing import Any

from ...errors import InputError

WRAPPERS = {"OptimizedModule": "_orig_mod", "DataParallel": "module", "DistributedDataParallel": "module"}
LIBRARIES = {"deepxde": "DeepXDE", "pina": "PINA", "physicsnemo": "PhysicsNeMo", "modulus": "PhysicsNeMo"}


def torch_module_of(obj: Any, coordinates: Sequence[str] | None = None) -> tuple[Any, str] | None:
    """The PyTorch module in a model and the library it comes from, or None where there is none.

    `coordinates` are the names of the columns in the order in which they will come. Networks that ask for columns by name
    (PINA) need them where their own problem is not at hand, or has another order; so do networks called as net(x, t).
    """
    library = _library(obj)
    if library == "DeepXDE":
        return _of_deepxde(obj), library
    if "torch" not in sys.modules:
        return None
    import torch

    if library == "PINA" and isinstance(obj, torch.nn.Module):
        return _of_pina(obj, coordinates), library
    if not isinstance(obj, torch.nn.Module):
        return None
    module = _unwrapped(obj)
    if isinstance(module, torch.jit.ScriptModule):
        raise InputError("a TorchScript module cannot be looked into: give the module that it was made from.")
    if _asks_by_name(module):
        return _with_labels(module, coordinates, coordinates), "PINA"
    return _with_one_input(module, coordinates or ()), _library(module) or "PyTorch"


def _library(obj: Any) -> str | None:
    """By the modules in which the object's classes were written."""
    roots = [kind.__module__.split(".")[0] for kind in type(obj).__mro__]
    return next((LIBRARIES[root] for root in roots if root in LIBRARIES), None)


def _of_deepxde(model: Any) -> Any:
    """The network, whose forward contains its input and output transforms (a file saved by DeepXDE does not)."""
    network = getattr(model, "net", model)
    if "torch" in sys.modules:
        import torch

        if isinstance(network, torch.nn.Module):
            return _unwrapped(network)
    raise InputError(f"a DeepXDE {type(model).__name__} of another backend cannot be imported: only PyTorch's can be.")


def _of_pina(obj: Any, coordinates: Sequence[str] | None) -> Any:
    """A solver's model, with the names of its problem's variables, or a model by itself."""
    problem = getattr(obj, "problem", None)
    if problem is None:
        return _with_labels(obj, coordinates, coordinates) if _asks_by_name(obj) else _unwrapped(obj)
    model = getattr(obj, "model", None)
    if model is None:
        raise InputError(f"a PINA {type(obj).__name__} has several models: give one of solver.models.")
    labels = list(problem.input_variables)
    return _with_labels(_unwrapped(model), labels, coordinates or labels)


def _with_labels(module: Any, labels: Sequence[str] | None, coordinates: Sequence[str] | None) -> Any:
    if labels is None or coordinates is None:
        raise InputError(
            "the network asks for its inputs by name (x.extract), and their names are not known: "
            "give PINA's solver, whose problem has them."
        )
    if sorted(labels) != sorted(coordinates):
        raise InputError(f"the network is for {', '.join(labels)}, and the problem for {', '.join(coordinates)}.")
    from .columns import Labelled

    return Labelled(module, tuple(labels), tuple(coordinates))


def _with_one_input(module: Any, coordinates: Sequence[str]) -> Any:
    """A module that takes as many arguments as there are coordinates gets one each: by their names, or else in their order."""
    names = _required_arguments(module)
    if len(names) < 2 or len(names) != len(coordinates):
        return module
    from .columns import Separate

    by_name = sorted(names) == sorted(coordinates)
    return Separate(module, [list(coordinates).index(name) if by_name else i for i, name in enumerate(names)])


def _required_arguments(module: Any) -> list[str]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        arguments = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        return []
    return [entry.name for entry in arguments if entry.kind in positional and entry.default is inspect.Parameter.empty]


def _asks_by_name(module: Any) -> bool:
    """Whether some part of a module, in its own code, asks for columns by name as PINA's tensors allow."""
    if "pina" not in sys.modules:
        return False
    return any(".extract(" in _forward_text(part) for part in module.modules())


def _forward_text(module: Any) -> str:
    try:
        return inspect.getsource(type(module).forward)
    except (OSError, TypeError):
        return ""


def _unwrapped(module: Any) -> Any:
    """Without what compiles it or spreads it over devices."""
    while (name := WRAPPERS.get(type(module).__name__)) and hasattr(module, name):
        module = getattr(module, name)
    return module
