"""The methods that make a band of their own, by name, and how to get one of them with other settings."""

import dataclasses
from collections.abc import Mapping
from typing import TypeVar

from ..errors import InputError, unknown_name
from .dropout import DropoutMethod
from .ensemble import EnsembleMethod
from .epinet import EpinetMethod
from .laplace import LaplaceMethod
from .mcmc.hmc import HmcMethod
from .mcmc.nuts import NutsMethod
from .method import Method
from .vi import ViMethod

AnyMethod = TypeVar("AnyMethod", bound=Method)

BANDS: dict[str, type[Method]] = {
    method.name: method
    for method in (EpinetMethod, LaplaceMethod, EnsembleMethod, HmcMethod, NutsMethod, ViMethod, DropoutMethod)
}


def named(name: str, known: Mapping[str, type[Method]]) -> Method:
    """A method by name, with its default settings."""
    if name not in known:
        raise unknown_name("method", name, known)
    return known[name]()


def changed(method: AnyMethod, settings: Mapping[str, object]) -> AnyMethod:
    """The method with some settings changed."""
    known = [f.name for f in dataclasses.fields(method)]
    for name in settings:
        if name not in known:
            raise unknown_name(f"setting of {method.name}", name, known)
    try:
        return dataclasses.replace(method, **settings)
    except TypeError as error:  # a comparison of a number with text, say
        raise InputError(f"a setting of {method.name} has the wrong type: {error}.") from None
