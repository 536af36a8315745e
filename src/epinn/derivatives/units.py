"""What the dimensionless numbers that a network works with mean in the units of a problem."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .jet import Jet, MultiIndex


class Units(eqx.Module):
    """A coordinate is `middle + half * inside`, a field `offset + scale * inside`, an unknown its unit times the number inside.

    Networks, residuals and unknowns are of order one inside, whatever the units of the user are. Arrays of several seeds have
    a leading axis.
    """

    middle: Float[Array, "*seeds d"]
    half: Float[Array, "*seeds d"]
    offset: Float[Array, "*seeds f"]
    scale: Float[Array, "*seeds f"]
    unknowns: dict[str, Float[Array, "*seeds"]]

    def inside(self, points: Any) -> Any:
        """Points of the user as points of the network."""
        return (points - self.middle) / self.half

    def outside(self, points: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """Points of the network as points of the user."""
        return self.middle + self.half * points

    def fields(self, jet: Jet, *, offset: bool = True) -> Jet:
        """What a network says of the fields and their derivatives, in the units of the user; without the offset if that is
        not wanted (a small difference of large numbers is then never formed)."""
        scaled = Jet(jet.stack * self._factors(jet.orders), jet.orders)
        return scaled + self.offset if offset else scaled

    def _factors(self, orders: tuple[MultiIndex, ...]) -> Float[Array, "orders f"]:
        """What every derivative of every field is multiplied by: its scale over the lengths it is differentiated by."""
        lengths = jnp.stack([jnp.prod(self.half ** jnp.asarray(order, self.half.dtype)) for order in orders])
        return self.scale / lengths[:, None]
