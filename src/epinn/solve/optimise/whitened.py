"""The whitened residuals of a problem, in units of their noise, as a function of its parameters in units of their prior.

Gauss-Newton and the linearised posterior both begin here.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from ...problem.channel import Channel, mean_square
from ...problem.student import slope
from ..seeds import unraveller
from .objective import Objective, Residuals


class Prior(eqx.Module):
    """A Gaussian prior on all parameters, independent of each other."""

    center: Any  # its means, a tree like the parameters
    spread: Any  # its standard deviations, another one


class System(eqx.Module):
    """The whitened residuals of one seed as a function of one vector, its parameters in units of the prior's spread.
    A length is then a number of standard deviations everywhere.

    The systems of several seeds are one with a leading axis on all arrays; `over_seeds` takes it apart.
    """

    objective: Objective
    channels: tuple[Channel, ...]
    key: Key[Array, "*seeds"]
    prior: Prior | None
    like: Any  # shapes of the parameters, see `one_of`

    def loss(self, parameters: Float[Array, " p"]) -> Float[Array, ""]:
        """The sum of squared whitened residuals and of the squared distance from the prior's center: -2 log posterior."""
        return jnp.sum(self.rows(parameters) ** 2) + self.ridge * jnp.sum(self.from_center(parameters) ** 2)

    @property
    def ridge(self) -> float:
        """What the prior adds to the diagonal of J'J."""
        return 0.0 if self.prior is None else 1.0

    def from_center(self, parameters: Float[Array, " p"]) -> Float[Array, " p"]:
        """The way to the parameters from the prior's center."""
        return parameters if self.prior is None else parameters - ravel_pytree(self.prior.center)[0] / self._width

    def vector(self, tree: Any) -> Float[Array, " p"]:
        """From a tree of parameters to the vector."""
        return ravel_pytree(tree)[0] / self._width

    def tree(self, parameters: Float[Array, " p"]) -> Any:
        """From the vector to a tree of parameters."""
        return unraveller(self.like)(parameters * self._width)

    def rows(self, parameters: Float[Array, " p"]) -> Float[Array, " m"]:
        """The whitened residuals of all channels: r / sigma, or what takes its place (`Channel.whitened`)."""
        found = self._residuals(parameters, self.channels)
        return jnp.concatenate([c.whitened(row).ravel() for c, row in zip(self.channels, found, strict=True)])

    def jacobian(self, parameters: Float[Array, " p"]) -> Float[Array, "m p"]:
        """The derivatives of the rows, point by point: a row depends on one point, so that it costs one and not all of them."""
        parts = []
        for channel in self.channels:

            def at_point(parameters: Float[Array, " p"], point: Channel) -> Float[Array, "... k"]:
                return self._residuals(parameters, (point,))[0][..., 0, :]

            part = jax.vmap(jax.jacrev(at_point), in_axes=(None, 0))(parameters, channel.apart())  # n, ..., k, p
            part = part - jnp.mean(part, axis=0) if channel.centred else part
            part = jnp.moveaxis(part * channel.whitening.reshape(-1, *[1] * (part.ndim - 1)), 0, -3)
            if not channel.precision.is_gaussian:
                z = self._residuals(parameters, (channel,))[0] * channel.whitening[:, None]
                part = part * slope(z, channel.precision.freedom)[..., None]
            parts.append(part.reshape(-1, part.shape[-1]))
        return jnp.concatenate(parts)

    def mean_squares(self, parameters: Float[Array, " p"]) -> Float[Array, " channels"]:
        """The mean squared residuals by channel, not whitened: what a progress bar shows."""
        return jnp.stack([mean_square(row) for row in self._residuals(parameters, self.channels)])

    @property
    def _width(self) -> Float[Array, " p"] | float:
        return 1.0 if self.prior is None else ravel_pytree(self.prior.spread)[0]

    def _residuals(self, parameters: Float[Array, " p"], channels: Sequence[Channel]) -> Residuals:
        return self.objective.residuals(self.tree(parameters), channels, self.objective.prepare(channels), self.key)
