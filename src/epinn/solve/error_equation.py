"""The error of a network, from what it leaves of exact conditions.

A fit that is done has removed from its residuals all that its own weights can remove, so its error lies where they cannot see
it. Here it is looked for in another, larger space: a layer of random units on top of what the last layer of the network sees,
and of the coordinates. They are as fine as the network where it is fine (around a shock), and there are several times more
points than units, so that what is found holds between points too. The coefficients solve the linearised error equation: once
the error is added, the residuals are to vanish, with whatever the equation makes of that. How far they are held back follows
from other points: there the linearised residuals are to become smallest, or where that leads nowhere, those of the equation.

Steps are made, each from where the one before has led, for as long as they bring something; factors of a Jacobian serve for as
long as the equation is as good as linear. Where an equation amplifies errors, a right step may leave more residuals than there
were: the step after it tells, which must be shorter.
"""

import dataclasses
from collections.abc import Sequence
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..derivatives import memory
from ..derivatives.composed import Parts
from ..derivatives.jet import Value
from ..derivatives.lifted import Lifted
from ..derivatives.network import AbstractNetwork, Solution
from ..derivatives.random_units import UNKNOWNS, RandomUnits, combined
from ..problem.channel import FEW, Channel, residuals
from .double import in_double
from .optimise.factors import Factors
from .optimise.objective import Objective, Residuals
from .optimise.whitened import System
from .pinn import Pinn, scales_for
from .refine import CANDIDATES, candidates_of, taken, where_most_is_left
from .seeds import Keys, one_of, over_seeds, seeds_at_once, stack, unstack

ROWS = 4  # for every coefficient,
MOST = 16  # or as many as the fit has, up to that
RIDGES = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # of the size of the Jacobian: nearly parallel units must not
# cancel each other, but what an equation amplifies ten million times must be seen
HELD_BACK = 6  # of them, the largest, are for steps that must leave less than there was
OF_ROUNDINGS, OF_SHARES = 1e-10, 1e-8  # where it is asked how much an equation makes of roundings, and of residuals
STEPS = 24  # with the factors of one Jacobian, at most,
LESS = 0.5  # of the residuals: what leaves more of them was the last step
CONTRACTS = 0.5  # of a step, if the next one is shorter, it has led towards a solution, whatever it did to the residuals
FURTHER = 1 / (1 - CONTRACTS)  # times the next step is how far all steps to come may go
LINEAR = 0.5  # of the residuals: if a Jacobian is wrong by less, those that are left are not its fault
NOTHING = 1e-7  # of the residuals: no step can leave much less
ROUNDED = 1e-7  # of the terms of a condition, in single precision, which its coefficients and given values may have been in
NOISES = 8  # draws of such roundings
PROBES = 256  # places at which the size of an error is taken
BYTES = 32  # for each entry of the matrix: itself, a copy and its factors
TESTS = 4  # times fewer points to test an error at than to fit it at: they are looked at often, and tell as much
ROUNDS = (1001, 1002)  # of candidates for points, to fit the error at and to test it at: none that a fit has


class Estimate(eqx.Module):
    """The error of a network as a sum of random units on its features; in double precision."""

    units: RandomUnits
    outer: Float[Array, "*seeds fields units"]
    left: Float[Array, "*seeds"]  # of the residuals at points that the estimate has not seen, once it is added: the share
    size: Float[Array, "*seeds fields"]  # root mean squares at the probes, in the units of the network,
    remains: Float[
        Array, "*seeds fields"
    ]  # and what the error is once the estimate is added: what each condition leaves is taken
    # to count as much as what it left before, and what is rounded, as much as the equation makes of it
    probes: Float[Array, "*seeds n d"]


def can_be_estimated(pinns: Sequence[Pinn]) -> bool:
    """Whether nothing but the networks can be wrong: not where there is noise, or a tolerance that somebody gave, in which the
    error has a part already, where fields depend on some coordinates only, and where the matrix does not fit into memory."""
    alone = all(pinn.is_noiseless and pinn.has_seen_all and not pinn.problem.parameters for pinn in pinns)
    return alone and _sees_everything(pinns[0].solution.network) and _numbers(pinns[0]) is not None


def estimates(pinns: Sequence[Pinn], keys: Keys, *, jacobians: int = 1) -> Estimate:
    """Of all PINNs together, with up to so many Jacobians if more than one of them brings something."""
    numbers = _numbers(pinns[0])
    assert numbers is not None  # it can be estimated
    unknowns, points = numbers
    fewer = tuple(-(-n // TESTS) if _is_inside(c) else n for n, c in zip(points, pinns[0].channels, strict=True))
    seen, unseen = (
        tuple(stack([_fresh(pinn, round, numbers) for pinn in pinns]))
        for round, numbers in zip(ROUNDS, (points, fewer), strict=True)
    )
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
        return _estimated(solution, seen, unseen, units, probes, keys, jacobians, at_once)

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
    most = max((n for n, c in zip(points, pinn.channels, strict=True) if _is_inside(c)), default=0) // 2
    points = tuple(
        n
        if _is_inside(c) or not c.sampled
        else max(n, min(most, CANDIDATES * len(c.points)))  # a kink in given values is narrow
        for n, c in zip(points, pinn.channels, strict=True)
    )
    rows = sum(n * c.target.size // len(c.points) for n, c in zip(points, pinn.channels, strict=True))
    if BYTES * (rows + units * fields) * units * fields > memory.available():
        return None
    return units * fields, points


def _is_inside(channel: Channel) -> bool:
    """Whether a condition holds all over the domain, where it takes most points to be seen everywhere."""
    return channel.kind == "equation"


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

    @property
    def periodic(self) -> tuple[int, ...]:
        return self.network.periodic

    def pieces(self, x: Value) -> Float[Array, "*points pieces"]:
        return self.network.pieces(x)

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
    jacobians: int,
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
        # as they will be stored; a compiler may leave out a conversion to single precision and back, but not this
        layer = jax.tree.map(lambda leaf: jax.lax.reduce_precision(leaf, exponent_bits=8, mantissa_bits=23), around)
        fields = jax.eval_shape(solution.network, points[0]).shape[-1]
        objective, like = _ErrorObjective(solution, layer), jnp.zeros((fields, len(layer.biases)))
        system, elsewhere = (System(objective, part, key, None, one_of(like[None])) for part in (seen, unseen))

        sizes = [channel.target.size for channel in seen]
        noise = ROUNDED * np.random.default_rng(0).choice([-1.0, 1.0], (NOISES, sum(sizes)))
        whitening = jnp.concatenate([jnp.repeat(c.whitening, c.target.shape[-1]) for c in seen])

        def left(rows: Float[Array, " n"]) -> Float[Array, " channels"]:
            parts = jnp.split(rows, np.cumsum([channel.target.size for channel in unseen])[:-1])
            squares = jnp.stack([jnp.mean(part**2) for part in parts])
            return jnp.where(jnp.isfinite(squares), squares, jnp.inf)

        def total(squares: Float[Array, "*any channels"]) -> Float[Array, "*any"]:
            return squares @ (jnp.asarray(sizes) / sum(sizes))

        def added(coefficients: Float[Array, " p"]) -> Float[Array, " fields"]:
            error = objective.corrected(system.tree(coefficients)).dimensionless(probes) - solution.dimensionless(probes)
            return jnp.sqrt(jnp.mean(error**2, axis=0))

        def step(now: _Steps, factors: Factors, there: Float[Array, "n p"]) -> _Steps:
            moves = factors.solve(-now.rows, jnp.asarray(RIDGES))
            meant = total(jax.vmap(left)(now.unseen + moves @ there.T))
            freer = jnp.argmin(meant)
            tried = now.at + jnp.concatenate([moves[freer][None], moves[-HELD_BACK:]])
            seen_there = jax.lax.map(elsewhere.rows, tried)
            every = jax.vmap(left)(seen_there)
            after = factors.solve(-system.rows(tried[0]), jnp.asarray(RIDGES)[freer][None])[0]
            contracts = jnp.linalg.norm(added(after)) < CONTRACTS * jnp.linalg.norm(added(moves[freer]))
            least = jnp.argmin(total(every[1:]))
            best = jnp.where(contracts, 0, 1 + least)
            more = meant[freer] < LESS**2 * meant[-HELD_BACK:][least]
            then, squares, rows = tried[best], every[best], system.rows(tried[best])
            better, looks = contracts | (total(squares) < total(now.squares)), ~jnp.isfinite(total(now.begin))
            begin = jnp.where(looks, squares, now.begin)
            missed = jnp.linalg.norm(rows - now.rows - factors.times(then - now.at))
            bent = missed > LINEAR * jnp.linalg.norm(rows)
            return _Steps(
                at=jnp.where(better, then, now.at),
                rows=jnp.where(better, rows, now.rows),
                squares=jnp.where(better, squares, now.squares),
                unseen=jnp.where(better, seen_there[best], now.unseen),
                first=jnp.where(looks, rows, now.first),
                begin=begin,
                amplified=now.amplified,
                rounded=now.rounded,
                goes_on=(contracts & bent) | _is_less(total(squares), total(now.squares), total(begin)),
                open=jnp.where(contracts, added(after), jnp.where(more, added(moves[freer] - moves[-HELD_BACK:][least]), 0.0)),
                bent=bent,
                leads=now.leads | (contracts & bent),
                number=now.number + 1,
            )

        def steps(now: _Steps) -> _Steps:
            factors, there = Factors.of(system.jacobian(now.at)), elsewhere.jacobian(now.at)
            begin = dataclasses.replace(now, number=jnp.zeros((), int), leads=jnp.zeros((), bool))
            last = jax.lax.while_loop(lambda s: s.goes_on & (s.number < STEPS), lambda s: step(s, factors, there), begin)
            parts = last.first * (np.repeat(np.eye(len(sizes)), sizes, axis=1))
            shares = jax.vmap(lambda rows: added(factors.solve(rows, jnp.asarray([OF_SHARES]))[0]))(parts)
            roundings = jax.vmap(lambda rows: added(factors.solve(rows, jnp.asarray([OF_ROUNDINGS]))[0]))(noise * whitening)
            return dataclasses.replace(
                last,
                amplified=shares,
                rounded=jnp.sqrt(jnp.mean(roundings**2, axis=0)),
                goes_on=last.leads | last.bent & _is_less(total(last.squares), total(now.squares), total(last.begin)),
                number=now.number + 1,
            )

        number = sum(channel.target.size for channel in unseen)
        last = jax.lax.while_loop(
            lambda s: s.goes_on & (s.number < jacobians), steps, _Steps.first_of_all(like.size, sizes, number, fields)
        )
        of_channels = jnp.sqrt(last.squares / jnp.maximum(last.begin, 1e-300))
        of_all = jnp.sqrt(total(last.squares) / jnp.maximum(total(last.begin), 1e-300))
        return Estimate(
            layer,
            system.tree(last.at),
            left=jnp.where(jnp.isfinite(total(last.begin)), of_all, jnp.inf),
            size=added(last.at),
            remains=jnp.sqrt(jnp.sum((of_channels[:, None] * last.amplified) ** 2, axis=0) + (FURTHER * last.open) ** 2)
            + last.rounded,
            probes=probes,
        )

    return over_seeds(one, solutions, seen, unseen, units, probes, keys, at_once=at_once)


def _is_less(now: Float[Array, ""], before: Float[Array, ""], begin: Float[Array, ""]) -> Bool[Array, ""]:
    """Whether mean squares have become so much less that it is worth while to go on."""
    return (now < LESS**2 * before) & (now > NOTHING**2 * begin)


class _Steps(eqx.Module):
    """Where the steps have led. The first of all moves nothing, it only looks: nothing else is compiled for that."""

    at: Float[Array, " p"]
    rows: Float[Array, " m"]  # the residuals there,
    squares: Float[Array, " channels"]  # and the means of their squares at points that no step has seen,
    unseen: Float[Array, " n"]  # where they are these
    first: Float[Array, " m"]  # both
    begin: Float[Array, " channels"]  # before all steps
    amplified: Float[Array, "channels fields"]  # how large an error these residuals alone make, by condition,
    rounded: Float[Array, " fields"]  # and roundings
    open: Float[Array, " fields"]  # and how far a step would have gone that is not made, though it explains much more
    goes_on: Bool[Array, ""]  # whether steps still bring something
    bent: Bool[Array, ""]  # whether the last one was led astray by its Jacobian,
    leads: Bool[Array, ""]  # and one of them towards a solution all the same
    number: Int[Array, ""]  # of steps with one Jacobian, or of Jacobians

    @classmethod
    def first_of_all(cls, coefficients: int, sizes: Sequence[int], unseen: int, fields: int) -> "_Steps":
        rows, unknown, true = jnp.zeros(sum(sizes)), jnp.full(len(sizes), jnp.inf), jnp.ones((), bool)
        none = (jnp.zeros((len(sizes), fields)), jnp.zeros(fields), jnp.zeros(fields))
        return cls(
            jnp.zeros(coefficients),
            rows,
            unknown,
            jnp.zeros(unseen),
            rows,
            unknown,
            *none,
            true,
            true,
            ~true,
            jnp.zeros((), int),
        )
