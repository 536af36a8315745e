"""Honest error bars on physics-informed neural networks.

Names are imported when they are first used: `import epinn` alone does not load JAX, and `epinn --help` answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import metrics, problems
    from .base import Base
    from .conditions import Constant, Data, Dirichlet, Equation, Initial, Neumann, Periodic, Robin
    from .domain import Box
    from .errors import Diverged, EpinnError, InputError
    from .interop import adopt
    from .methods import DropoutMethod, EpinetMethod, HmcMethod, attach
    from .network import Solution
    from .pinn import Pinn, fit, fit_seeds
    from .posterior import Posterior
    from .problem import Points, Problem, Unknown
    from .progress import Progress
    from .stream import Prediction
    from .train import Weights

_HOMES = {
    "conditions": ("Constant", "Data", "Dirichlet", "Equation", "Initial", "Neumann", "Periodic", "Robin"),
    "domain": ("Box",),
    "errors": ("Diverged", "EpinnError", "InputError"),
    "interop": ("adopt",),
    "methods": ("DropoutMethod", "EpinetMethod", "HmcMethod", "attach"),
    "network": ("Solution",),
    "base": ("Base",),
    "pinn": ("Pinn", "fit", "fit_seeds"),
    "posterior": ("Posterior",),
    "problem": ("Points", "Problem", "Unknown"),
    "stream": ("Prediction",),
    "progress": ("Progress",),
    "train": ("Weights",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["metrics", "problems", *_HOME]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in ("metrics", "problems"):
        return import_module(f".{name}", __name__)
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
