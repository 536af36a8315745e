"""What the measurements that a PINN was trained on say against its band: posterior predictive checks."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..posterior.held_out import Residuals
from ..posterior.posterior import Posterior
from ..problem.channel import Channel
from ..problem.precision import Exact
from ..solve.diagnosis import Finding, Readings, diagnose
from ..solve.misfit import left_by
from ..solve.pinn import Pinn

DRAWS = 400  # of a band at its measurements


def denied_by(pinn: Pinn, posterior: Posterior, *, by_the_network: bool) -> list[Finding]:
    """What is wrong with the assumptions about the measurements, going by what is left of them: by the network, if it was
    trained on all of them and is the mean of its band, or else by that."""
    channels = [c for c in pinn.channels if c.kind == "data" and not isinstance(c.precision, Exact)]
    if not channels:
        return []
    readings = _of_network(pinn, channels) if by_the_network and pinn.has_seen_all else _of_band(pinn, posterior, channels)
    found = diagnose(readings)
    if any(finding.kind == "scatter less" for finding in found):  # or the fit has used up many readings
        used = (one.used for one in _of_band(pinn, posterior, channels))
        found = diagnose([dataclasses.replace(one, used=own) for one, own in zip(readings, used, strict=True)])
    return found


def _of_network(pinn: Pinn, channels: Sequence[Channel]) -> list[Readings]:
    """By what the network leaves."""
    solution, names = pinn.solution, pinn.problem.domain.coordinates
    rows = left_by(solution, channels)
    return [Readings.of(c, row, solution.outside(c.points), names) for c, row in zip(channels, rows, strict=True)]


def _of_band(pinn: Pinn, posterior: Posterior, channels: Sequence[Channel]) -> list[Readings]:
    """By what the mean of the band leaves, and with how many of them its spread has used up."""
    outside = {c.name: c for c in pinn.problem.channels(0)}
    own = [outside[c.name] for c in channels]
    left = posterior.evaluate(Residuals(tuple(own)), draws=DRAWS, key=0)
    found, begin = [], 0
    for channel, same in zip(channels, own, strict=True):
        rows = slice(begin, begin := begin + same.target.size)
        plain = dataclasses.replace(channel.with_sigma(channel.sigma_outside), size=None)
        mean = np.asarray(left.mean[rows]).reshape(same.target.shape)
        readings = Readings.of(plain, mean, same.points, pinn.problem.domain.coordinates)
        used = float(np.sum(np.minimum(left.std[rows] / readings.sigma, 1.0) ** 2))
        found.append(dataclasses.replace(readings, used=used))
    return found
