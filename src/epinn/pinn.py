"""The base PINN: a network, and the unknown parameters, fitted to the channels of a problem."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .batch import chosen, over_seeds, runs_once, stack, unstack
from .channel import Channel, residuals
from .domain import Box
from .errors import Diverged, InputError
from .goodness import Goodness, with_noise_of
from .network import MLP, Encoding, Frozen, Solution, check_architecture, trainable
from .newton import Prior, gauss_newton
from .problem import Problem, as_key, as_points
from .train import Descent, Objective, Outcome, Progress, Redraw, Weights, minimise

FIRST_NOISE = 0.1  # of unknown size, in parts of the targets: an estimate before the first fit would call everything noise
NOISE_ROUNDS = 3  # noise that is not known is estimated from what is left, the fit repeated, and so on
RESTART = "normal"  # wider weights leave the plateau around u = 0 on which others may get stuck


@dataclass(frozen=True)
class Base:
    """The base network and its training.

    `fourier` random frequencies of the given scale replace the coordinates; `scale_inputs` maps the box to [-1, 1];
    `output_scale` multiplies the output. `polish` L-BFGS steps follow the epochs, then at most `newton` Gauss-Newton steps on
    the residuals in units of their noise, in double precision, as many as `newton_work` floating-point operations allow.
    Where there is noise, a Gaussian `prior` of that width on all weights joins them, as in a Bayesian PINN.
    A seed that has not found the solution is trained anew from other weights, up to `restarts` times.
    """

    hidden: tuple[int, ...] = (32, 32, 32)
    activation: str = "tanh"
    initialisation: str = "xavier"
    fourier: int = 0
    fourier_scale: float = 1.0
    scale_inputs: bool = False
    output_scale: float = 1.0
    epochs: int = 1_000
    learning_rate: float = 3e-3
    schedule: str = "cosine"
    optimizer: str = "adam"
    polish: int = 0
    newton: int = 300
    newton_work: float = 1e12
    restarts: int = 2
    prior: float = 1.0

    def __post_init__(self) -> None:
        check_architecture(self.hidden, self.activation, self.initialisation)
        for name in ("fourier", "polish", "newton", "newton_work", "restarts"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"base.{name} must be a finite number, and not negative.")
        if not self.fourier_scale > 0 or not self.prior > 0:
            raise InputError("base.fourier_scale and base.prior must be positive.")
        _ = self.descent  # checks its part of the settings

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.learning_rate, self.schedule, self.optimizer)

    def network(self, domain: Box, fields: int, key: PRNGKeyArray) -> MLP:
        frequency_key, network_key = jax.random.split(key)
        frequencies = None
        if self.fourier:
            normal = jax.random.normal(frequency_key, (self.fourier, domain.dimension))
            frequencies = Frozen(2 * np.pi * self.fourier_scale * normal)
        bounds = (domain.lower, domain.upper) if self.scale_inputs else None
        return MLP.create(
            domain.dimension,
            self.hidden,
            fields,
            key=network_key,
            activation=self.activation,
            initialisation=self.initialisation,
            encoding=Encoding(bounds=bounds, frequencies=frequencies),
            output_scale=self.output_scale,
        )


@dataclass(frozen=True, eq=False)
class Pinn:
    """A trained base PINN. Call it at points for the fields there."""

    solution: Solution
    problem: Problem
    channels: tuple[Channel, ...]
    points_key: PRNGKeyArray | int = 0
    base: Base = Base()
    weights: Weights = Weights()
    steps: list[int] = field(default_factory=list)
    losses: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    seconds: float = 0.0
    failure: str | None = None
    warnings: list[str] = field(default_factory=list)
    has_seen_all: bool = True  # whether it was trained on all its channels
    trained_elsewhere: bool = False

    def __call__(self, points: Any) -> Float[Array, "n fields"]:
        return self.solution(as_points(points, self.problem.domain))

    def facing(self, problem: Problem) -> "Pinn":
        """The same network before another problem (with more data, say), at the points that it was trained at."""
        return dataclasses.replace(self, problem=problem, channels=problem.channels(self.points_key), has_seen_all=False)


class PinnObjective(Objective):
    """The residuals of a candidate solution."""

    rest: Solution

    def residuals(self, parameters: Solution, channels: Sequence[Channel], prepared: None, key: PRNGKeyArray) -> list[Array]:
        return residuals(channels, eqx.combine(parameters, self.rest))


def fit(
    problem: Problem,
    *,
    key: PRNGKeyArray | int = 0,
    base: Base = Base(),
    weights: Weights = Weights(),
    progress: Progress | None = None,
) -> Pinn:
    """Train a base PINN on a problem."""
    (pinn,) = fit_seeds([problem], keys=[key], base=base, weights=weights, progress=progress)
    if pinn.failure:
        raise Diverged(pinn.failure)
    return pinn


def fit_seeds(
    problems: Sequence[Problem],
    *,
    keys: Sequence[PRNGKeyArray | int],
    base: Base = Base(),
    weights: Weights = Weights(),
    progress: Progress | None = None,
) -> list[Pinn]:
    """Train one base PINN per seed, all at once. The problems may differ in their data, not in their equations.

    A seed that diverges says so in `failure`; the others go on.
    """
    problem, size = problems[0], len(problems)
    for other in problems[1:]:
        problem.check_same_equations(other)
    point_keys, network_keys, train_keys = purposes(jnp.stack([as_key(key) for key in keys]), 3)
    channels = stack([p.channels(key) for p, key in zip(problems, point_keys, strict=True)])
    fits = _descend(base, problems, channels, network_keys, train_keys, weights, progress or Progress())
    for attempt in range(1, base.restarts + 1):
        lost = [i for i, found in enumerate(fits) if found.misfits or found.failure]
        if not lost:
            break
        again = purposes(jnp.stack([jax.random.fold_in(network_keys[i], attempt) for i in lost]), 2)
        restart = dataclasses.replace(base, initialisation=RESTART)
        some, listener, label = [problems[i] for i in lost], progress or Progress(), f", restart {attempt}"
        tried = _descend(restart, some, chosen(channels, lost), again[0], again[1], weights, listener, label)
        for i, new in zip(lost, tried, strict=True):
            better = new if new.ranks_before(fits[i]) else fits[i]
            fits[i] = dataclasses.replace(better, seconds=fits[i].seconds + new.seconds)
    return [
        Pinn(
            solution=found.solution,
            problem=p,
            channels=c,
            points_key=key,
            base=base,
            weights=weights,
            steps=found.steps,
            losses=found.losses,
            seconds=found.seconds,
            failure=found.failure,
            warnings=found.misfits,
        )
        for found, p, c, key in zip(fits, problems, unstack(channels, size), point_keys, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Fit:
    """One seed after all stages of training."""

    solution: Solution
    steps: list[int]
    losses: np.ndarray
    seconds: float
    failure: str | None
    misfits: list[str]
    distance: float  # from the conditions, in units of their noise

    def ranks_before(self, other: "_Fit") -> bool:
        return (self.failure is not None, self.distance) < (other.failure is not None, other.distance)


def _descend(
    base: Base,
    problems: Sequence[Problem],
    channels: Sequence[Channel],
    network_keys: PRNGKeyArray,
    train_keys: PRNGKeyArray,
    weights: Weights,
    progress: Progress,
    suffix: str = "",
) -> list[_Fit]:
    """All seeds from their first weights to their last: epochs, L-BFGS, Gauss-Newton."""
    size, solution = len(problems), create_solutions(base, problems, network_keys)
    noisy = any(channel.noise != "exact" for channel in channels)
    prior = bayesian_prior(problems, solution, base.prior) if noisy else None
    stages = {"training": base.descent} | ({"polish": Descent(base.polish, optimizer="lbfgs")} if base.polish else {})
    outcomes = []
    for stage, descent in stages.items():
        outcome, solution = train_solution(
            solution,
            channels,
            problems[0],
            keys=train_keys,
            descent=descent,
            weights=weights,
            progress=progress,
            stage=stage + suffix,
        )
        outcomes.append(outcome)
    rounds = NOISE_ROUNDS if any(channel.noise == "unknown" for channel in channels) else 1
    for i in range(rounds if base.newton else 0):
        parameters, rest = trainable(solution)
        outcome = gauss_newton(
            PinnObjective(rest),
            parameters,
            with_noise_of(tuple(channels), solution, FIRST_NOISE if i == 0 else math.inf),
            keys=train_keys,
            steps=base.newton,
            prior=prior,
            work=base.newton_work / rounds,
            progress=progress,
            stage="newton" + (f" {i + 1}" if rounds > 1 else "") + suffix,
        )
        solution = eqx.combine(outcome.parameters, rest)
        outcomes.append(outcome)
    goodness = Goodness.of(channels, solution)
    return [
        _Fit(
            solution=found,
            steps=outcomes[0].steps,
            losses=outcomes[0].losses[:, i],
            seconds=sum(outcome.seconds for outcome in outcomes) / size,
            failure=next((outcome.failures[i] for outcome in outcomes if outcome.failures[i]), None),
            misfits=goodness.misfits(i, channels) if base.epochs or base.newton else [],
            distance=float(goodness.total[i]),
        )
        for i, found in enumerate(unstack(solution, size))
    ]


def bayesian_prior(problems: Sequence[Problem], solution: Solution, width: float) -> Prior:
    """That of Bayesian PINNs, for a stacked solution: around zero for weights, around the guess for unknowns."""
    parameters = trainable(solution)[0]

    def filled(value: float, of_unknown: str) -> Solution:
        network = jax.tree.map(lambda leaf: jnp.asarray(np.full(leaf.shape, value, leaf.dtype)), parameters.network)
        raw = {
            name: jnp.asarray(np.asarray([getattr(p.parameters[name], of_unknown) for p in problems], leaf.dtype))
            for name, leaf in parameters.raw.items()
        }
        return dataclasses.replace(parameters, network=network, raw=raw)

    return Prior(filled(0.0, "raw"), filled(width, "scale"))


def create_solutions(base: Base, problems: Sequence[Problem], keys: PRNGKeyArray) -> Solution:
    """Untrained solutions, one per seed, stacked."""
    networks = _networks(base, problems[0].domain, len(problems[0].fields), keys)
    return stack([p.solution(network) for p, network in zip(problems, unstack(networks, len(problems)), strict=True)])


@runs_once
def purposes(keys: PRNGKeyArray, number: int) -> PRNGKeyArray:
    """Independent keys for several purposes from one key per seed; axes purposes, seeds."""
    return jax.vmap(lambda key: jax.random.split(key, number), out_axes=1)(keys)


@runs_once
def _networks(base: Base, domain: Box, fields: int, keys: PRNGKeyArray) -> MLP:
    return over_seeds(lambda key: base.network(domain, fields, key), keys)


def train_solution(
    solution: Solution,
    channels: Sequence[Channel],
    problem: Problem,
    *,
    objective: Callable[[Solution], Objective] = PinnObjective,
    **options: Any,
) -> tuple[Outcome, Solution]:
    """Minimise over all parameters of a (stacked) solution."""
    parameters, rest = trainable(solution)
    outcome = minimise(objective(rest), parameters, channels, redraw=redraw(problem), **options)
    return outcome, eqx.combine(outcome.parameters, rest)


def redraw(problem: Problem) -> Redraw | None:
    return Redraw(problem.channels, problem.points.resample) if problem.points.resample else None
