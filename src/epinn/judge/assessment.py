"""How far to trust one band: gathers what is known about it and has it judged."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np

from ..derivatives.network import Opaque
from ..methods.attach import seen_by
from ..methods.method import Method, prior_width
from ..posterior.held_out import compare_held_out
from ..posterior.linearised import gaussian_around
from ..posterior.posterior import Posterior
from ..problem.corners import contradicting_parts, contradictions, in_words
from ..solve.diagnosis import Finding
from ..solve.evidence import resting_on_the_network
from ..solve.misfit import Misfit
from ..solve.pinn import Pinn, prior_of
from ..solve.seeds import stack
from .denial import denied_by
from .evaluation import Evaluation
from .reference import allowance
from .verdict import Evidence, Verdict, judge

NEXT_TO_NOTHING = 0.01  # of how much the field that varies most does
ROUNDED = 1e-5  # of the terms of a condition, in single precision
HARDLY_POSITIVE = -40.0  # its softplus is next to nothing


def assess(pinn: Pinn, method: Method, posterior: Posterior, evaluation: Evaluation, reference: np.ndarray | None) -> Verdict:
    """The verdict on the band that `method` put on `pinn`, or on the network below all stages of it if it used that one.

    `evaluation` is the posterior on the grid, `reference` the standard deviation there of the linearised posterior (see
    `reference_for`), or None if there is none to compare with.
    """
    (pinn,) = seen_by(method, [pinn])
    informed = pinn.with_sigmas(posterior.sigmas)
    return judge(
        Evidence(
            evaluation,
            complaints=[*failures(informed, method, posterior), *base_warnings(informed, method)],
            diagnostics=posterior.diagnostics,
            residuals=residuals_in_words(pinn, posterior) if method.traits.is_linearised else "",
            reference=reference,
            allowance=allowance(method, informed),
            implied=implied_errors(pinn, evaluation) if method.traits.is_linearised else {},
            missed=most_missed(pinn) if method.traits.is_linearised else math.inf,
            unasked=where_nothing_is_asked(pinn) if method.traits.uses_base else "",
            from_prior=shares_of_priors(pinn, evaluation) if method.traits.uses_sigma else {},
            from_network=shares_of_the_network(informed, method) if method.traits.uses_sigma else {},
            modes=pinn.modes if method.traits.uses_base and not method.traits.retrains else None,  # its own fits know more
            unknowns={name: float(np.asarray(pinn.solution.unknowns[name])) for name in pinn.problem.parameters},
            is_zero=is_zero(pinn, evaluation),
            denied=denied(informed, method, posterior),
            held_out=None if method.traits.held_out else compare_held_out(posterior, informed.data_sigmas),
        )
    )


def denied(pinn: Pinn, method: Method, posterior: Posterior) -> list[Finding]:
    """What the measurements say against the band of a method that takes their sigma, unless others were held out for that."""
    if not method.traits.uses_sigma or method.traits.held_out:
        return []
    return denied_by(pinn, posterior, by_the_network=method.traits.is_linearised)


def shares_of_priors(pinn: Pinn, evaluation: Evaluation) -> dict[str, float]:
    """By unknown parameter, its standard deviation in parts of that of its prior; relative ones if it is positive."""
    found = {}
    for name, (_, width) in pinn.priors.items():
        seen = evaluation.unknowns[name]
        relative = abs(float(seen.mean)) if pinn.problem.parameters[name].positive else 1.0
        found[name] = float(seen.std) / (max(relative, 1e-300) * width)
    return found


def shares_of_the_network(pinn: Pinn, method: Method) -> dict[str, float]:
    """By unknown parameter, how many times as uncertain it would be if a network had less of a preference for smooth fields;
    nothing where there are too many rows to tell."""
    if pinn.is_noiseless or not pinn.problem.parameters:
        return {}
    prior = prior_of([pinn], stack([pinn.solution]), prior_width(method.traits.prior_sd, pinn))
    return resting_on_the_network(gaussian_around(pinn.channels, pinn.solution), pinn.solution, prior) or {}


def implied_errors(pinn: Pinn, evaluation: Evaluation) -> dict[str, float]:
    """By field, the root mean square of its standard deviation in parts of its variation; nothing where noise, or a tolerance
    that the user gave, has a part in it. What a field that is zero varies by says nothing: its unit counts if it has one, or
    else a small part of what the others vary by."""
    if not pinn.is_noiseless:
        return {}
    found, units = evaluation.prediction, pinn.solution.units
    varies = np.std(found.mean, axis=0)
    least = NEXT_TO_NOTHING * np.max(varies) if units is None else np.asarray(units.scale)
    errors = np.sqrt(np.mean(found.std**2, axis=0)) / np.maximum(np.maximum(varies, least), 1e-300)
    return dict(zip(evaluation.problem.names.fields, errors.tolist(), strict=True))


def is_zero(pinn: Pinn, evaluation: Evaluation) -> bool:
    """Whether exact conditions have led to fields that are zero everywhere, and these meet all of them. Where the equation is
    not linear (a column that buckles), the solution that somebody looks for may be another one. What a source that oscillates
    makes is small too, beside what it would make if it did not, but zero does not meet its equation."""
    units = pinn.solution.units
    if units is None or not pinn.is_noiseless:
        return False
    scale, positive = np.asarray(units.scale), pinn.solution.positive_fields
    if np.any(np.abs(evaluation.prediction.mean) >= NEXT_TO_NOTHING * scale):
        return False
    zero = -np.asarray(units.offset) / scale
    zero[list(positive)] = HARDLY_POSITIVE
    nothing = dataclasses.replace(pinn.solution, network=Opaque(lambda _: jnp.asarray(zero, jnp.float32)))
    return Misfit.of(stack([pinn.channels]), stack([nothing])).largest(0) < ROUNDED


def most_missed(pinn: Pinn) -> float:
    """The largest residual of what holds exactly, in parts of the size of its terms; infinite where that size is not known."""
    if any(channel.size is None for channel in pinn.channels):
        return math.inf
    return Misfit.of(stack([pinn.channels]), stack([pinn.solution])).largest(0)


def residuals_in_words(pinn: Pinn, posterior: Posterior) -> str:
    """What the network leaves of every condition, in units of its noise where that is known or was inferred by the method."""
    channels, exact = pinn.with_sigmas(posterior.sigmas).channels, pinn.by_construction
    found = Misfit.of(stack([channels]), stack([pinn.solution])).in_words(0, channels)
    return f"{found} ({', '.join(exact)}: none, by construction)" if exact else found


def where_nothing_is_asked(pinn: Pinn) -> str:
    """The corners at which given values contradict each other, in words; nothing without them."""
    if pinn.solution.network.directions is not None:  # it was asked everywhere
        return ""
    corners = () if pinn.solution.units is None else contradictions(pinn.problem)
    if corners:
        return f"{in_words(corners, pinn.problem.domain)}, so that nothing was asked there"
    parts = contradicting_parts(pinn.problem)
    return f"where {', '.join(parts)} meet, given values contradict each other" if parts else ""


def failures(pinn: Pinn, method: Method, posterior: Posterior) -> list[str]:
    """What ran away in training: the method's, and the base PINN's if the method uses it."""
    return [text for text in (posterior.failure, pinn.failure if method.traits.uses_base else None) if text]


def base_warnings(pinn: Pinn, method: Method) -> list[str]:
    """The warnings of the base PINN, if the method uses it."""
    return list(pinn.warnings) if method.traits.uses_base else []
