"""How fast what is given in a problem varies: the periods of sources, boundary and initial values.

A solution varies about as fast as what drives it, so this says how finely a network has to bend and how many points show it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..derivatives.compiled import runs_once
from ..derivatives.jet import Jet
from ..derivatives.operator import Names, Operator
from ..derivatives.units import Units
from .channel import Channel

if TYPE_CHECKING:
    from .problem import Problem

FEW = 16  # points of a condition are too few to see how fast what it gives varies
NOTHING = 0.01  # of the size of a condition's terms: what varies by less is taken not to vary


def periods_in_half_the_box(
    problem: "Problem", channels: Sequence[Channel], units: Units, sizes: Mapping[str, Array]
) -> tuple[float, ...]:
    """How many periods of the functions that the user gave, sources and initial values say, fit into half the box.

    The channels are those of the problem in the user's units, and the sizes those of their residuals.
    """
    unknowns = {name: jnp.asarray(unknown.guess, float) for name, unknown in problem.parameters.items()}
    known = [(c, channel) for c, channel in zip(problem.conditions, channels, strict=False) if not channel.given]
    found = [np.zeros(problem.domain.dimension)]
    for condition, channel in known:
        target = getattr(condition, "target", None)
        given = channel.kind in ("equation", "boundary", "initial") and channel.partner is None
        if given and len(channel.points) >= FEW:
            found.append(np.asarray(_wavenumbers(channel, units, unknowns, target, sizes[channel.name])))
    highest = np.max(np.where(np.isfinite(found), found, 0.0), axis=0)
    return tuple((np.round(highest / (2 * np.pi), 2)).tolist())


@runs_once
def _wavenumbers(
    channel: Channel, units: Units, unknowns: dict[str, Array], target: Any, usual: Float[Array, " k"]
) -> Float[Array, " d"]:
    """How fast what is given in a condition varies along each coordinate of the network: slopes in parts of the variation.

    What is given is what the operator leaves of fields that are zero, and the target where it is a function.
    """
    names = channel.operator.names
    nothing = Jet(jnp.zeros((len(channel.operator.orders), len(names.fields))), channel.operator.orders)
    aimed = Operator(target, Names((), names.coordinates)) if callable(target) else None
    empty = Jet(jnp.zeros((1, 0)), ((0,) * len(names.coordinates),))

    def given(inside: Float[Array, " d"]) -> Float[Array, " k"]:
        x = units.outside(inside)
        value = channel.operator(nothing, x, unknowns, {})
        return value if aimed is None else value - aimed(empty, x, {}, {})

    at = units.inside(channel.points)
    values, slopes = jax.vmap(given)(at), jax.vmap(jax.jacfwd(given))(at)
    varies = values - jnp.mean(values, axis=0)
    size = jnp.sqrt(jnp.mean(varies**2, axis=0))
    rough = jnp.sqrt(jnp.mean(slopes**2, axis=0)) / jnp.where(size > 0, size, 1.0)[:, None]
    return jnp.max(jnp.where(size[:, None] > NOTHING * usual[:, None], rough, 0.0), axis=0)
