"""Where an equation has no value, whatever the fields are: 2 / r * u.r at r = 0."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from ..derivatives.units import Units
from .channel import Channel
from .checks import at_place
from .jumps import operator_values

if TYPE_CHECKING:
    from .problem import Problem

DRAWS = 16  # of fields that are the same everywhere: what they make of an equation differs by the place alone


def undefined(problem: "Problem", channels: Sequence[Channel], units: Units) -> list[str]:
    """Equations without a value at some of their points, and where; the channels are those of the problem in its own units.

    Fields for which an equation has no value anywhere, the logarithm of a negative one say, show nothing.
    """
    unknowns = {name: jnp.asarray(unknown.guess, float) for name, unknown in problem.parameters.items()}
    random, found = np.random.default_rng(0), []
    for channel in channels:
        if channel.kind != "equation" or channel.given:
            continue
        fields = random.normal(size=(DRAWS, len(channel.operator.orders), len(problem.fields)))
        points = np.tile(np.asarray(units.inside(channel.points)), (DRAWS, 1, 1))
        values = operator_values(channel.operator, units, unknowns, jnp.asarray(points), jnp.asarray(fields))
        finite = np.asarray(jnp.all(jnp.isfinite(values), axis=2))
        bad = np.flatnonzero(~np.any(finite, axis=0))
        if finite.any() and bad.size:
            place = at_place(np.asarray(channel.points)[bad[0]], problem.domain.coordinates)
            found.append(f"{channel.name!r} is not finite at {place} ({bad.size} of {finite.shape[1]} points)")
    return found
