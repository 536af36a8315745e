"""The classes that files may hold, each under a short name that stays when the class moves or is renamed.

A class that is new among networks or samplers gets a line in `CLASSES`. A name in it is never changed or used for something
else: files have it. Format 1 (epinn 0.1) had the module and class instead; `FORMAT_1` says what they are called now.
"""

from typing import Any

import equinox as eqx

from ...derivatives.composed import Parts, Pieces
from ...derivatives.directions import Directions
from ...derivatives.lifted import Lifted
from ...derivatives.network import MLP, Encoding, Frozen, Solution
from ...derivatives.random_units import RandomUnits
from ...derivatives.staged import Stage, Staged
from ...derivatives.units import Units
from ...errors import InputError
from ...interop.network.imported import Imported
from ...methods.conformal import Apart, ScaledSampler
from ...methods.dropout import DropoutSampler, MaskedNetwork
from ...methods.epinet.calibrated import TangentSampler
from ...methods.epinet.paper import Epinet, EpinetNetwork, EpinetSampler, IndexedNetwork
from ...methods.laplace import LinearisedMembers
from ...methods.vi import VariationalSampler
from ...posterior.beside import Beside
from ...posterior.linearised import Linearised
from ...posterior.own_error import Corrected
from ...posterior.sampler import FewMembers, Members, Mixture

FORMAT = 3  # of the files that are written now: since 3 they have a checksum (`seal.py`)

CLASSES: dict[str, type[eqx.Module]] = {
    "solution": Solution,
    "mlp": MLP,
    "parts": Parts,
    "pieces": Pieces,
    "lifted": Lifted,
    "corrected": Corrected,
    "beside": Beside,
    "staged": Staged,
    "stage": Stage,
    "random-units": RandomUnits,
    "encoding": Encoding,
    "directions": Directions,
    "frozen": Frozen,
    "units": Units,
    "imported": Imported,
    "members": Members,
    "few-members": FewMembers,
    "mixture": Mixture,
    "linearised": Linearised,
    "linearised-members": LinearisedMembers,
    "epinet": Epinet,
    "epinet-indexed": IndexedNetwork,
    "epinet-network": EpinetNetwork,
    "epinet-sampler": EpinetSampler,
    "tangent-sampler": TangentSampler,
    "dropout-network": MaskedNetwork,
    "dropout-sampler": DropoutSampler,
    "conformal-network": Apart,
    "conformal-sampler": ScaledSampler,
    "vi-sampler": VariationalSampler,
}

FORMAT_1 = {
    ".network:Solution": "solution",
    ".network:MLP": "mlp",
    ".network:Encoding": "encoding",
    ".network:Frozen": "frozen",
    ".interop.imported:Imported": "imported",
    ".sampler:Members": "members",
    ".sampler:FewMembers": "few-members",
    ".sampler:Mixture": "mixture",
    ".linear:Linearised": "linearised",
    ".methods.laplace:LinearisedMembers": "linearised-members",
    ".methods.epinet:Epinet": "epinet",
    ".methods.epinet:IndexedNetwork": "epinet-indexed",
    ".methods.epinet:EpinetNetwork": "epinet-network",
    ".methods.epinet:EpinetSampler": "epinet-sampler",
    ".methods.epinet:TangentSampler": "tangent-sampler",
    ".methods.dropout:MaskedNetwork": "dropout-network",
    ".methods.dropout:DropoutSampler": "dropout-sampler",
    ".methods.conformal:Apart": "conformal-network",
    ".methods.conformal:ScaledSampler": "conformal-sampler",
    ".methods.vi:VariationalSampler": "vi-sampler",
}

_NAMES = {found: name for name, found in CLASSES.items()}


def name_of(found: type) -> str | None:
    """The name of a class in files; None for one that files do not hold."""
    return _NAMES.get(found)


def class_of(name: Any, written_as: int) -> type[eqx.Module]:
    """The class that a file of some format names."""
    current = FORMAT_1.get(name, "") if written_as == 1 else name
    if current not in CLASSES:
        raise InputError(f"it names {name!r}, which is no class that epinn keeps in files.")
    return CLASSES[current]
