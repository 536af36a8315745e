"""Whether chains have mixed. Their diagnostics are blackjax's: rank-normalised split R-hat, bulk and tail effective sample size
(Vehtari et al. 2021). They look at the *field* at probe points, since weights may be exchanged freely without changing it.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .run import Trace

MIXED = 1.01  # an R-hat of this or more is reported as not mixed
STUCK = 0.05  # as is an acceptance below this
LEAST = 4  # samples of a chain, to have two in each of its halves


def diagnose(trace: Trace, seed: int) -> dict[str, Any]:
    """Acceptance, R-hat and effective sample sizes of the chains of one seed: worst and median over the probes.

    R-hat and effective sample sizes are None for chains that are too short, or do not move at all.
    """
    field = trace.field[seed]
    summary: dict[str, Any] = {
        "acceptance": float(trace.acceptance[seed].mean()),
        "divergent": int(trace.divergent[seed].sum()),
        "chains": field.shape[0],
        "samples": field.shape[1],
        "step_size": float(trace.step_size[seed].mean()),
    }
    names = ("rhat", "rhat_median", "ess", "ess_tail", "ess_median")
    if field.shape[1] < LEAST or not np.all(np.ptp(field, axis=(0, 1)) > 0):
        return summary | dict.fromkeys(names)
    rhat, bulk, tail = (np.asarray(values) for values in _diagnostics(jnp.asarray(field)))
    worst = (rhat.max(), np.median(rhat), bulk.min(), tail.min(), np.median(bulk))
    return summary | {name: float(value) for name, value in zip(names, worst, strict=True)}


@jax.jit
def _diagnostics(
    chains: Float[Array, "chains samples values"],
) -> tuple[Float[Array, " values"], Float[Array, " values"], Float[Array, " values"]]:
    from blackjax.diagnostics import ess_bulk, ess_tail, rhat  # imported here: see `run.py`

    # one quantity has its only axis squeezed away
    return tuple(jnp.atleast_1d(measure(chains)) for measure in (rhat, ess_bulk, ess_tail))  # type: ignore[return-value]


def complaints(diagnostics: dict[str, Any], name: str, step_size: float, remedy: str) -> tuple[str, ...]:
    """Sentences for whoever might trust chains that have not mixed, with a remedy."""
    holder = f"{name.capitalize()}Method"
    samples, smaller = f"{holder}(samples=...)", f"{holder}(step_size={step_size / 3:.1g})"
    if diagnostics["samples"] < LEAST:
        return (f"{diagnostics['samples']} samples are too few to tell whether the chains have mixed; try more {samples}.",)
    if diagnostics["rhat"] is None or diagnostics["acceptance"] < STUCK:
        moved = f"the chains hardly moved (acceptance {diagnostics['acceptance']:.2f})"
        return (f"{moved}; try smaller steps, {smaller}, or more {samples}.",)
    if not diagnostics["rhat"] < MIXED:
        found = f"R-hat of the field {diagnostics['rhat']:.3f} instead of below {MIXED}"
        effective = f"effective samples {diagnostics['ess']:.0f}, in the tails {diagnostics['ess_tail']:.0f}"
        return (f"the chains have not mixed ({found}, {effective}): do not trust this band; try {remedy}.",)
    return ()
