"""From a trained base PINN to a posterior: one module a method, `registry` lists them, `attach` applies them."""

from .attach import attach, attach_seeds
from .conformal import ConformalMethod
from .dropout import DropoutMethod
from .ensemble import EnsembleMethod
from .epinet import EpinetMethod
from .laplace import LaplaceMethod
from .mcmc.hmc import HmcMethod
from .mcmc.nuts import NutsMethod
from .method import Method, Traits
from .registry import METHODS, configured
from .vi import ViMethod

__all__ = [
    "METHODS",
    "ConformalMethod",
    "DropoutMethod",
    "EnsembleMethod",
    "EpinetMethod",
    "HmcMethod",
    "LaplaceMethod",
    "Method",
    "NutsMethod",
    "Traits",
    "ViMethod",
    "attach",
    "attach_seeds",
    "configured",
]
