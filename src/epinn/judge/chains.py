"""What single chains of a posterior have seen: what pictures of their mixing show."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Array, Float

from ..posterior.posterior import Posterior
from ..posterior.sampler import FiniteSampler

PROBES = 16  # points at which fields are looked at
LEAST = 4  # samples of a chain, to say anything of it


@dataclass(frozen=True, eq=False)
class Chains:
    """Quantities by name, in every chain in the order of its samples."""

    names: tuple[str, ...]
    values: np.ndarray  # (names, chains, samples)


def chains_of(posterior: Posterior, points: Float[Array, "n d"]) -> Chains | None:
    """Every field where its chains agree least, among some of the points, and all that is sought; None without chains."""
    sampler, number = posterior.sampler, posterior.diagnostics.get("chains")
    if not isinstance(sampler, FiniteSampler) or not number or sampler.members % number or sampler.members < LEAST * number:
        return None
    problem, every = posterior.problem, sampler.members
    probes = np.asarray(points)[np.linspace(0, len(points) - 1, min(PROBES, len(points))).astype(int)]
    samples = posterior.predict(probes, draws=every, samples=every).samples
    assert samples is not None
    fields = samples.reshape(number, every // number, len(probes), len(problem.fields))
    names, values = [], []
    for column, name in enumerate(problem.fields):
        worst = int(np.argmax(_disagreement(fields[..., column])))
        place = ", ".join(f"{c} = {x:.3g}" for c, x in zip(problem.domain.coordinates, probes[worst], strict=True))
        names.append(f"{name} at {place}")
        values.append(fields[:, :, worst, column])
    for name, found in posterior.unknowns(draws=every, samples=every).items():
        if found.samples is not None:
            names.append(name)
            values.append(found.samples.reshape(number, -1))
    return Chains(tuple(names), np.array(values, float))


def _disagreement(values: np.ndarray) -> np.ndarray:
    """The variance of the means of chains, in parts of that within them, for each of the last axis."""
    between, within = values.mean(axis=1).var(axis=0), values.var(axis=1).mean(axis=0)
    return np.asarray(np.nan_to_num(between / np.where(within > 0, within, np.inf)))
