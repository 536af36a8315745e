"""What methods that run Markov chains have in common: their settings, and the way from chains to posteriors."""

import functools
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import PRNGKeyArray

from ...errors import InputError, unknown_name
from ...posterior.log_density import members_of, posteriors_of, size_of
from ...posterior.posterior import Posterior
from ...progress import Progress
from ...solve.config import purposes
from ...solve.pinn import Pinn
from ..bayesian import BayesianMethod
from .run import Kernel, Schedule, complaints, diagnose, sample
from .starts import STARTS, starts


@dataclass(frozen=True)
class ChainMethod(BayesianMethod):
    """Settings of a sampler. `samples` counts those after `burn_in`, per chain; every `thin`-th is stored.

    With `precondition`, chains move in coordinates made from the curvature around them (see `chart.py`), and `step_size` is in
    units of these. With `adapt`, it is changed during burn-in until five of six proposals are accepted, and `hmc`
    varies it from sample to sample.

    Chains start at `spread` places, the trained network refitted to disturbed targets, all at the `trained` network itself,
    at draws from the `prior`, or at fresh `xavier` initialisations.
    """

    step_size: float = 0.1
    burn_in: int = 200
    samples: int = 400
    chains: int = 4
    adapt: bool = True
    precondition: bool = True
    thin: int = 1
    start: str = "spread"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start not in STARTS:
            raise unknown_name("start", self.start, STARTS)
        if min(self.samples, self.chains, self.thin) < 1 or self.burn_in < 0:
            raise InputError(f"{self.name} needs at least one sample and chain, thin >= 1 and burn_in >= 0.")
        if not 0 < self.step_size < math.inf:
            raise InputError(f"{self.name}.step_size must be positive.")

    @property
    def uses_base(self) -> bool:
        return self.start in ("spread", "trained")

    @property
    def remedy(self) -> str:
        """What may help chains to mix."""
        return f"more {self.name}.samples or {self.name}.burn_in"

    def needs(self, rows: int, parameters: int) -> tuple[int, str]:
        stored = self.chains * (1 + self.samples // self.thin)
        return 8 * stored * parameters, f"{self.name}.samples or {self.name}.chains"

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """One transition of the sampler."""

    def attach(self, pinns: Sequence[Pinn], keys: PRNGKeyArray, progress: Progress) -> list[Posterior]:
        start_keys, chain_keys = purposes(keys, 2)
        targets = posteriors_of(pinns, self.prior_width(pinns[0]), self.tolerance)
        schedule = Schedule(self.burn_in, self.samples, self.chains, self.thin, self.step_size, self.adapt, self.precondition)
        begin = functools.partial(starts, self.start, pinns, targets, start_keys, self.chains, progress, f"{self.name} start")
        shape = (len(pinns), self.chains, size_of(targets))
        trace = sample(self.kernel, schedule, targets, begin, shape, chain_keys, progress, self.name)
        posteriors = []
        for i, (pinn, (members, positions)) in enumerate(zip(pinns, members_of(targets, trace.stored), strict=True)):
            diagnostics = diagnose(trace, i)
            posteriors.append(
                Posterior(
                    sampler=members,
                    problem=pinn.problem,
                    method=self.name,
                    diagnostics=diagnostics,
                    warnings=complaints(diagnostics, self.name, self.step_size, self.remedy),
                    seconds=trace.seconds / len(pinns),
                    sigmas={name: float(np.sqrt(np.mean(np.exp(2 * v)))) for name, v in positions.log_sigma.items()},
                )
            )
        return posteriors
