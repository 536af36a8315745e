"""From a problem to a posterior: `fit` trains a base PINN, `attach` gives it a posterior; `registry` lists all methods."""

from .attach import attach_seeds
from .conformal import ConformalMethod
from .dropout import DropoutMethod
from .ensemble import EnsembleMethod
from .epinet import EpinetMethod
from .fit import fit
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
    "attach_seeds",
    "configured",
    "fit",
]
