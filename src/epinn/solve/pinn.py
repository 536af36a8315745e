"""The base PINN: a network, and the unknown parameters, fitted to the channels of a problem."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.composed import Pieces, in_words
from ..derivatives.lifted import Lifted
from ..derivatives.network import Solution, trainable
from ..derivatives.staged import first_stage, last_stage
from ..problem.channel import Channel
from ..problem.checks import as_points
from ..problem.lift import Lift
from ..problem.precision import Exact
from ..problem.problem import Problem
from ..problem.scales import Scales
from ..problem.student import deviation
from .config import Base
from .explanations import Modes
from .noise import estimate_sigma
from .optimise.adam import Weights
from .optimise.objective import PinnObjective
from .optimise.whitened import Prior
from .prior import bayesian_prior, raw_prior
from .refine import Moved, channels_at
from .seeds import stack, unstack
from .windows import windows_of


@dataclass(frozen=True, eq=False)
class Pinn:
    """A trained base PINN. Call it at points for the fields there."""

    solution: Solution
    problem: Problem
    channels: tuple[Channel, ...]
    points_key: PRNGKeyArray | int = 0
    moved: Moved | None = None  # where its points are, if not where this key puts them
    base: Base = Base()
    weights: Weights = Weights()
    steps: list[int] = field(default_factory=list)
    losses: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    seconds: float = 0.0
    failure: str | None = None
    warnings: list[str] = field(default_factory=list)
    has_seen_all: bool = True  # whether it was trained on all its channels
    regularised: bool = False  # whether the prior on the weights took part in its training
    trained_elsewhere: bool = False
    modes: Modes | None = None  # what further starts have found; None where nothing was looked for

    def __repr__(self) -> str:
        how = "trained elsewhere" if self.trained_elsewhere else f"trained in {self.seconds:.3g} s"
        number = len(self.warnings)
        wrong = self.failure or (f"{number} warning{'s' if number > 1 else ''}" if number else "")
        network = f"{self.network_in_words} ({self.size[1]} parameters)"
        of = f" of {self.problem.name!r}" if self.problem.name else ""
        return f"<Pinn{of}: {network}, {how}{wrong and '; ' + wrong}>"

    def __call__(self, points: Any) -> Float[Array | np.ndarray, "n fields"]:
        return self.solution(as_points(points, self.problem.domain))

    @property
    def network_in_words(self) -> str:
        """What its network is made of, and where parts meet: "2 zones, each 1-32-32-32-1, tanh, which meet at x = 400"."""
        network, units, said = first_stage(self.solution.network), self.solution.units, in_words(self.solution.network)
        if not isinstance(network, Pieces) or units is None:
            return said
        names = self.problem.domain.coordinates
        begins = np.asarray(units.outside(network.middle.content - network.half.content))
        inner = {name: dict.fromkeys(f"{at:.4g}" for at in np.unique(begins[:, i])) for i, name in enumerate(names)}
        places = [f"{name} = {', '.join(list(ats)[1:])}" for name, ats in inner.items() if len(ats) > 1]
        return f"{said}, which meet at {' and '.join(places)}" if places else said

    def facing(self, problem: Problem) -> "Pinn":
        """The same network before another problem (with more data, say), at the points that it was trained at."""
        pinn = self.first_stage()
        return dataclasses.replace(pinn, problem=problem, channels=pinn._channels_of(problem), has_seen_all=False)

    def first_stage(self) -> "Pinn":
        """The same without what was added to its network, for what cannot do with it: new data, and methods that move weights,
        of which no residual needs to be as small."""
        if last_stage(self.solution.network) is None:
            return self
        solution = dataclasses.replace(self.solution, network=first_stage(self.solution.network))
        alone = dataclasses.replace(self, solution=solution)
        return dataclasses.replace(alone, channels=alone._channels_of(self.problem))

    def _channels_of(self, problem: Problem) -> tuple[Channel, ...]:
        """Those of a problem, with what this network leaves of them."""
        scales = scales_for(self.solution, problem)
        own, moved, elsewhere = self.solution, self.moved, self.trained_elsewhere
        return estimated_channels(self.base, own, problem, self.points_key, scales, moved=moved, trained_elsewhere=elsewhere)

    @property
    def by_construction(self) -> tuple[str, ...]:
        """The conditions that its network meets whatever its parameters are."""
        trained_on = {channel.name for channel in self.channels}
        return tuple(condition.label for condition in self.problem.conditions if condition.label not in trained_on)

    @property
    def is_noiseless(self) -> bool:
        """Whether all its conditions hold exactly, without tolerances that somebody gave."""
        return all(isinstance(c.precision, Exact) and not c.precision.is_settled for c in self.channels)

    @property
    def size(self) -> tuple[int, int]:
        """Rows of all channels, and parameters."""
        return sum(channel.target.size for channel in self.channels), int(optax.tree.size(trainable(self.solution)[0]))

    @property
    def sigmas(self) -> dict[str, float]:
        """What was estimated, by channel, in the units of the problem."""
        return {c.name: float(c.sigma_outside[0]) for c in self.channels if not c.precision.is_settled}

    @property
    def data_sigmas(self) -> dict[str, float]:
        """The standard deviation of the measurements' noise, given or estimated, by channel: root mean squares over their
        points."""
        return {
            c.name: deviation(c.precision.freedom) * float(np.sqrt(np.mean(c.sigma_outside**2)))
            for c in self.channels
            if c.kind == "data"
        }

    @property
    def field_noise(self) -> dict[str, float]:
        """The noise that one more direct measurement would have, by field."""
        sigmas = self.data_sigmas
        found: dict[str, list[float]] = {}
        for condition in self.problem.data:
            if getattr(condition, "is_direct", True) and condition.label in sigmas:
                found.setdefault(self.problem.field_name(condition.field), []).append(sigmas[condition.label])
        return {name: float(np.sqrt(np.mean(np.square(values)))) for name, values in found.items()}

    @property
    def priors(self) -> dict[str, tuple[float, float]]:
        """What is known beforehand of every unknown parameter: mean and standard deviation, or of a positive one median and
        relative width; without a statement of the user's, around the guess and wide."""
        units, found = self.solution.units, {}
        for name, unknown in self.problem.parameters.items():
            unit = 1.0 if units is None else float(units.unknowns[name])
            mean, sd = raw_prior(unknown, None if units is None else unit)
            found[name] = (unit * float(np.exp(mean)), sd) if unknown.positive else (unit * mean, unit * sd)
        return found

    def sigmas_outside(self, inside: Mapping[str, float]) -> dict[str, float]:
        """Dimensionless sigmas, by channel, in the units of the problem."""
        return {c.name: float(c.with_sigma(inside[c.name]).sigma_outside[0]) for c in self.channels if c.name in inside}

    def with_sigmas(self, sigmas: Mapping[str, float]) -> "Pinn":
        """This PINN with other estimates, in the units of the problem."""
        channels = tuple(c.with_sigma_outside(sigmas[c.name]) if c.name in sigmas else c for c in self.channels)
        return dataclasses.replace(self, channels=channels)


def prior_of(pinns: Sequence[Pinn], solution: Solution, width: float) -> Prior:
    """What is known beforehand of the weights and unknowns of some PINNs, whose stacked solution is given."""
    return bayesian_prior([pinn.problem for pinn in pinns], solution, width, elsewhere=pinns[0].trained_elsewhere)


def scales_for(solution: Solution, problem: Problem) -> Scales | None:
    """What makes a problem dimensionless, with the units that a trained solution has already."""
    if solution.units is None:
        return None
    network = solution.network
    scales = Scales.of(problem, hard=isinstance(network, Lifted))
    lift = Lift.of(network, scales.lift) if isinstance(network, Lifted) else None
    scales = dataclasses.replace(scales, has_directions=False) if network.directions is None else scales.with_directions()
    return dataclasses.replace(scales, units=solution.units, breaks={**scales.breaks, **windows_of(solution)}, lift=lift)


def estimated_channels(
    base: Base,
    solution: Solution,
    problem: Problem,
    key: PRNGKeyArray | int,
    scales: Scales | None = None,
    *,
    moved: Moved | None = None,
    trained_elsewhere: bool = False,
) -> tuple[Channel, ...]:
    """The channels of a problem, with sigma estimated from a trained solution where the problem gives none."""
    channels = stack([channels_at(base, problem, key, scales, moved)])
    elsewhere = stack([base.channels(problem, key, scales, elsewhere=True)])
    stacked = stack([solution])
    prior = bayesian_prior([problem], stacked, base.prior, elsewhere=trained_elsewhere)
    found = estimate_sigma(tuple(channels), tuple(elsewhere), stacked, PinnObjective, prior)
    (alone,) = unstack(found, 1)
    return tuple(alone)
