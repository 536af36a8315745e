"""One band as plain data: what `metrics.json` keeps of it and what pages and tables show."""

from typing import Any

from ..methods.attach import seen_by
from ..methods.method import Method
from ..posterior.posterior import Posterior
from ..problem.channel import describe_noise
from ..solve.pinn import Pinn
from .assessment import base_warnings, failures
from .evaluation import Evaluation
from .verdict import Verdict
from .wording import significant


def _priors(pinn: Pinn) -> list[dict[str, Any]]:
    """What was known of every unknown parameter beforehand, in rows like those of the conditions."""
    parameters = pinn.problem.parameters
    return [
        {
            "channel": f"prior of {name}",
            "rows": 1,
            "noise": "prior",
            "sigma": width * (center if parameters[name].positive else 1.0),
            "origin": f"around {significant(center)}, "
            + ("nothing was stated" if parameters[name].prior is None else "given by the user"),
            "used": "sigma",
        }
        for name, (center, width) in pinn.priors.items()
    ]


def _by_construction(pinn: Pinn) -> list[dict[str, Any]]:
    """The conditions that need no rows, in rows like those of the others."""
    exact = {"rows": 0, "noise": "exact", "sigma": 0.0, "origin": "holds by construction", "used": "-"}
    return [{"channel": name, **exact} for name in pinn.by_construction]


def record_of(pinn: Pinn, method: Method, posterior: Posterior, evaluation: Evaluation, verdict: Verdict) -> dict[str, Any]:
    """Metrics, unknowns, times in seconds, diagnostics, what was used for every condition, warnings and the verdict.

    The time of the base PINN counts if the method uses it.
    """
    (pinn,) = seen_by(method, [pinn])
    informed = pinn.with_sigmas(posterior.sigmas)
    uncertainty = posterior.seconds + evaluation.seconds
    traits, failed = method.traits, failures(informed, method, posterior)
    weights = None if traits.uses_sigma else informed.weights.of(informed.channels)
    return {
        "method": posterior.method,
        "network": pinn.network_in_words,
        **evaluation.record(),
        "spread": evaluation.spread(),
        "noise_sd": dict(posterior.noise),
        "time_s": (informed.seconds if traits.uses_base else 0.0) + uncertainty,
        "time_uq_s": uncertainty,
        "diagnostics": dict(posterior.diagnostics),
        "channels": [
            *describe_noise([traits.reads(channel) for channel in informed.channels], weights),
            *_by_construction(informed),
            *(_priors(informed) if traits.uses_sigma else ()),
        ],
        "failed": bool(failed),
        "warnings": [*posterior.warnings, *base_warnings(informed, method), *failed],
        "verdict": verdict.plain(),
    }
