"""The error of a network, from what it leaves of exact conditions.

A fit that is done has removed from its residuals all that its own weights can remove, so its error lies where they cannot see
it. Here it is looked for in another, larger space: a layer of random units on top of what the last layer of the network sees,
and of the coordinates. They are as fine as the network where it is fine (around a shock), and there are several times more
points than units, so that what is found holds between points too. The coefficients solve the linearised error equation: once
the error is added, the residuals are to vanish, with whatever the equation makes of that. How far they are held back follows
from other points: there the residuals of the equation itself, not linearised, are to become smallest.

One step tells how large the error is; with more of them, each from where the one before has led, it is found as exactly as the
units can say it.
"""

import dataclasses
from collections.abc import Sequence
from typing import final

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
from ..derivatives.network import AbstractNetwork, Solution
from ..derivatives.random_units import UNKNOWNS, RandomUnits, combined
from ..problem.channel import FEW, Channel, residuals
from .double import in_double
from .optimise.objective import Objective, Residuals
from .optimise.whitened import System
from .pinn import Pinn, scales_for
from .refine import CANDIDATES, candidates_of, taken, where_most_is_left
from .seeds import Keys, one_of, over_seeds, seeds_at_once, stack, unstack

ROWS = 4  # for every coefficient,
MOST = 16  # or as many as the fit has, up to that
RIDGES = (1e-8, 1e-6, 1e-5)  # of the size of the Jacobian: nearly parallel units must not cancel each other
AROUND = (1e-2, 1.0, 1e2)  # the last one, of several steps: so many times it are tried next
FINEST = 1e-10
LESS = 0.5  # of the residuals: what leaves more of them was the last step
NOTHING = 1e-7  # of the residuals: no step can leave much less
PROBES = 256  # places at which the size of an error is taken
BYTES = 24  # for each entry of the matrix: itself, a copy and its factor
ROUNDS = (1001, 1002)  # of candidates for points, to fit the error at and to test it at: none that a fit has


class Estimate(eqx.Module):
    """The error of a network as a sum of random units on its features; in double precision."""

    units: RandomUnits
    outer: Float[Array, "*seeds fields units"]
    left: Float[Array, "*seeds"]  # of the residuals at points that the estimate has not seen, once it is added: the share
    size: Float[Array, "*seeds fields"]  # root mean squares at the probes, in the units of the network
    probes: Float[Array, "*seeds n d"]


def can_be_estimated(pinns: Sequence[Pinn]) -> bool:
    """Whether nothing but the networks can be wrong: not where there is noise, or a tolerance that somebody gave, in which the
    error has a part already, where fields depend on some coordinates only, and where the matrix does not fit into memory."""
    alone = all(pinn.is_noiseless and pinn.has_seen_all and not pinn.problem.parameters for pinn in pinns)
    return alone and _sees_everything(pinns[0].solution.network) and _numbers(pinns[0]) is not None


def estimates(pinns: Sequence[Pinn], keys: Keys, *, steps: int = 1) -> Estimate:
    """Of all PINNs together."""
    numbers = _numbers(pinns[0])
    assert numbers is not None  # it can be estimated
    unknowns, points = numbers
    seen, unseen = (tuple(stack([_fresh(pinn, round, points) for pinn in pinns])) for round in ROUNDS)
    drawn = [
        RandomUnits.drawn(pinn.solution.network, pinn.problem.domain.dimension, unknowns, key)
        for pinn, key in zip(pinns, keys, strict=True)
    ]
    at_once = seeds_at_once(BYTES * unknowns**2 * ROWS)

    def compute(
        solution: Solution,
        seen: tuple[Channel, ...],
        unseen: tuple[Channel, ...],
        units: RandomUnits,
        probes: Array,
    ) -> Estimate:
        return _estimated(solution, seen, unseen, units, probes, keys, steps, at_once)

    solution, probes = stack([pinn.solution for pinn in pinns]), stack([probes_of(pinn) for pinn in pinns])
    return in_double(compute, solution, seen, unseen, stack(drawn), probes, side=unknowns)


def probes_of(pinn: Pinn) -> Float[Array, "n d"]:
    """Points all over the domain, in the units of the network."""
    units, points = pinn.solution.units, pinn.problem.domain.points(PROBES, "sobol", key=jax.random.key(0))
    return jnp.asarray(points if units is None else units.inside(points), float)


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


class Added(AbstractNetwork):
    """A network with sums of random units added to it, which are zero wherever it has given values."""

    network: AbstractNetwork
    units: RandomUnits
    outer: Float[Array, "fields units"]

    def features(self, x: Value) -> Value:
        return self.network.features(x)

    def __call__(self, x: Value) -> Value:
        value: Value = self.network(x) + combined(self.network, self.units, self.outer, x)
        return value


@final
class _ErrorObjective(Objective):
    """The residuals of a network and its error together, as a function of the coefficients of the error."""

    solution: Solution
    units: RandomUnits

    def prepare(self, channels: Sequence[Channel]) -> None:
        return None

    def residuals(
        self, parameters: Float[Array, "fields units"], channels: Sequence[Channel], prepared: None, key: PRNGKeyArray
    ) -> Residuals:
        return residuals(channels, self.corrected(parameters))

    def corrected(self, outer: Float[Array, "fields units"]) -> Solution:
        return dataclasses.replace(self.solution, network=Added(self.solution.network, self.units, outer))


@eqx.filter_jit
def _estimated(
    solutions: Solution,
    seen: tuple[Channel, ...],
    unseen: tuple[Channel, ...],
    units: RandomUnits,
    probes: Float[Array, "seeds n d"],
    keys: Keys,
    steps: int,
    at_once: int,
) -> Estimate:
    def one(
        solution: Solution,
        seen: tuple[Channel, ...],
        unseen: tuple[Channel, ...],
        units: RandomUnits,
        probes: Float[Array, "n d"],
        key: PRNGKeyArray,
    ) -> Estimate:
        points = max((channel.points for channel in seen), key=len)
        around = units.around(solution.network, points)
        layer = jax.tree.map(lambda leaf: leaf.astype(jnp.float32).astype(leaf.dtype), around)  # as they will be stored
        fields = jax.eval_shape(solution.network, points[0]).shape[-1]
        objective, like = _ErrorObjective(solution, layer), jnp.zeros((fields, len(layer.biases)))
        system, elsewhere = (System(objective, part, key, None, one_of(like[None])) for part in (seen, unseen))

        def left(at: Float[Array, " p"]) -> Float[Array, ""]:
            squares = jnp.mean(elsewhere.rows(at) ** 2)
            return jnp.where(jnp.isfinite(squares), squares, jnp.inf)

        def step(at: Float[Array, " p"], ridges: Float[Array, " ridges"]) -> tuple[Array, Array, Array]:
            tried = at + _least_squares(system.jacobian(at), -system.rows(at), ridges)
            squares = jax.lax.map(left, tried)
            best = jnp.argmin(squares)
            return tried[best], squares[best], ridges[best]

        def further(state: tuple[Array, Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array, Array]:
            at, now, ridge, _, number = state
            then, squares, ridge = step(at, jnp.maximum(ridge * jnp.asarray(AROUND), FINEST))
            better = squares < now
            return (
                jnp.where(better, then, at),
                jnp.where(better, squares, now),
                ridge,
                (squares > LESS**2 * now) | (squares < NOTHING**2 * begin),
                number + 1,
            )

        zero = jnp.zeros(like.size)
        begin = left(zero)
        if steps == 1:
            found, squares, _ = step(zero, jnp.asarray(RIDGES))
        else:
            state = (zero, begin, jnp.asarray(RIDGES[0]), jnp.zeros((), bool), jnp.zeros((), int))
            found, squares, *_ = jax.lax.while_loop(lambda state: ~state[3] & (state[4] < steps), further, state)
        outer = system.tree(found)
        added = objective.corrected(outer).dimensionless(probes) - solution.dimensionless(probes)
        share = jnp.sqrt(squares / jnp.maximum(begin, 1e-300))
        return Estimate(layer, outer, share, jnp.sqrt(jnp.mean(added**2, axis=0)), probes)

    return over_seeds(one, solutions, seen, unseen, units, probes, keys, at_once=at_once)


def _least_squares(
    jacobian: Float[Array, "m p"], target: Float[Array, " m"], ridges: Float[Array, " ridges"]
) -> Float[Array, "ridges p"]:
    """What minimises |J x - target|^2 with each of the ridges, from orthogonal transformations of both at once."""
    size = jacobian.shape[1]
    factor = jnp.linalg.qr(jnp.concatenate([jacobian, target[:, None]], axis=1), mode="r")[:size]

    def held_back(ridge: Float[Array, ""]) -> Float[Array, " p"]:
        below = jnp.concatenate([ridge * jnp.linalg.norm(jacobian) * jnp.eye(size), jnp.zeros((size, 1))], axis=1)
        regular = jnp.linalg.qr(jnp.concatenate([factor, below]), mode="r")
        return solve_triangular(regular[:size, :size], regular[:size, size])

    found: Array = jax.lax.map(held_back, ridges)
    return found
