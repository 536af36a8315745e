"""What methods that run Markov chains have in common: their settings, and the way from chains to posteriors."""

import functools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError, unknown_name
from ...posterior.log_density import members_of, posteriors_of, size_of
from ...posterior.posterior import Posterior
from ...progress import Progress
from ...solve.config import purposes
from ...solve.pinn import Pinn
from ...solve.seeds import Keys
from ..method import Memory, Method, Traits, check_positive, prior_width
from .diagnostics import complaints, diagnose
from .run import Kernel, Schedule, sample
from .starts import STARTS, starts


@dataclass(frozen=True)
class ChainMethod(Method):
    """Settings of a sampler. `samples` counts those after `burn_in`, per chain; every `thin`-th is stored.

    `prior_sd` is the width of the Gaussian prior on all weights, that of the base PINN if it is not given, and `tolerance` the
    standard deviation that conditions said to be exact are allowed at least.

    With `precondition`, chains move in coordinates made from the curvature around them (see `preconditioner.py`), and
    `step_size` is in units of these. With `adapt`, dual averaging changes it during burn-in until five of six proposals are
    accepted.

    Chains start at `spread` places, the trained network refitted to disturbed targets, all at the `trained` network itself,
    at draws from the `prior`, or at fresh `xavier` initialisations.
    """

    prior_sd: float | None = None
    tolerance: float = 0.01
    step_size: float = 0.1
    burn_in: int = 200
    samples: int = 400
    chains: int = 4
    adapt: bool = True
    precondition: bool = True
    thin: int = 1
    start: str = "spread"

    def __post_init__(self) -> None:
        for setting in ("prior_sd", "tolerance", "step_size"):
            check_positive(f"{self.name}.{setting}", getattr(self, setting))
        if self.start not in STARTS:
            raise unknown_name("start", self.start, STARTS)
        if min(self.samples, self.chains, self.thin) < 1 or self.burn_in < 0:
            raise InputError(f"{self.name} needs at least one sample and chain, thin >= 1 and burn_in >= 0.")
        _ = self.kernel  # checks its part of the settings

    @property
    def traits(self) -> Traits:
        stored = self.chains * (1 + self.samples // self.thin)
        return Traits(
            uses_base=self.start in ("spread", "trained"),
            moves_the_network=True,
            uses_sigma=True,
            prior_sd=self.prior_sd,
            tolerance=self.tolerance,
            memory=Memory(kept_parameters=8 * stored, settings=f"{self.name}.samples or {self.name}.chains"),
        )

    @property
    @abstractmethod
    def remedy(self) -> str:
        """What may help chains to mix."""

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """One transition of the sampler."""

    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        start_keys, chain_keys = purposes(keys, 2)
        targets = posteriors_of(pinns, prior_width(self.prior_sd, pinns[0]), self.tolerance)
        schedule = Schedule(self.burn_in, self.samples, self.chains, self.thin, self.step_size, self.adapt, self.precondition)
        begin = functools.partial(starts, self.start, pinns, targets, start_keys, self.chains, progress, f"{self.name} start")
        shape = (len(pinns), self.chains, size_of(targets))
        trace = sample(self.kernel, schedule, targets, begin, shape, chain_keys, progress, self.name)
        posteriors = []
        for i, (pinn, (members, positions)) in enumerate(zip(pinns, members_of(targets, trace.stored), strict=True)):
            diagnostics = diagnose(trace, i)
            doubts = complaints(diagnostics, self.name, self.step_size, self.remedy)
            posteriors.append(
                Posterior(
                    sampler=members,
                    problem=pinn.problem,
                    method=self.name,
                    diagnostics=diagnostics | ({"doubt": doubts[0]} if doubts else {}),
                    warnings=doubts,
                    seconds=trace.seconds / len(pinns),
                    sigmas=pinn.sigmas_outside(
                        {n: float(np.sqrt(np.mean(np.exp(2 * v)))) for n, v in positions.log_sigma.items()}
                    ),
                )
            )
        return posteriors
