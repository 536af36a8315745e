"""What holds where the zones of a broken domain meet.

Whatever an equation differentiates along the broken coordinate is continuous there: fields, their derivatives below the highest
one, and the expressions in `(K * h.x).x`. That is what the equation says across the break, where it cannot be evaluated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from .channel import Channel, Kind
from .condition import Condition, make_channel
from .context import Context
from .domain import BESIDE
from .operators import Traces

MANY = 8  # breaks along one coordinate: if there are more, they are one condition, since each is traced by itself
PLACE = "place"  # what the place of a break is called, where several are one condition


@dataclass(frozen=True, eq=False)
class Joint(Condition):
    """Equal values on both sides of a break, or of several."""

    kind: ClassVar[Kind] = "boundary"
    along: str
    at: tuple[float, ...]
    function: Any  # of the fields
    flux: int | None = None

    @property
    def what(self) -> str:
        return f"joint{'s' if len(self.at) > 1 else ''} at {_in_words(self.along, self.at)}"

    def in_full(self, fields: Sequence[str]) -> str:
        return self.what

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        domain, axis = context.domain, context.domain.axis(self.along)
        each = [context.on_faces([domain.section(self.along, at)], key).points for at in self.at]
        points, places = jnp.concatenate(each), np.repeat(self.at, [len(part) for part in each])
        step = jnp.zeros(domain.dimension).at[axis].set(BESIDE * (domain.upper[axis] - domain.lower[axis]))
        beside, given = (points - step, points + step), {PLACE: places} if len(self.at) > 1 and self.flux is None else None
        return make_channel(
            self, context, self.function, 0.0, beside[0], given, partner=beside[1], sampled=True, flux=self.flux
        )


def _in_words(name: str, at: Sequence[float]) -> str:
    """The place, or the first and the last of many."""
    return f"{name}={at[0]:g}" if len(at) == 1 else f"{name}={at[0]:g} to {at[-1]:g}"


def joints(context: Context, equations: Sequence[Channel], key: PRNGKeyArray) -> list[Channel]:
    """The channels of all breaks of a domain."""
    return [joint.channel(context, key) for joint in _joints(context, equations)]


def _joints(context: Context, equations: Sequence[Channel]) -> Iterator[Joint]:
    domain = context.domain
    for axis, (name, places) in enumerate(zip(domain.coordinates, domain.breaks, strict=True)):
        highest = dict.fromkeys(context.names.fields, 0)
        for channel in equations:
            for field, order in channel.operator.asked:
                highest[field] = max(highest[field], order[axis])
        traces = tuple((field, (name,) * n) for field, order in highest.items() for n in range(order))
        for at in [places] if len(places) > MANY else [(place,) for place in places]:
            if traces:
                yield Joint(name, at, Traces(traces, at=(name, PLACE if len(at) > 1 else at[0])))
            for channel in equations:
                for number, along in enumerate(channel.operator.fluxes):
                    if along == name:
                        label = f"flux of {channel.name} at {_in_words(name, at)}" + (f", {number}" if number else "")
                        yield Joint(name, at, channel.operator.function, number, name=label)
