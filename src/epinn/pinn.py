"""The base PINN: a network, and the unknown parameters, fitted to the channels of a problem."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .batch import over_seeds, stack, unstack
from .channel import Channel, residuals
from .domain import Box
from .errors import Diverged, InputError
from .network import MLP, Encoding, Frozen, Solution, check_architecture, trainable
from .newton import gauss_newton
from .problem import Problem, as_key, as_points
from .train import Descent, Objective, Outcome, Progress, Redraw, Weights, minimise


@dataclass(frozen=True)
class Base:
    """The base network and its training.

    `fourier` random frequencies of the given scale replace the coordinates; `scale_inputs` maps the box to [-1, 1];
    `output_scale` multiplies the output. `polish` L-BFGS steps follow the epochs, then `newton` Gauss-Newton steps, which
    are computed in double precision.
    """

    hidden: tuple[int, ...] = (32, 32, 32)
    activation: str = "tanh"
    initialisation: str = "xavier"
    fourier: int = 0
    fourier_scale: float = 1.0
    scale_inputs: bool = False
    output_scale: float = 1.0
    epochs: int = 15_000
    learning_rate: float = 3e-3
    schedule: str = "cosine"
    optimizer: str = "adam"
    polish: int = 0
    newton: int = 0

    def __post_init__(self) -> None:
        check_architecture(self.hidden, self.activation, self.initialisation)
        if min(self.fourier, self.polish, self.newton) < 0 or not self.fourier_scale > 0:
            raise InputError(
                "base.fourier, base.polish and base.newton must not be negative; base.fourier_scale must be positive."
            )
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

    def __call__(self, points: Any) -> Float[Array, "n fields"]:
        return self.solution(as_points(points, self.problem.domain))

    def facing(self, problem: Problem) -> "Pinn":
        """The same network before another problem (with more data, say), at the points that it was trained at."""
        return dataclasses.replace(self, problem=problem, channels=problem.channels(self.points_key))


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
    solution = create_solutions(base, problems, network_keys)
    stages = {"training": base.descent} | ({"polish": Descent(base.polish, optimizer="lbfgs")} if base.polish else {})
    outcomes = []
    for stage, descent in stages.items():
        outcome, solution = train_solution(
            solution, channels, problem, keys=train_keys, descent=descent, weights=weights, progress=progress, stage=stage
        )
        outcomes.append(outcome)
    if base.newton:
        if weights.mode != "fixed":
            raise InputError("Gauss-Newton steps belong to fixed weights: set weights.mode=fixed or base.newton=0.")
        outcome, solution = gauss_newton(solution, channels, steps=base.newton, weights=weights, progress=progress)
        outcomes.append(outcome)
    seconds = sum(outcome.seconds for outcome in outcomes) / size
    return [
        Pinn(
            solution=s,
            problem=p,
            channels=c,
            points_key=key,
            base=base,
            weights=weights,
            steps=outcomes[0].steps,
            losses=outcomes[0].losses[:, i],
            seconds=seconds,
            failure=next((outcome.failures[i] for outcome in outcomes if outcome.failures[i]), None),
        )
        for i, (s, p, c, key) in enumerate(
            zip(unstack(solution, size), problems, unstack(channels, size), point_keys, strict=True)
        )
    ]


def create_solutions(base: Base, problems: Sequence[Problem], keys: PRNGKeyArray) -> Solution:
    """Untrained solutions, one per seed, stacked."""
    networks = _networks(base, problems[0].domain, len(problems[0].fields), keys)
    return stack([p.solution(network) for p, network in zip(problems, unstack(networks, len(problems)), strict=True)])


@functools.partial(jax.jit, static_argnums=1)
def purposes(keys: PRNGKeyArray, number: int) -> PRNGKeyArray:
    """Independent keys for several purposes from one key per seed; axes purposes, seeds."""
    return jax.vmap(lambda key: jax.random.split(key, number), out_axes=1)(keys)


@eqx.filter_jit
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
