"""The one result type: every method ends in a distribution over solutions, and all that follows sees only that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives.jet import Jet
from ..derivatives.network import Solution
from ..derivatives.operator import Operator
from ..derivatives.units import Units
from ..errors import InputError
from ..problem.checks import as_points
from ..problem.problem import Problem, as_key
from ..solve.double import precision_of
from .sampler import Sampler
from .statistics import FieldValues, Functional, Prediction, predict

DRAWS = 10_000


@dataclass(frozen=True, eq=False)
class Posterior:
    """A distribution over solutions, whichever method made it.

    `predict`, `unknowns` and `evaluate` give mean and standard deviation over so many `draws`, chosen by `key`, or in closed
    form where the fields are Gaussian (the default epinet); `quantiles`
    (levels such as 0.025) and a number of single `samples` beside them if asked for. The spread of the draws is what is not
    known of the field; `noise` has, by field, what one more measurement of it would add, and `sigmas`, by channel, what the
    method itself found where the noise was unknown. `warnings` are sentences for whoever reads the result; `failure`, if any,
    says that training diverged and the last good weights were kept.
    """

    sampler: Sampler
    problem: Problem
    method: str
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    failure: str | None = None
    seconds: float = 0.0
    noise: Mapping[str, float] = field(default_factory=dict)
    sigmas: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        problem, number = self.problem, len(self.warnings)
        notes = f"; {number} warning{'s' if number > 1 else ''}" if number else ""
        of = f" of {problem.name!r}" if problem.name else ""
        return f"<Posterior{of} by {self.method}: {', '.join([*problem.fields, *problem.unknowns])}{notes}>"

    def draw(self, key: PRNGKeyArray | int) -> Solution:
        """One function, and the unknowns that go with it."""
        return self.sampler.solution(self.sampler.index(as_key(key)))

    def predict(
        self,
        points: Any,
        *,
        field: str | None = None,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
        quantiles: Sequence[float] = (),
        samples: int = 0,
    ) -> Prediction:
        """The fields at points (n, coordinates): shape (n,) for one field, (n, fields) for all of several."""
        column = None
        if field is not None or len(self.problem.fields) == 1:
            column = self.problem.fields.index(self.problem.field_name(field))
        inside = self._inside(as_points(points, self.problem.domain))
        found = self._statistics(_Fields(inside, column), draws, key, quantiles, samples)
        if self._units is None:
            return found
        offset = np.asarray(self._units.offset)
        return found.shifted(offset if column is None else offset[column])

    @cached_property
    def _units(self) -> Units | None:
        """The units that all draws have in common, in double precision."""
        units = _units_of(self.sampler)
        return None if units is None else jax.tree.map(lambda leaf: np.asarray(leaf, float), units)

    def _inside(self, points: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n d"]:
        """Points of the network."""
        with precision_of(self.sampler):
            return jnp.asarray(points if self._units is None else self._units.inside(points), float)

    def predict_measurement(
        self, points: Any, *, field: str | None = None, draws: int = DRAWS, key: PRNGKeyArray | int = 0
    ) -> Prediction:
        """What a direct measurement of a field at points would show: its spread and the noise together."""
        name = self.problem.field_name(field)
        if name not in self.noise:
            raise InputError(f"nothing is known of the noise of {name}: it has no measurements.")
        found = self.predict(points, field=name, draws=draws, key=key)
        return Prediction(found.mean, np.hypot(found.std, self.noise[name]), draws=found.draws)

    def unknowns(
        self,
        *,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
        quantiles: Sequence[float] = (),
        samples: int = 0,
    ) -> dict[str, Prediction]:
        """What an inverse problem asks for, by name: unknown parameters, averages of fields that should be constant."""
        names = self.problem.sought
        if not names:
            return {}
        prediction = self._statistics(_Sought(self.problem), draws, key, quantiles, samples)
        return {name: prediction.column(i) for i, name in enumerate(names)}

    def evaluate(
        self,
        functional: Callable[..., Any],
        at: Any = None,
        *,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
        quantiles: Sequence[float] = (),
        samples: int = 0,
    ) -> Prediction:
        """Any functional of the solution.

        With points `at`, an operator written like an equation (`lambda u: u.x`), evaluated there; without, a function
        from a `Solution` to an array, such as an integral of `solution(points)`.
        """
        if at is None:
            return self._statistics(functional, draws, key, quantiles, samples)
        operator = Operator(functional, self.problem.names)
        applied = _Applied(operator, self._inside(as_points(at, self.problem.domain)))
        prediction = self._statistics(applied, draws, key, quantiles, samples)
        return prediction.column(0) if operator.size == 1 else prediction

    def _statistics(
        self, functional: Functional, draws: int, key: PRNGKeyArray | int, quantiles: Sequence[float], samples: int
    ) -> Prediction:
        return predict(self.sampler, functional, draws=draws, key=as_key(key), quantiles=quantiles, samples=samples)


@eqx.filter_jit
def _units_of(sampler: Sampler) -> Units | None:
    return sampler.solution(sampler.index(jax.random.key(0))).units


class _Fields(FieldValues):
    """All fields without their offsets at points of the network, or one of them."""

    points: Float[Array, "n d"]
    column: int | None = eqx.field(static=True, default=None)

    @property
    def size(self) -> int:
        return len(self.points)

    def __call__(self, solution: Solution) -> Float[Array, "n ..."]:
        values = solution.variation(self.points)
        return values if self.column is None else values[:, self.column]


class _Applied(eqx.Module):
    """An operator at points of the network."""

    operator: Operator
    points: Float[Array, "n d"]

    def __call__(self, solution: Solution) -> Float[Array, "n size"]:
        def at_point(x: Float[Array, " d"]) -> Array:
            jet = solution.network(Jet.variable(x, self.operator.orders))
            return self.operator(solution.fields(cast(Jet, jet)), solution.outside(x), solution.unknowns, {})

        return jax.vmap(at_point)(self.points)


class _Sought(eqx.Module):
    """What an inverse problem asks for."""

    problem: Problem = eqx.field(static=True)

    def __call__(self, solution: Solution) -> Float[Array, " sought"]:
        found = self.problem.summary(solution)
        return jnp.stack([found[name] for name in self.problem.sought])
