"""Methods by name. A new one is a new file with a `Method`, and a line here."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..errors import Diverged, InputError, unknown_name
from ..interop import adopt
from ..posterior.held_out import noise_of_fields
from ..posterior.posterior import Posterior
from ..problem.problem import Problem, as_key
from ..progress import Progress
from ..solve.pinn import Pinn
from .conformal import ConformalMethod
from .dropout import DropoutMethod
from .ensemble import EnsembleMethod
from .epinet import EpinetMethod
from .laplace import LaplaceMethod
from .mcmc.hmc import HmcMethod
from .mcmc.nuts import NutsMethod
from .method import Method
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
    model: Any,
    problem: Problem | None = None,
    method: str | Method = "epinet",
    *,
    key: PRNGKeyArray | int = 0,
    progress: Progress | None = None,
    features: Any = None,
    rules: Mapping[str, Any] | None = None,
    architecture: Any = None,
    trust_file: bool = False,
    unknowns: Mapping[str, float] | None = None,
    **settings: Any,
) -> Posterior:
    """Give a trained PINN a band. `settings` change those of the method: `attach(pinn, method="epinet", alpha=0.1)`.

    A `problem` other than the one the PINN was trained on (new data, say) takes its place. A model that is no `Pinn` was
    trained elsewhere: see `epinn.adopt` for what it may be and for the arguments from `features` to `unknowns`.
    """
    chosen = configured(method, **settings)
    about = {"features": features, "rules": rules, "architecture": architecture, "unknowns": unknowns}
    if not isinstance(model, Pinn):
        if problem is None:
            raise InputError("a network that was trained elsewhere needs its problem: attach(model, problem).")
        model = adopt(model, problem, trust_file=trust_file, key=key, **about)
    elif given := [name for name, value in {**about, "trust_file": trust_file or None}.items() if value is not None]:
        raise InputError(f"{given[0]} is for networks trained elsewhere; this one is an epinn.Pinn.")
    if problem is not None and problem is not model.problem:
        if problem.names != model.problem.names:
            raise InputError("the problem has other fields, coordinates or unknowns than the one the PINN was trained on.")
        model = model.facing(problem)
    (posterior,) = attach_seeds([model], chosen, keys=[key], progress=progress)
    if posterior.failure:
        raise Diverged(posterior.failure)
    return (
        dataclasses.replace(posterior, warnings=(*posterior.warnings, *model.warnings))
        if model.trained_elsewhere
        else posterior
    )


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
    foreign = any(pinn.trained_elsewhere for pinn in pinns)
    if foreign and (chosen.retrains or not chosen.uses_base):
        raise InputError(
            f"{chosen.name} with these settings trains networks of its own and has no use for one that was trained elsewhere; "
            "choose epinet or laplace, or train here: epinn.fit (epinn run)."
        )
    chosen.check(pinns[0].problem, *pinns[0].size)
    found = chosen.attach(pinns, jnp.stack([as_key(key) for key in keys]), progress or Progress())
    note = f"{chosen.name} changes the weights of the network: the middle of this band is not what the network says."
    notes = (note,) if foreign and chosen.moves_the_network else ()
    return [
        dataclasses.replace(
            posterior,
            noise=posterior.noise or noise_of_fields(pinn.with_sigmas(posterior.sigmas)),
            warnings=(*posterior.warnings, *notes),
        )
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
