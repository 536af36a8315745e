"""The linear-Gaussian posterior of a problem linearised around a trained PINN, in double precision.

In units of noise and prior (see `whitened.System`) small changes d of the parameters have the prior N(0, I) and rows J d with
noise N(0, I), so the posterior covariance is (I + J'J)^-1.

A PINN that is not at the mode is wrong by more than that. The Gauss-Newton step that would take it there is its error as far
as its residuals show it (the linearised error equation). The PINN stays where it is, and every draw has that step added, times
a standard normal number.

Where nothing is noisy, the error of the network itself is all that there is. What it leaves of its conditions is no noise, and
part of its error lies outside what its parameters can do; `own_error` estimates it in a larger space. The draws then have this
error added, and their spread is made as large as it: what is left to them is to say that it may be elsewhere.

Student's t noise is replaced by the Gaussian noise that says the same around what the trained network leaves of each reading
(`Channel.gaussian_at`).

A network whose parameters are too many for a Jacobian is taken as it is. What may be added to it is then a sum of random units
on its features, as many as a matrix can hold: time and memory do not grow with the network.
"""

import dataclasses
import time
from abc import abstractmethod
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..derivatives import memory
from ..derivatives.jet import Value
from ..derivatives.network import AbstractNetwork, Solution, trainable
from ..derivatives.random_units import UNKNOWNS
from ..derivatives.staged import last_stage
from ..errors import InputError
from ..problem.channel import Channel, thinned
from ..problem.precision import TOLERANCE
from ..problem.problem import Problem
from ..solve.double import cast_like, in_double
from ..solve.error_equation import probes_of
from ..solve.implied import moves_of_fields
from ..solve.misfit import left_by
from ..solve.optimise.objective import PinnObjective
from ..solve.optimise.smaller_space import DENSE, Regular, is_dense
from ..solve.optimise.whitened import Prior, System
from ..solve.pinn import Pinn, prior_of
from ..solve.seeds import Keys, one_of, over_seeds, seeds_at_once, stack, unstack
from .beside import beside
from .own_error import Corrected, Extent, OwnError, own_errors

BYTES = 32  # for every row and parameter, in all
LEAST = 1e-12  # of the residuals, that a stage is taken to have left


class Draw(eqx.Module):
    """A way to choose so many changes of the parameters, given how the rows depend on them."""

    number: eqx.AbstractVar[int]

    @abstractmethod
    def __call__(self, jacobian: Float[Array, "m p"], key: PRNGKeyArray) -> Float[Array, "n p"]:
        """Changes of the posterior."""

    @abstractmethod
    def amplitudes(self, key: PRNGKeyArray) -> Float[Array, " n"]:
        """How far each of them goes along one further change, which is to have standard normal extent."""

    @abstractmethod
    def spread(self, moves: Float[Array, "n *k"]) -> Float[Array, "*k"]:
        """The standard deviation of something that each of them moves so far."""


class Linearised(AbstractNetwork):
    """A network plus its derivative in one direction of its parameters."""

    network: AbstractNetwork
    direction: AbstractNetwork  # like the network, with nothing but its parameters

    def features(self, x: Value) -> Value:
        return self.network.features(x)

    def __call__(self, x: Value) -> Value:
        value, change = self.expanded(x)
        moved: Value = value + change
        return moved

    def expanded(self, x: Value) -> tuple[Value, Value]:
        """The network and its derivative apart."""
        parameters, rest = trainable(self.network)
        both: tuple[Value, Value] = jax.jvp(lambda p: eqx.combine(p, rest)(x), (parameters,), (self.direction,))
        return both


class Tangent(Linearised):
    """The derivative alone. As the difference of two networks it would have lost its digits."""

    def __call__(self, x: Value) -> Value:
        return self.expanded(x)[1]


def changed(base: Solution, change: Solution) -> Solution:
    """A solution after a small change of its parameters, to first order."""
    raw = {name: value + change.raw[name] for name, value in base.raw.items()}
    return dataclasses.replace(base, network=Linearised(base.network, change.network), raw=raw)


class Changes(eqx.Module):
    """Changes of the parameters of `base`: those that were drawn, with a leading axis, and one that all draws have in common.

    The base is the PINN's solution, perhaps with an estimate of its error beside it. The common change is zero, except for a
    PINN that sees new data: they move it to its new mode first.
    """

    base: Solution
    drawn: Solution
    common: Solution
    diagnostics: dict[str, float] = eqx.field(static=True, default_factory=dict)

    @property
    def members(self) -> Solution:
        """The drawn changes, each with the common one."""
        members: Solution = jax.tree.map(jnp.add, self.drawn, self.common)
        return members


def posterior_changes(
    pinns: Sequence[Pinn], keys: Keys, draw: Draw, width: float, *, own_error: bool = True
) -> tuple[list[Changes], float]:
    """What `draw` makes of the Jacobian of each PINN, and the seconds it took."""
    started = time.perf_counter()
    pinns = _of_few_parameters(pinns, keys)
    if any(not pinn.has_seen_all and not all(c.precision.is_gaussian for c in pinn.channels) for pinn in pinns):
        raise InputError('measurements with noise="student" belong to a network that was fitted to them: fit it anew.')
    told = [gaussian_around(_before_its_stage(pinn) if own_error else pinn.channels, pinn.solution) for pinn in pinns]
    solution, channels = stack([pinn.solution for pinn in pinns]), tuple(stack(told))
    rows = sum(channel.target[0].size for channel in channels)
    parameters, rest = trainable(solution)
    size = int(optax.tree.size(parameters)) // len(pinns)
    prior = prior_of(pinns, solution, width)
    if not pinns[0].regularised:  # the prior had no part in its training, so it is not what pulls at it now
        prior = Prior(parameters, prior.spread)
    moves = jnp.asarray([not pinn.has_seen_all for pinn in pinns])
    at_once = seeds_at_once(BYTES * (rows + draw.number) * size)
    errors = own_errors(pinns, keys) if own_error else None
    known = None if errors is None else stack([error.extent for error in errors])

    def changes(
        objective: PinnObjective, channels: tuple[Channel, ...], parameters: Solution, prior: Prior, known: Extent | None
    ) -> tuple[Solution, Array, Solution]:
        systems = System(objective, channels, keys, prior, one_of(parameters))
        return _changes(systems, objective, parameters, moves, draw, known, at_once)

    found = in_double(changes, PinnObjective(rest), channels, parameters, prior, known, side=min(rows, size))
    drawn, amplitudes, common = (
        unstack(part, len(pinns)) for part in cast_like(found, (parameters, jax.tree.leaves(parameters)[0], parameters))
    )
    each = [Changes(pinn.solution, *pair) for pinn, *pair in zip(pinns, drawn, common, strict=True)]
    if errors is not None:
        each = [_beside(*parts) for parts in zip(each, errors, amplitudes, strict=True)]
    return each, time.perf_counter() - started


def _before_its_stage(pinn: Pinn) -> tuple[Channel, ...]:
    """The conditions with the tolerances that a network had before its last stage. Draws get the size of the error in any case;
    with those after it they would be small differences of large changes, which single precision does not keep apart."""
    stage = last_stage(pinn.solution.network)
    if stage is None:
        return pinn.channels
    return tuple(c.with_sigma(jnp.minimum(c.sigma / jnp.maximum(stage.left, LEAST), TOLERANCE)) for c in pinn.channels)


def gaussian_around(channels: tuple[Channel, ...], solution: Solution) -> tuple[Channel, ...]:
    """The channels with Gaussian noise, the same around a solution."""
    others = tuple(c for c in channels if not c.precision.is_gaussian)
    found = dict(zip([c.name for c in others], left_by(solution, others), strict=True)) if others else {}
    return tuple(c.gaussian_at(found[c.name]) if c.name in found else c for c in channels)


def _beside(changes: Changes, error: OwnError, amplitudes: Float[Array, " n"]) -> Changes:
    """The changes with the error of the network as a further one, so far along as the amplitudes say."""

    def network(part: Solution, amplitude: Array) -> Solution:
        return dataclasses.replace(part, network=Corrected(part.network, None, None, None, amplitude))

    base = dataclasses.replace(changes.base, network=error.network)
    drawn, common = network(changes.drawn, amplitudes), network(changes.common, jnp.zeros((), amplitudes.dtype))
    return Changes(base, drawn, common, error.diagnostics)


def size_of_posterior(problem: Problem, rows: int, parameters: int) -> tuple[int, int]:
    """How many rows and parameters the posterior of a PINN of this size has: where these are too many for a matrix, the
    coefficients of random units take the place of its own parameters. Of fields that depend on some coordinates only they would
    make something else."""
    if is_dense(rows, parameters):
        return rows, parameters
    if problem.networks:
        raise InputError(
            f"{rows} rows and {parameters} parameters are too many for a linearised posterior of fields that depend on some "
            f"coordinates only, which needs at most {DENSE} of either and their product in compute.memory; take fewer points, "
            "a smaller network, or another method or objective."
        )
    return min(rows, memory.available() // (BYTES * UNKNOWNS)), UNKNOWNS


def _of_few_parameters(pinns: Sequence[Pinn], keys: Keys) -> Sequence[Pinn]:
    """The PINNs, of which a Jacobian can be formed."""
    rows, parameters = pinns[0].size
    if is_dense(rows, parameters):
        return pinns
    left, _ = size_of_posterior(pinns[0].problem, rows, parameters)
    solutions = beside([pinn.solution for pinn in pinns], [probes_of(pinn) for pinn in pinns], keys)
    return [
        dataclasses.replace(pinn, solution=solution, channels=thinned(pinn.channels, left))
        for pinn, solution in zip(pinns, solutions, strict=True)
    ]


@eqx.filter_jit
def _changes(
    systems: System,
    objective: PinnObjective,
    parameters: Solution,
    moves: Bool[Array, " seeds"],
    draw: Draw,
    known: Extent | None,
    at_once: int,
) -> tuple[Solution, Array, Solution]:
    """The changes, how far each goes along the error of the network, and the common one."""

    def one(
        system: System, objective: PinnObjective, parameters: Solution, moves: Bool[Array, ""], known: Extent | None
    ) -> tuple[Solution, Array, Solution]:
        vector = system.vector(parameters)
        jacobian = system.jacobian(vector)
        drawn, amplitudes = draw(jacobian, system.key), draw.amplitudes(system.key)
        if known is None:
            step = corrected(jacobian, -system.from_center(vector)[None], -system.rows(vector)[None])[0]
            drawn = drawn + amplitudes[:, None] * jnp.where(moves, 0.0, step)
            common = jnp.where(moves, step, 0.0)
        else:
            seen = jnp.einsum("kfp,np->nkf", moves_of_fields(system, objective, vector, known.probes), drawn)
            spread = jnp.sqrt(jnp.mean(draw.spread(seen) ** 2, axis=0))
            drawn, common = drawn * known.factor(spread), jnp.zeros_like(vector)
        return jax.vmap(system.tree)(drawn), amplitudes, system.tree(common)

    return over_seeds(one, systems, objective, parameters, moves, known, at_once=at_once)


class ExactDraws(Draw):
    """Independent draws of the posterior."""

    number: int = eqx.field(static=True)

    def __call__(self, jacobian: Float[Array, "m p"], key: PRNGKeyArray) -> Float[Array, "n p"]:
        m, p = jacobian.shape
        prior_key, noise_key, _ = jax.random.split(key, 3)
        prior = jax.random.normal(prior_key, (self.number, p), jacobian.dtype)
        return corrected(jacobian, prior, jax.random.normal(noise_key, (self.number, m), jacobian.dtype))

    def amplitudes(self, key: PRNGKeyArray) -> Float[Array, " n"]:
        return jax.random.normal(jax.random.split(key, 3)[2], (self.number,))

    def spread(self, moves: Float[Array, "n *k"]) -> Float[Array, "*k"]:
        return jnp.sqrt(jnp.mean(moves**2, axis=0))


class Directions(Draw):
    """So many directions d_j that the sum of z_j d_j, z ~ N(0, I), has about the posterior's covariance.

    Every direction is a draw of the prior, and every row has a unit vector of its own in the space of z that disturbs its
    target; these vectors are orthogonal as far as there is room for it. The last direction is for the further change alone.
    """

    number: int = eqx.field(static=True)

    def __call__(self, jacobian: Float[Array, "m p"], key: PRNGKeyArray) -> Float[Array, "n p"]:
        m, p = jacobian.shape
        prior_key, noise_key = jax.random.split(key)
        prior = jax.random.normal(prior_key, (self.number, p), jacobian.dtype) / self.number**0.5
        noise = jax.random.normal(noise_key, (self.number, m), jacobian.dtype)
        noise = jnp.linalg.qr(noise)[0] if m <= self.number else noise / jnp.linalg.norm(noise, axis=0)
        return jnp.concatenate([corrected(jacobian, prior, noise), jnp.zeros((1, p))])

    def amplitudes(self, key: PRNGKeyArray) -> Float[Array, " n"]:
        return jnp.zeros(self.number + 1).at[-1].set(1.0)

    def spread(self, moves: Float[Array, "n *k"]) -> Float[Array, "*k"]:
        return jnp.sqrt(jnp.sum(moves**2, axis=0))


def corrected(jacobian: Float[Array, "m p"], prior: Float[Array, "n p"], noise: Float[Array, "n m"]) -> Float[Array, "n p"]:
    """Draws of the prior turned into draws of the posterior by what the rows would have said of them (Matheron's rule)."""
    return Regular.of(jacobian).solve(noise.T, prior.T).T
