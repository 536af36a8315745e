"""The error of a network itself, estimated from what it leaves of exact conditions.

A fit that is done has removed from its residuals all that its own weights can remove, so its error lies where they cannot see
it. Here it is looked for in another, larger space: a layer of random units on top of what the last layer of the network sees,
and of the coordinates. They are as fine as the network where it is fine (around a shock), and there are several times more
points than units, so that what is found holds between points too. The coefficients solve the linearised error equation: once
the error is added, the residuals are to vanish, with whatever the equation makes of that. How far they are held back follows
from other points: there the residuals of the equation itself, not linearised, are to become smallest.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, PRNGKeyArray

from ..derivatives import memory
from ..derivatives.composed import Parts
from ..derivatives.jet import Value
from ..derivatives.lifted import Lifted
from ..derivatives.network import AbstractNetwork, Frozen, Solution, trainable
from ..problem.channel import FEW, Channel, residuals
from ..solve.double import cast_like, in_double
from ..solve.optimise.objective import Objective, Residuals
from ..solve.optimise.whitened import System
from ..solve.pinn import Pinn, scales_for
from ..solve.refine import CANDIDATES, candidates_of, taken, where_most_is_left
from ..solve.seeds import Keys, one_of, over_seeds, seeds_at_once, stack, unstack
from .random_units import UNKNOWNS, RandomUnits, combined

ROWS = 4  # for every coefficient,
MOST = 16  # or as many as the fit has, up to that
RIDGES = (1e-8, 1e-6, 1e-5)  # of the size of the Jacobian: nearly parallel units must not cancel each other
PROBES = 256  # places at which the size of an error is taken
SURE = 0.2  # of the residuals, if an estimate of the error leaves no more than that, a band may become narrower by it
BYTES = 24  # for each entry of the matrix: itself, a copy and its factor
ROUNDS = (1001, 1002)  # of candidates for points, to fit the error at and to test it at: none that a fit has


class Corrected(AbstractNetwork):
    """A network plus `amplitude` times an estimate of its error, which is zero wherever the network has given values."""

    network: AbstractNetwork
    weights: Any  # of the random units, frozen, and nothing in a tree of parameters alone
    biases: Any
    outer: Any  # the coefficients, fields by units
    amplitude: Float[Array, "..."]

    def features(self, x: Value) -> Value:
        return self.network.features(x)

    def __call__(self, x: Value) -> Value:
        return self.network(x) + self.error(x) * self.amplitude

    def error(self, x: Value) -> Value:
        """The estimate, in the units of the network. It is one function for all draws: parameters that move do not move it."""
        parameters, rest = trainable(self.network)
        network: AbstractNetwork = eqx.combine(jax.lax.stop_gradient(parameters), rest)
        return combined(network, RandomUnits(self.weights.content, self.biases.content), self.outer.content, x)


class Extent(eqx.Module):
    """How large the error of a network is, and how far that is to be believed."""

    size: Float[Array, "*seeds fields"]  # root mean squares at the probes, in the units of the network
    left: Float[Array, "*seeds"]  # of the residuals at points that the estimate has not seen, once it is added: the share
    probes: Float[Array, "*seeds n d"]

    def factor(self, spread: Float[Array, " fields"]) -> Float[Array, ""]:
        """What makes the spread of draws at the probes as large as the error, of the field that needs most; of one seed."""
        times = jnp.max(jnp.where(spread > 0, self.size / jnp.where(spread > 0, spread, 1.0), 0.0))
        return jnp.where(self.left < SURE, times, jnp.maximum(times, 1.0))


class OwnError(eqx.Module):
    """What is known of the error of a network."""

    network: Corrected  # with amplitude zero: it says what it said before
    extent: Extent

    @property
    def diagnostics(self) -> dict[str, float]:
        """For whoever judges the band."""
        return {"own_error_left": float(self.extent.left)}


def own_errors(pinns: Sequence[Pinn], keys: Keys) -> list[OwnError] | None:
    """One for each PINN; None where there is noise, or a tolerance that somebody gave, in which the error has a part already,
    where fields depend on some coordinates only, and where the matrix does not fit into memory."""
    first = pinns[0]
    numbers = _numbers(first)
    if not (all(map(_is_alone, pinns)) and _sees_everything(first.solution.network) and numbers is not None):
        return None
    unknowns, points = numbers
    seen, unseen = ([_fresh(pinn, round, points) for pinn in pinns] for round in ROUNDS)
    probes = stack([probes_of(pinn) for pinn in pinns])
    solution = stack([pinn.solution for pinn in pinns])
    units = stack(
        [
            RandomUnits.drawn(pinn.solution.network, pinn.problem.domain.dimension, unknowns, key)
            for pinn, key in zip(pinns, keys, strict=True)
        ]
    )
    at_once = seeds_at_once(BYTES * unknowns**2 * ROWS)

    def compute(solution: Solution, seen: tuple[Channel, ...], unseen: tuple[Channel, ...], units: RandomUnits) -> OwnError:
        return _estimated(solution, seen, unseen, units, probes, keys, at_once)

    found = in_double(compute, solution, tuple(stack(seen)), tuple(stack(unseen)), units, side=unknowns)
    dtype = jax.tree.leaves(trainable(first.solution)[0])[0].dtype  # a network trained elsewhere may be in double precision
    like = jax.tree.map(
        lambda leaf: jnp.zeros((), dtype) if np.issubdtype(np.asarray(leaf).dtype, np.floating) else leaf, found
    )
    each: list[OwnError] = unstack(cast_like(found, like), len(pinns))
    return each


def _is_alone(pinn: Pinn) -> bool:
    """Whether nothing but the network can be wrong."""
    return pinn.is_noiseless and pinn.has_seen_all and not pinn.problem.parameters


def _sees_everything(network: AbstractNetwork) -> bool:
    """Whether every field depends on all coordinates, so that its error may too."""
    return not isinstance(network.network if isinstance(network, Lifted) else network, Parts)


def _numbers(pinn: Pinn) -> tuple[int, tuple[int, ...]] | None:
    """How many coefficients there are, and how many points of each channel; None where they do not fit into memory."""
    now = sum(c.target.size for c in pinn.channels)
    fields = len(pinn.problem.names.fields)
    units = max(1, min(UNKNOWNS, CANDIDATES * now // ROWS) // fields)
    times = min(float(CANDIDATES), max(min(1.0, MOST * UNKNOWNS / now), ROWS * units * fields / now))
    points = tuple(max(round(times * len(c.points)), FEW) if c.sampled else len(c.points) for c in pinn.channels)
    rows = sum(n * c.target.size // len(c.points) for n, c in zip(points, pinn.channels, strict=True))
    if BYTES * (rows + units * fields) * units * fields > memory.available():
        return None
    return units * fields, points


def _fresh(pinn: Pinn, round: int, numbers: tuple[int, ...]) -> tuple[Channel, ...]:
    """The conditions at points that the fit has not seen; where its own have moved, more of them where more is left."""
    many = candidates_of(pinn.base, pinn.problem, pinn.points_key, scales_for(pinn.solution, pinn.problem), round)
    numbers = tuple(min(n, len(c.points)) for n, c in zip(numbers, many, strict=True))  # an end of an interval is one point
    if pinn.moved is None:  # choosing would be one more program to compile, and evenly spread points do as well
        places = [np.random.default_rng(round).permutation(len(c.points))[:n] for n, c in zip(numbers, many, strict=True)]
        return taken(pinn.channels, many, [at if c.sampled else None for c, at in zip(pinn.channels, places, strict=True)])
    own, candidates = (tuple(stack([part])) for part in (pinn.channels, many))
    keys = jax.random.split(jax.random.key(round), 1)
    (found,) = unstack(where_most_is_left(own, candidates, stack([pinn.solution]), keys, numbers)[0], 1)
    return tuple(found)


def probes_of(pinn: Pinn) -> Float[Array, "n d"]:
    """Points all over the domain, in the units of the network."""
    units, points = pinn.solution.units, pinn.problem.domain.points(PROBES, "sobol", key=jax.random.key(0))
    return jnp.asarray(points if units is None else units.inside(points), float)


@final
class _ErrorObjective(Objective):
    """The residuals of a network and its error together, as a function of the coefficients of the error."""

    solution: Solution
    corrected: Corrected

    def prepare(self, channels: Sequence[Channel]) -> None:
        return None

    def residuals(
        self, parameters: Float[Array, "fields units"], channels: Sequence[Channel], prepared: None, key: PRNGKeyArray
    ) -> Residuals:
        return residuals(channels, dataclasses.replace(self.solution, network=self.network(parameters)))

    def network(self, outer: Float[Array, "fields units"]) -> Corrected:
        return dataclasses.replace(self.corrected, outer=Frozen(outer))


@eqx.filter_jit
def _estimated(
    solutions: Solution,
    seen: tuple[Channel, ...],
    unseen: tuple[Channel, ...],
    units: RandomUnits,
    probes: Float[Array, "seeds n d"],
    keys: Keys,
    at_once: int,
) -> OwnError:
    def one(
        solution: Solution,
        seen: tuple[Channel, ...],
        unseen: tuple[Channel, ...],
        units: RandomUnits,
        probes: Float[Array, "n d"],
        key: PRNGKeyArray,
    ) -> OwnError:
        points = max((channel.points for channel in seen), key=len)
        start = _start(solution.network, points, units)
        objective, like = _ErrorObjective(solution, start), one_of(start.outer.content[None])
        at = jnp.zeros(start.outer.content.size)
        system = System(objective, seen, key, None, like)
        target = -system.rows(at)
        tried = _least_squares(system.jacobian(at), target)
        elsewhere = System(objective, unseen, key, None, like)
        squares = jax.lax.map(lambda each: jnp.mean(elsewhere.rows(each) ** 2), jnp.concatenate([at[None], tried]))
        squares = jnp.where(jnp.isfinite(squares), squares, jnp.inf)
        best, left = tried[jnp.argmin(squares[1:])], jnp.sqrt(jnp.min(squares[1:]) / jnp.maximum(squares[0], 1e-300))
        found = objective.network(system.tree(best))
        corrected = dataclasses.replace(solution, network=found)
        size = jnp.sqrt(jnp.mean((corrected.dimensionless(probes) - solution.dimensionless(probes)) ** 2, axis=0))
        return OwnError(dataclasses.replace(found, amplitude=jnp.zeros(())), Extent(size, left, probes))

    return over_seeds(one, solutions, seen, unseen, units, probes, keys, at_once=at_once)


def _start(network: AbstractNetwork, points: Float[Array, "n d"], units: RandomUnits) -> Corrected:
    """A network with random units beside it, which have no effect as yet."""
    fields = jax.eval_shape(network, points[0]).shape[-1]
    layer = units.around(network, points)
    outer = jnp.zeros((fields, len(layer.biases)))
    return Corrected(network, Frozen(layer.weights), Frozen(layer.biases), Frozen(outer), jnp.ones(()))


def _least_squares(jacobian: Float[Array, "m p"], target: Float[Array, " m"]) -> Float[Array, "ridges p"]:
    """What minimises |J x - target|^2 with each of the ridges, from orthogonal transformations of both at once."""
    size = jacobian.shape[1]
    factor = jnp.linalg.qr(jnp.concatenate([jacobian, target[:, None]], axis=1), mode="r")[:size]

    def held_back(ridge: Float[Array, ""]) -> Float[Array, " p"]:
        below = jnp.concatenate([ridge * jnp.linalg.norm(jacobian) * jnp.eye(size), jnp.zeros((size, 1))], axis=1)
        regular = jnp.linalg.qr(jnp.concatenate([factor, below]), mode="r")
        return solve_triangular(regular[:size, :size], regular[:size, size])

    found: Array = jax.lax.map(held_back, jnp.asarray(RIDGES))
    return found
