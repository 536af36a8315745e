"""The error of a network, from what it leaves of exact conditions.

A fit that is done has removed from its residuals all that its own weights can remove, so its error lies where they cannot see
it. Here it is looked for in another, larger space: a layer of random units on top of what the last layer of the network sees,
and of the coordinates. They are as fine as the network where it is fine (around a shock), and there are several times more
points than units, so that what is found holds between points too. The coefficients solve the linearised error equation: once
the error is added, the residuals are to vanish, with whatever the equation makes of that. How far they are held back follows
from other points: there the linearised residuals are to become smallest, or where that leads nowhere, those of the equation.
The steps that lead there are in `error_steps.py`.
"""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives import memory
from ..derivatives.composed import Parts, Pieces
from ..derivatives.lifted import Lifted
from ..derivatives.network import AbstractNetwork, Solution
from ..derivatives.random_units import UNKNOWNS, RandomUnits
from ..derivatives.staged import Staged
from ..problem.channel import FEW, Channel
from .double import in_double
from .error_steps import Search
from .pinn import Pinn, scales_for
from .refine import CANDIDATES, candidates_of, taken, where_most_is_left
from .seeds import Keys, over_seeds, seeds_at_once, stack, unstack
from .sums import Probes, Sums, numbers_kept

ROWS = 4  # for every coefficient,
MOST = 16  # or as many as the fit has, up to that
PROBES = 256  # places at which the size of an error is taken
BYTES = 32  # for each entry of the matrix: itself, a copy and its factors,
KEPT = 16  # and for what units are at the points: itself, and once more while it is computed
LINE, EACH_FURTHER = 512, 3  # units of each field in one dimension, and times as many for each further one: up to all there are
PARTS = (1.0, 0.5, 0.25)  # of all coefficients, if more do not fit into memory
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
    extent: Float[Array, "*seeds fields"]  # and how large the fields are with it
    probes: Float[Array, "*seeds n d"]
    carried: Float[Array, "*seeds fields fields"]  # how many times as large an error in the initial values of a field becomes,
    # in each field


def can_be_estimated(pinns: Sequence[Pinn]) -> bool:
    """Whether nothing but the networks can be wrong: not where there is noise, or a tolerance that somebody gave, in which the
    error has a part already, where fields depend on some coordinates only, and where the matrix does not fit into memory."""
    alone = all(pinn.is_noiseless and pinn.has_seen_all and not pinn.problem.parameters for pinn in pinns)
    return alone and _sees_everything(pinns[0].solution.network) and _numbers(pinns[0]) is not None


Candidates = Callable[[int], Sequence[tuple[Channel, ...]]]  # of a round, for every PINN: its conditions at many points


def estimates(
    pinns: Sequence[Pinn],
    keys: Keys,
    *,
    jacobians: int = 1,
    part: float = 1.0,
    candidates: Candidates | None = None,
    probes: Float[Array, "seeds n d"] | None = None,
    from_afar: bool = False,
) -> Estimate:
    """Of all PINNs together, with up to so many Jacobians if more than one of them brings something, and a part of all
    coefficients. Where the conditions are not those of their problems, `candidates` has them; errors are
    measured at `probes`, or else everywhere. `from_afar` if the networks are
    no solutions at all, so that it is these that are looked for."""
    numbers = _numbers(pinns[0], part)
    assert numbers is not None  # it can be estimated
    unknowns, points, fewer = numbers
    made = candidates or (lambda round: [_candidates(pinn, round) for pinn in pinns])
    seen, unseen = (
        tuple(stack([_fresh(pinn, many, round, numbers) for pinn, many in zip(pinns, made(round), strict=True)]))
        for round, numbers in zip(ROUNDS, (points, fewer), strict=True)
    )
    drawn = [
        RandomUnits.drawn(pinn.solution.network, pinn.problem.domain.dimension, unknowns, key)
        for pinn, key in zip(pinns, keys, strict=True)
    ]
    at_once = seeds_at_once(_bytes(pinns[0], *numbers))

    def compute(
        solution: Solution,
        seen: tuple[Channel, ...],
        unseen: tuple[Channel, ...],
        units: RandomUnits,
        probes: Array,
    ) -> Estimate:
        return _estimated(solution, seen, unseen, units, probes, jacobians, at_once, from_afar)

    solution, places = stack([pinn.solution for pinn in pinns]), stack([probes_of(pinn) for pinn in pinns])
    return in_double(compute, solution, seen, unseen, stack(drawn), places if probes is None else probes, side=unknowns)


def probes_of(pinn: Pinn) -> Float[Array, "n d"]:
    """Points all over the domain, in the units of the network."""
    units, points = pinn.solution.units, pinn.problem.domain.points(PROBES, "sobol", key=jax.random.key(0))
    return jnp.asarray(points if units is None else units.inside(points), float)


def _sees_everything(network: AbstractNetwork) -> bool:
    """Whether every field depends on all coordinates, so that its error may too."""
    match network:
        case Lifted() | Staged():
            return _sees_everything(network.network)
        case Pieces():
            return _sees_everything(network.networks)
        case _:
            return not isinstance(network, Parts)


Numbers = tuple[int, tuple[int, ...], tuple[int, ...]]  # coefficients; points of each channel to see, and to test with


def _numbers(pinn: Pinn, part: float = 1.0) -> Numbers | None:
    """As many coefficients as are wanted and fit into memory; None if that is too few."""
    fitting = (found for less in PARTS if _bytes(pinn, *(found := _of(pinn, part * less))) <= memory.available())
    return next(fitting, None)


def _of(pinn: Pinn, part: float) -> Numbers:
    """A part of all coefficients, and the points for these."""
    now, fields = sum(c.target.size for c in pinn.channels), len(pinn.problem.names.fields)
    most = round(part * min(UNKNOWNS, fields * LINE * EACH_FURTHER ** (pinn.problem.domain.dimension - 1)))
    units = max(1, min(most, CANDIDATES * now // ROWS) // fields)
    times = min(float(CANDIDATES), max(min(1.0, MOST * most / now), ROWS * units * fields / now))
    points = tuple(max(round(times * len(c.points)), FEW) if c.sampled else len(c.points) for c in pinn.channels)
    most = max((n for n, c in zip(points, pinn.channels, strict=True) if _is_inside(c)), default=0) // 2
    points = tuple(
        n
        if _is_inside(c) or not c.sampled
        else max(n, min(most, CANDIDATES * len(c.points)))  # a kink in given values is narrow
        for n, c in zip(points, pinn.channels, strict=True)
    )
    fewer = tuple(-(-n // TESTS) if _is_inside(c) else n for n, c in zip(points, pinn.channels, strict=True))
    return units * fields, points, fewer


def _bytes(pinn: Pinn, unknowns: int, points: Sequence[int], fewer: Sequence[int]) -> int:
    """What an estimate with so many coefficients and points needs."""
    rows = sum(n * c.target.size // len(c.points) for n, c in zip(points, pinn.channels, strict=True))
    kept = numbers_kept(pinn.channels, points) + numbers_kept(pinn.channels, fewer)
    return unknowns * (BYTES * (rows + unknowns) + KEPT * kept // len(pinn.problem.names.fields))


def _is_inside(channel: Channel) -> bool:
    """Whether a condition holds all over the domain, where it takes most points to be seen everywhere."""
    return channel.kind == "equation"


def _candidates(pinn: Pinn, round: int) -> tuple[Channel, ...]:
    return candidates_of(pinn.base, pinn.problem, pinn.points_key, scales_for(pinn.solution, pinn.problem), round)


def _fresh(pinn: Pinn, many: tuple[Channel, ...], round: int, numbers: tuple[int, ...]) -> tuple[Channel, ...]:
    """The conditions at points that the fit has not seen; where its own have moved, more of them where more is left."""
    numbers = tuple(min(n, len(c.points)) for n, c in zip(numbers, many, strict=True))  # an end of an interval is one point
    if pinn.moved is None:  # choosing would be one more program to compile, and evenly spread points do as well
        places = [np.random.default_rng(round).permutation(len(c.points))[:n] for n, c in zip(numbers, many, strict=True)]
        return taken(pinn.channels, many, [at if c.sampled else None for c, at in zip(pinn.channels, places, strict=True)])
    own, candidates = (tuple(stack([part])) for part in (pinn.channels, many))
    keys = jax.random.split(jax.random.key(round), 1)
    (found,) = unstack(where_most_is_left(own, candidates, stack([pinn.solution]), keys, numbers)[0], 1)
    return tuple(found)


@eqx.filter_jit
def _estimated(
    solutions: Solution,
    seen: tuple[Channel, ...],
    unseen: tuple[Channel, ...],
    units: RandomUnits,
    probes: Float[Array, "seeds n d"],
    jacobians: int,
    at_once: int,
    from_afar: bool,
) -> Estimate:
    def one(
        solution: Solution,
        seen: tuple[Channel, ...],
        unseen: tuple[Channel, ...],
        units: RandomUnits,
        probes: Float[Array, "n d"],
    ) -> Estimate:
        points = max((channel.points for channel in seen), key=len)
        around = units.around(solution.network, points)
        # as they will be stored; a compiler may leave out a conversion to single precision and back, but not this
        layer = jax.tree.map(lambda leaf: jax.lax.reduce_precision(leaf, exponent_bits=8, mantissa_bits=23), around)
        sums = (Sums.of(part, solution, layer) for part in (seen, unseen))
        search = Search(next(sums), next(sums), Probes.of(solution, layer, probes), from_afar)
        fields = search.probes.before.shape[-1]
        found = search.from_nothing(fields * len(layer.biases), jacobians)
        outer = found.coefficients.reshape(fields, -1)
        return Estimate(layer, outer, found.left, found.size, found.remains, found.extent, probes, found.carried)

    return over_seeds(one, solutions, seen, unseen, units, probes, at_once=at_once)
