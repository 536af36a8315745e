"""Methods by name. A new one is a new file with a `Method`, and a line here."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..errors import Diverged, InputError, unknown_name
from ..held_out import noise_of_fields
from ..pinn import Pinn
from ..posterior import Posterior
from ..problem import Problem, as_key
from ..train import Progress
from .conformal import ConformalMethod
from .dropout import DropoutMethod
from .ensemble import EnsembleMethod
from .epinet import EpinetMethod
from .hmc import HmcMethod
from .laplace import LaplaceMethod
from .method import Method
from .nuts import NutsMethod
from .vi import ViMethod

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        EpinetMethod,
        LaplaceMethod,
        EnsembleMethod,
        ConformalMethod,
        HmcMethod,
        NutsMethod,
        ViMethod,
        DropoutMethod,
    )
}


def attach(
    pinn: Pinn,
    problem: Problem | None = None,
    method: str | Method = "epinet",
    *,
    key: PRNGKeyArray | int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> Posterior:
    """Give a trained PINN a band. `settings` change those of the method: `attach(pinn, method="epinet", alpha=0.1)`.

    A `problem` other than the one the PINN was trained on (new data, say) takes its place.
    """
    if problem is not None and problem is not pinn.problem:
        if problem.names != pinn.problem.names:
            raise InputError("the problem has other fields, coordinates or unknowns than the one the PINN was trained on.")
        pinn = pinn.facing(problem)
    (posterior,) = attach_seeds([pinn], method, keys=[key], progress=progress, **settings)
    if posterior.failure:
        raise Diverged(posterior.failure)
    return posterior


def attach_seeds(
    pinns: Sequence[Pinn],
    method: str | Method = "epinet",
    *,
    keys: Sequence[PRNGKeyArray | int],
    progress: Progress | None = None,
    **settings: Any,
) -> list[Posterior]:
    """One posterior for each PINN, all at once. They may differ in their data and weights, not in their equations."""
    chosen = configured(method, **settings)
    found = chosen.attach(pinns, jnp.stack([as_key(key) for key in keys]), progress or Progress())
    return [
        posterior if posterior.noise else dataclasses.replace(posterior, noise=noise_of_fields(pinn))
        for posterior, pinn in zip(found, pinns, strict=True)
    ]


def configured(method: str | Method, **settings: Any) -> Method:
    """A method by name, or as it is, with some settings changed."""
    if isinstance(method, str):
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        method = METHODS[method]()
    if not isinstance(method, Method):
        raise InputError(f"a method is a name ({', '.join(METHODS)}) or one of epinn's methods, not {method!r}.")
    known = [f.name for f in dataclasses.fields(method)]
    for name in settings:
        if name not in known:
            raise unknown_name(f"setting of {method.name}", name, known)
    return dataclasses.replace(method, **settings)
