"""The base PINN: a network, and the unknown parameters, fitted to the channels of a problem."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
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
from .goodness import Goodness
from .network import MLP, Encoding, Frozen, Solution, check_architecture, trainable
from .newton import Prior, gauss_newton
from .noise import estimated, first_guess
from .problem import Problem, as_key, as_points
from .train import Descent, Objective, Outcome, Progress, Redraw, Weights, minimise

ROUNDS = {"unknown": 4, "exact": 2}  # sigma that nobody gave is estimated from what a fit leaves over, the fit repeated
WORK = {"cpu": 1e12}  # operations of Gauss-Newton; a hundred times as many elsewhere
RESTART = "normal"  # wider weights leave the plateau around u = 0 on which others may get stuck


@dataclass(frozen=True)
class Base:
    """The base network and its training.

    `fourier` random frequencies of the given scale replace the coordinates; `scale_inputs` maps the box to [-1, 1];
    `output_scale` multiplies the output. `polish` L-BFGS steps follow the epochs, then at most `newton` Gauss-Newton steps on
    the residuals in units of their noise, in double precision, as many as `newton_work` floating-point operations allow (by
    default 1e12 on a CPU, about a minute, and 1e14 elsewhere).
    Where there is noise, a Gaussian `prior` of that width on all weights joins them, as in a Bayesian PINN.
    A seed that has not found the solution is trained anew from other weights, up to `restarts` times.
    `tolerance` is the sigma of all exact conditions without one of their own; by default, what the network reaches.
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
    newton_work: float | None = None
    restarts: int = 2
    prior: float = 1.0
    tolerance: float | None = None

    def __post_init__(self) -> None:
        check_architecture(self.hidden, self.activation, self.initialisation)
        for name in ("fourier", "polish", "newton", "newton_work", "restarts"):
            if not 0 <= (getattr(self, name) or 0) < math.inf:
                raise InputError(f"base.{name} must be a finite number, and not negative.")
        if not self.fourier_scale > 0 or not self.prior > 0:
            raise InputError("base.fourier_scale and base.prior must be positive.")
        if self.tolerance is not None and not self.tolerance > 0:
            raise InputError("base.tolerance must be positive.")
        _ = self.descent  # checks its part of the settings

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.learning_rate, self.schedule, self.optimizer)

    @property
    def work(self) -> float:
        """Floating-point operations that Gauss-Newton may use."""
        return WORK.get(jax.default_backend(), 1e14) if self.newton_work is None else self.newton_work

    @property
    def trains(self) -> bool:
        return bool(self.epochs or self.polish or self.newton)

    def channels(self, problem: Problem, key: PRNGKeyArray | int, elsewhere: bool = False) -> tuple[Channel, ...]:
        """Those of a problem, at its points or at others, with the tolerance of these settings."""
        made = problem.elsewhere(key) if elsewhere else problem.channels(key)
        if self.tolerance is None:
            return made
        return tuple(
            dataclasses.replace(c.with_sigma(self.tolerance), estimated=False) if c.estimated and c.noise == "exact" else c
            for c in made
        )

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
    regularised: bool = False  # whether the prior on the weights took part in its training
    trained_elsewhere: bool = False

    def __call__(self, points: Any) -> Float[Array, "n fields"]:
        return self.solution(as_points(points, self.problem.domain))

    def facing(self, problem: Problem) -> "Pinn":
        """The same network before another problem (with more data, say), at the points that it was trained at."""
        channels = settled(self.base, self.solution, problem, self.points_key)
        return dataclasses.replace(self, problem=problem, channels=channels, has_seen_all=False)

    @property
    def size(self) -> tuple[int, int]:
        """Rows of all channels, and parameters."""
        parameters = jax.tree.leaves(trainable(self.solution)[0])
        return sum(channel.target.size for channel in self.channels), sum(leaf.size for leaf in parameters)

    @property
    def sigmas(self) -> dict[str, float]:
        """What was estimated, by channel."""
        return {channel.name: float(channel.sigma[0]) for channel in self.channels if channel.estimated}

    def with_sigmas(self, sigmas: Mapping[str, float]) -> "Pinn":
        """This PINN with other estimates."""
        channels = tuple(c.with_sigma(sigmas[c.name]) if c.name in sigmas else c for c in self.channels)
        return dataclasses.replace(self, channels=channels)


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
    problem, report = problems[0], progress or Progress()
    for other in problems[1:]:
        problem.check_same_equations(other)
    point_keys, network_keys, train_keys = purposes(jnp.stack([as_key(key) for key in keys]), 3)
    channels, elsewhere = (
        tuple(stack([base.channels(p, key, elsewhere=other) for p, key in zip(problems, point_keys, strict=True)]))
        for other in (False, True)
    )

    def start(seeds: Sequence[int], attempt: int) -> Solution:
        some, keys = [problems[i] for i in seeds], network_keys[np.asarray(seeds)]
        if attempt == 0:
            return create_solutions(base, some, keys)
        return create_solutions(dataclasses.replace(base, initialisation=RESTART), some, fold_in(keys, attempt))

    prior = bayesian_prior(problems, start(range(len(problems)), 0), base.prior) if is_noisy(channels) else None
    fits = descend(base, problems, start, channels, elsewhere, prior, train_keys, weights, report)
    return [
        Pinn(
            solution=found.solution,
            problem=p,
            channels=found.channels,
            points_key=key,
            base=base,
            weights=weights,
            steps=found.steps,
            losses=found.losses,
            seconds=found.seconds,
            failure=found.failure,
            warnings=found.misfits,
            regularised=bool(base.newton) and is_noisy(channels),
        )
        for found, p, key in zip(fits, problems, point_keys, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Fit:
    """One seed after all stages of training."""

    solution: Solution
    channels: tuple[Channel, ...]
    steps: list[int]
    losses: np.ndarray
    seconds: float
    failure: str | None
    misfits: list[str]
    distance: float  # from the conditions, in units of their noise

    def ranks_before(self, other: "Fit") -> bool:
        return (self.failure is not None, self.distance) < (other.failure is not None, other.distance)


Start = Callable[[Sequence[int], int], Solution]  # seeds, attempt -> where they begin, stacked


def descend(
    base: Base,
    problems: Sequence[Problem],
    start: Start,
    channels: tuple[Channel, ...],
    elsewhere: tuple[Channel, ...],
    prior: Prior | None,
    keys: PRNGKeyArray,
    weights: Weights,
    progress: Progress,
) -> list[Fit]:
    """All seeds, those that have not found the solution again from other weights, the better attempt kept.

    A fit is judged by the same conditions `elsewhere`: at other points, or without what perturbed them.
    """
    everyone = list(range(len(problems)))
    fits = _descend(base, problems, start(everyone, 0), channels, elsewhere, prior, keys, weights, progress)
    for attempt in range(1, base.restarts + 1):
        lost = [i for i, found in enumerate(fits) if found.misfits or found.failure]
        if not lost:
            break
        tried = _descend(
            base,
            [problems[i] for i in lost],
            start(lost, attempt),
            chosen(channels, lost),
            chosen(elsewhere, lost),
            chosen(prior, lost),
            fold_in(keys[np.asarray(lost)], attempt),
            weights,
            progress,
            f", restart {attempt}",
        )
        for i, new in zip(lost, tried, strict=True):
            better = new if new.ranks_before(fits[i]) else fits[i]
            fits[i] = dataclasses.replace(better, seconds=fits[i].seconds + new.seconds)
    return fits


def _descend(
    base: Base,
    problems: Sequence[Problem],
    solution: Solution,
    channels: tuple[Channel, ...],
    elsewhere: tuple[Channel, ...],
    prior: Prior | None,
    train_keys: PRNGKeyArray,
    weights: Weights,
    progress: Progress,
    suffix: str = "",
) -> list[Fit]:
    """All seeds from their first weights to their last: epochs, L-BFGS, Gauss-Newton."""
    size = len(problems)
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
    settling, judges = first_guess(channels, solution), first_guess(elsewhere, solution)
    rounds = _rounds(channels) if base.newton else 0
    for i in range(rounds):
        if i > 0:
            found = estimated(settling, elsewhere, solution, PinnObjective, prior)
            settling = found if i == 1 else _with_tolerances(settling, found)
        parameters, rest = trainable(solution)
        outcome = gauss_newton(
            PinnObjective(rest),
            parameters,
            settling,
            keys=train_keys,
            steps=base.newton,
            prior=prior,
            work=base.work,
            to_the_mode=prior is not None and i == rounds - 1,
            progress=progress,
            stage="newton" + (f" {i + 1}" if rounds > 1 else "") + suffix,
        )
        solution = eqx.combine(outcome.parameters, rest)
        outcomes.append(outcome)
    final = _final(settling, estimated(settling, elsewhere, solution, PinnObjective, prior), rounds)
    goodness = Goodness.of(judges, solution)
    return [
        Fit(
            solution=found,
            channels=one if base.trains else before,
            steps=outcomes[0].steps,
            losses=outcomes[0].losses[:, i],
            seconds=sum(outcome.seconds for outcome in outcomes) / size,
            failure=next((outcome.failures[i] for outcome in outcomes if outcome.failures[i]), None),
            misfits=goodness.misfits(i, channels) if base.trains else [],
            distance=float(goodness.total[i]),
        )
        for i, (found, one, before) in enumerate(
            zip(unstack(solution, size), unstack(final, size), unstack(channels, size), strict=True)
        )
    ]


def is_noisy(channels: Sequence[Channel]) -> bool:
    return any(channel.noise != "exact" for channel in channels)


def _rounds(channels: Sequence[Channel]) -> int:
    """How often Gauss-Newton runs. Without noise the solution is the same whatever the tolerance is."""
    if not is_noisy(channels):
        return 1
    return max(ROUNDS.get(channel.noise, 1) if channel.estimated else 1 for channel in channels)


def _with_tolerances(of: tuple[Channel, ...], channels: tuple[Channel, ...]) -> tuple[Channel, ...]:
    """Channels with the tolerances of others where they are exact."""
    return tuple(old if new.noise == "exact" else new for old, new in zip(of, channels, strict=True))


def _final(used: tuple[Channel, ...], left: tuple[Channel, ...], rounds: int) -> tuple[Channel, ...]:
    """The sigma to go on with. An exact condition among noisy ones keeps the tolerance that the last fit was made with, unless
    that was out of reach: a fit follows whatever it is told, and would be told less every time."""
    if rounds < ROUNDS["exact"]:
        return left
    return tuple(
        eqx.tree_at(lambda c: c.sigma, new, jnp.maximum(new.sigma, old.sigma)) if new.noise == "exact" else new
        for old, new in zip(used, left, strict=True)
    )


def settled(base: Base, solution: Solution, problem: Problem, key: PRNGKeyArray | int) -> tuple[Channel, ...]:
    """The channels of a problem with the sigma that a trained solution suggests where nobody gave it."""
    channels, elsewhere = (stack([base.channels(problem, key, elsewhere=other)]) for other in (False, True))
    stacked = stack([solution])
    prior = bayesian_prior([problem], stacked, base.prior)
    (found,) = unstack(estimated(tuple(channels), tuple(elsewhere), stacked, PinnObjective, prior), 1)
    return found


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
def fold_in(keys: PRNGKeyArray, number: int) -> PRNGKeyArray:
    """Other keys, one for each."""
    return jax.vmap(lambda key: jax.random.fold_in(key, number))(keys)


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
