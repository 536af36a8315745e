"""What a method is compared with where the truth is not known: the posterior that it looks for, linearised around the PINN."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import PRNGKeyArray

from ..errors import InputError
from ..methods import attach_seeds
from ..methods.laplace import LaplaceMethod
from ..methods.method import Method
from ..posterior.linearised import gaussian_around
from ..progress import Progress
from ..solve.first_stage import first_stages
from ..solve.pinn import Pinn
from .evaluation import evaluate

DRAWS = 400  # its spread to 4%


def reference_for(
    method: Method, pinns: Sequence[Pinn], keys: Sequence[PRNGKeyArray | int], progress: Progress
) -> list[np.ndarray] | None:
    """The standard deviation on the grid, by seed.

    None where there is nothing to compare with: for a method that is linearised itself, has no use for the trained network or
    is judged by other things, and for too large a problem.
    """
    traits = method.traits
    if not traits.uses_base or traits.is_linearised or traits.held_out:
        return None
    laplace = LaplaceMethod(samples=DRAWS, prior_sd=traits.prior_sd, own_error=False)
    progress(f"{method.name} reference", 0, 1, {})
    try:
        found = attach_seeds([_as_read_by(method, pinn) for pinn in first_stages(pinns)], laplace, keys=keys)
    except InputError:
        return None
    spreads = [evaluate(posterior, draws=DRAWS).prediction.std for posterior in found]
    progress(f"{method.name} reference", 1, 1, {})
    return spreads


def allowance(method: Method, pinn: Pinn) -> float | None:
    """The sigma of exact conditions, if a method takes one that is larger than what the network reaches."""
    wider = [read.sigma for c in pinn.channels if np.any((read := method.traits.reads(c)).sigma > c.sigma)]
    return max(float(np.max(sigma)) for sigma in wider) if wider else None


def _as_read_by(method: Method, pinn: Pinn) -> Pinn:
    """A PINN with the channels as a method takes them, and free to move if the method moves it or trains others."""
    traits = method.traits
    told = gaussian_around(pinn.channels, pinn.solution) if pinn.has_seen_all else pinn.channels
    channels = tuple(traits.reads(channel) for channel in told)
    moves = traits.moves_the_network or traits.retrains
    return dataclasses.replace(pinn, channels=channels, has_seen_all=pinn.has_seen_all and not moves)
