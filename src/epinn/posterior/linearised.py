"""The linear-Gaussian posterior of a problem linearised around a trained PINN, in double precision.

In units of noise and prior (see `whitened.System`) small changes d of the parameters have the prior N(0, I) and rows J d with
noise N(0, I), so the posterior covariance is (I + J'J)^-1.

A PINN that is not at the mode is wrong by more than that. The Gauss-Newton step that would take it there is its error as far
as its residuals show it (the linearised error equation). The PINN stays where it is, and every draw has that step added, times
a standard normal number.
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

from ..derivatives.jet import Value
from ..derivatives.network import AbstractNetwork, Solution, trainable
from ..errors import InputError
from ..problem.channel import Channel
from ..solve.double import cast_like, in_double
from ..solve.optimise.objective import PinnObjective
from ..solve.optimise.smaller_space import DENSE, Regular, is_dense
from ..solve.optimise.whitened import Prior, System
from ..solve.pinn import Pinn, prior_of
from ..solve.seeds import Keys, one_of, over_seeds, seeds_at_once, stack, unstack


class Draw(eqx.Module):
    """A way to choose so many changes of the parameters, given how the rows depend on them."""

    number: eqx.AbstractVar[int]

    @abstractmethod
    def __call__(self, jacobian: Float[Array, "m p"], error: Float[Array, " p"], key: PRNGKeyArray) -> Float[Array, "n p"]:
        """`error` is a further change of standard normal extent."""


class Linearised(AbstractNetwork):
    """A network plus its derivative in one direction of its parameters."""

    network: AbstractNetwork
    direction: AbstractNetwork  # like the network, with nothing but its parameters

    def features(self, x: Value) -> Value:
        return self.network.features(x)

    def __call__(self, x: Value) -> Value:
        parameters, rest = trainable(self.network)
        value, change = jax.jvp(lambda p: eqx.combine(p, rest)(x), (parameters,), (self.direction,))
        moved: Value = value + change
        return moved


def changed(base: Solution, change: Solution) -> Solution:
    """A solution after a small change of its parameters, to first order."""
    raw = {name: value + change.raw[name] for name, value in base.raw.items()}
    return dataclasses.replace(base, network=Linearised(base.network, change.network), raw=raw)


class Changes(eqx.Module):
    """Changes of a PINN's parameters: those that were drawn, with a leading axis, and one that all draws have in common.

    The common one is zero, except for a PINN that sees new data: they move it to its new mode first.
    """

    drawn: Solution
    common: Solution


def posterior_changes(pinns: Sequence[Pinn], keys: Keys, draw: Draw, width: float) -> tuple[list[Changes], float]:
    """What `draw` makes of the Jacobian of each PINN, and the seconds it took."""
    started = time.perf_counter()
    solution, channels = stack([pinn.solution for pinn in pinns]), tuple(stack([pinn.channels for pinn in pinns]))
    rows = sum(channel.target[0].size for channel in channels)
    parameters, rest = trainable(solution)
    size = int(optax.tree.size(parameters)) // len(pinns)
    check_size(rows, size)
    prior = prior_of(pinns, solution, width)
    if not pinns[0].regularised:  # the prior had no part in its training, so it is not what pulls at it now
        prior = Prior(parameters, prior.spread)
    moves = jnp.asarray([not pinn.has_seen_all for pinn in pinns])
    at_once = seeds_at_once(32 * (rows + draw.number) * size)

    def changes(objective: PinnObjective, channels: tuple[Channel, ...], parameters: Solution, prior: Prior) -> Changes:
        systems = System(objective, channels, keys, prior, one_of(parameters))
        return _changes(systems, parameters, moves, draw, at_once)

    found = in_double(changes, PinnObjective(rest), channels, parameters, prior, side=min(rows, size))
    return unstack(cast_like(found, Changes(parameters, parameters)), len(pinns)), time.perf_counter() - started


def check_size(rows: int, parameters: int) -> None:
    """Refuse what is too large for a matrix."""
    if not is_dense(rows, parameters):
        raise InputError(
            f"{rows} rows and {parameters} parameters are too many for a linearised posterior, which needs at most {DENSE} of "
            "either and their product in compute.memory; take fewer points, a smaller network, or another method or objective."
        )


@eqx.filter_jit
def _changes(systems: System, parameters: Solution, moves: Bool[Array, " seeds"], draw: Draw, at_once: int) -> Changes:
    def one(system: System, parameters: Solution, moves: Bool[Array, ""]) -> Changes:
        vector = system.vector(parameters)
        jacobian = system.jacobian(vector)
        step = corrected(jacobian, -system.from_center(vector)[None], -system.rows(vector)[None])[0]
        error, common = jnp.where(moves, 0.0, step), jnp.where(moves, step, 0.0)
        return Changes(jax.vmap(system.tree)(draw(jacobian, error, system.key)), system.tree(common))

    return over_seeds(one, systems, parameters, moves, at_once=at_once)


class ExactDraws(Draw):
    """Independent draws of the posterior."""

    number: int = eqx.field(static=True)

    def __call__(self, jacobian: Float[Array, "m p"], error: Float[Array, " p"], key: PRNGKeyArray) -> Float[Array, "n p"]:
        m, p = jacobian.shape
        prior_key, noise_key, error_key = jax.random.split(key, 3)
        prior = jax.random.normal(prior_key, (self.number, p), jacobian.dtype)
        drawn = corrected(jacobian, prior, jax.random.normal(noise_key, (self.number, m), jacobian.dtype))
        return drawn + jax.random.normal(error_key, (self.number, 1), jacobian.dtype) * error


class Directions(Draw):
    """So many directions d_j that the sum of z_j d_j, z ~ N(0, I), has about the posterior's covariance.

    Every direction is a draw of the prior, and every row has a unit vector of its own in the space of z that disturbs its
    target; these vectors are orthogonal as far as there is room for it. The error is one more direction, the last.
    """

    number: int = eqx.field(static=True)

    def __call__(self, jacobian: Float[Array, "m p"], error: Float[Array, " p"], key: PRNGKeyArray) -> Float[Array, "n p"]:
        m, p = jacobian.shape
        prior_key, noise_key = jax.random.split(key)
        prior = jax.random.normal(prior_key, (self.number, p), jacobian.dtype) / self.number**0.5
        noise = jax.random.normal(noise_key, (self.number, m), jacobian.dtype)
        noise = jnp.linalg.qr(noise)[0] if m <= self.number else noise / jnp.linalg.norm(noise, axis=0)
        return jnp.concatenate([corrected(jacobian, prior, noise), error[None]])


def corrected(jacobian: Float[Array, "m p"], prior: Float[Array, "n p"], noise: Float[Array, "n m"]) -> Float[Array, "n p"]:
    """Draws of the prior turned into draws of the posterior by what the rows would have said of them (Matheron's rule)."""
    return Regular.of(jacobian).solve(noise.T, prior.T).T
