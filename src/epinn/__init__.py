"""Honest error bars on physics-informed neural networks.

Names are imported when they are first used: `import epinn` alone does not load JAX, and `epinn --help` answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from . import problems
    from .app.band.attach import attach
    from .app.band.band import Band
    from .app.band.load import load
    from .derivatives.memory import limited_to
    from .derivatives.network import Solution
    from .errors import Diverged, EpinnError, EpinnWarning, InputError
    from .interop import adopt
    from .judge import metrics
    from .methods import (
        ConformalMethod,
        DropoutMethod,
        EnsembleMethod,
        EpinetMethod,
        HmcMethod,
        LaplaceMethod,
        NutsMethod,
        ViMethod,
        fit,
    )
    from .posterior.posterior import Posterior
    from .posterior.statistics import Prediction
    from .problem.boundary import Boundary, Dirichlet, Neumann, Periodic, Robin
    from .problem.conditions import Constant, Data, Equation, Initial
    from .problem.context import Points
    from .problem.domain import Box
    from .problem.field import Field
    from .problem.geometry.mesh import Mesh
    from .problem.geometry.shape import Disc, Ellipse, Polygon, Rectangle
    from .problem.geometry.solid import Cuboid, Cylinder, Extrusion, Sphere
    from .problem.problem import Problem
    from .problem.shorthand import Normal, Unknown
    from .progress import Progress
    from .solve.config import Base
    from .solve.fit import fit_seeds
    from .solve.optimise.adam import Weights
    from .solve.pinn import Pinn

_HOMES = {
    "errors": ("Diverged", "EpinnError", "EpinnWarning", "InputError"),
    "progress": ("Progress",),
    "derivatives.memory": ("limited_to",),
    "derivatives.network": ("Solution",),
    "problem.domain": ("Box",),
    "problem.field": ("Field",),
    "problem.geometry.mesh": ("Mesh",),
    "problem.geometry.shape": ("Disc", "Ellipse", "Polygon", "Rectangle"),
    "problem.geometry.solid": ("Cuboid", "Cylinder", "Extrusion", "Sphere"),
    "problem.boundary": ("Boundary", "Dirichlet", "Neumann", "Periodic", "Robin"),
    "problem.conditions": ("Constant", "Data", "Equation", "Initial"),
    "problem.context": ("Points",),
    "problem.problem": ("Problem",),
    "problem.shorthand": ("Normal", "Unknown"),
    "solve.config": ("Base",),
    "solve.optimise.adam": ("Weights",),
    "solve.fit": ("fit_seeds",),
    "solve.pinn": ("Pinn",),
    "posterior.posterior": ("Posterior",),
    "posterior.statistics": ("Prediction",),
    "interop": ("adopt",),
    "methods": (
        "ConformalMethod",
        "DropoutMethod",
        "EnsembleMethod",
        "EpinetMethod",
        "HmcMethod",
        "LaplaceMethod",
        "NutsMethod",
        "ViMethod",
        "fit",
    ),
    "app.band.band": ("Band",),
    "app.band.attach": ("attach",),
    "app.band.load": ("load",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = {"metrics": "judge.metrics", "problems": "problems"}

__all__ = [*_MODULES, *_HOME]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
