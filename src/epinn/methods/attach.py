"""From trained PINNs to posteriors, by any method."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ..errors import Diverged, InputError, warn
from ..interop import adopt
from ..posterior.posterior import Posterior
from ..problem.mistakes import check_together
from ..problem.problem import Problem, as_key
from ..progress import Progress
from ..solve.first_stage import facing, first_stages
from ..solve.pinn import Pinn
from ..solve.second_stage import KEPT, NEEDED, with_further_stages
from .method import Method, check
from .registry import configured


def prepared(
    model: Any,
    problem: Problem | None,
    method: Method,
    *,
    key: PRNGKeyArray | int,
    features: Any,
    rules: Mapping[str, Any] | None,
    architecture: Any,
    trust_file: bool,
    unknowns: Mapping[str, float] | None,
) -> Pinn:
    """The PINN that `method` is attached to, before its problem; the arguments are those of `epinn.attach`."""
    about = {"features": features, "rules": rules, "architecture": architecture, "unknowns": unknowns}
    if isinstance(model, Pinn):
        pinn = model
        if given := [name for name, value in {**about, "trust_file": trust_file or None}.items() if value is not None]:
            raise InputError(f"{given[0]} is for networks trained elsewhere; this one is an epinn.Pinn.")
    else:
        if problem is None:
            raise InputError("a network that was trained elsewhere needs its problem: attach(model, problem).")
        _check_uses_network(method)
        if isinstance(problem, Problem):  # nothing else is one that can be adopted
            check_together(problem)
        pinn = adopt(model, problem, trust_file=trust_file, key=key, **about)
    if problem is not None and problem is not pinn.problem:
        if problem.names != pinn.problem.names:
            raise InputError("the problem has other fields, coordinates or unknowns than the one the PINN was trained on.")
        check_together(problem)
        check(method, problem, *_size(pinn, problem))
        # an equal problem that was built again brings nothing that the network has not seen
        same = problem.same_as(pinn.problem)
        pinn = dataclasses.replace(pinn, problem=problem) if same else facing(pinn, problem)
    return pinn


def corrected(pinn: Pinn, *, key: PRNGKeyArray | int, progress: Progress | None) -> Pinn:
    """A PINN with what it is wrong by added to it; a warning where that cannot be."""
    listener = progress or Progress()
    (found,) = with_further_stages([pinn], jnp.stack([as_key(key)]), 1, listener)
    if found is pinn:
        warn([f"the network was not corrected: that needs {NEEDED}, and has to leave less than {KEPT:g} of its residuals."])
    return found


def attach_prepared(pinn: Pinn, method: Method, *, key: PRNGKeyArray | int, progress: Progress | None) -> Posterior:
    """The posterior of one PINN; the warnings of one that was trained elsewhere are among its own."""
    (posterior,) = attach_seeds([pinn], method, keys=[key], progress=progress)
    if posterior.failure:
        raise Diverged(posterior.failure)
    if pinn.trained_elsewhere:  # those of a fit were said by `fit`
        posterior = dataclasses.replace(posterior, warnings=(*posterior.warnings, *pinn.warnings))
    return posterior


def attach_seeds(
    pinns: Sequence[Pinn],
    method: str | Method = "epinet",
    *,
    keys: Sequence[PRNGKeyArray | int],
    settings: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> list[Posterior]:
    """One posterior for each PINN, all at once. They may differ in their data and weights, not in their equations."""
    chosen = configured(method, settings)
    foreign = any(pinn.trained_elsewhere for pinn in pinns)
    if foreign:
        _check_uses_network(chosen)
    check(chosen, pinns[0].problem, *pinns[0].size, seeds=len(pinns))
    pinns = seen_by(chosen, pinns, progress)
    found = chosen.attach(pinns, jnp.stack([as_key(key) for key in keys]), progress or Progress())
    note = f"{chosen.name} changes the weights of the network: the middle of this band is not what the network says."
    notes = (note,) if foreign and chosen.traits.moves_the_network else ()
    return [
        dataclasses.replace(
            posterior,
            noise=posterior.noise or pinn.with_sigmas(posterior.sigmas).field_noise,
            warnings=(*posterior.warnings, *notes),
        )
        for posterior, pinn in zip(found, pinns, strict=True)
    ]


def seen_by(method: Method, pinns: Sequence[Pinn], progress: Progress | None = None) -> list[Pinn]:
    """The PINNs as a method sees them: one that is not linearised moves weights, and needs a trained network without stages."""
    return list(pinns) if method.traits.is_linearised else first_stages(pinns, progress)


def _check_uses_network(method: Method) -> None:
    """Refuse a method that has no use for a network that was trained elsewhere."""
    if method.traits.retrains or not method.traits.uses_base:
        raise InputError(
            f"{method.name} with these settings trains networks of its own and has no use for one that was trained elsewhere; "
            "choose epinet or laplace, or train here: epinn.fit (epinn run)."
        )


def _size(pinn: Pinn, problem: Problem) -> tuple[int, int]:
    """Rows and parameters of a PINN before another problem."""
    return sum(channel.target.size for channel in problem.channels(0)), pinn.size[1]
