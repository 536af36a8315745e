"""What holds where the zones of a broken domain meet.

Whatever an equation differentiates along the broken coordinate is continuous there: fields, their derivatives below the highest
one, and the expressions in `(K * h.x).x`. That is what the equation says across the break, where it cannot be evaluated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from .channel import Channel, Kind
from .condition import Condition, make_channel
from .context import Context
from .domain import BESIDE
from .operators import Traces


@dataclass(frozen=True, eq=False)
class Joint(Condition):
    """Equal values on both sides of a break."""

    kind: ClassVar[Kind] = "boundary"
    along: str
    at: float
    function: Any  # of the fields
    flux: int | None = None

    @property
    def what(self) -> str:
        return f"joint at {self.along}={self.at:g}"

    def in_full(self, fields: Sequence[str]) -> str:
        return self.what

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        domain, axis = context.domain, context.domain.axis(self.along)
        points = context.on_faces([domain.section(self.along, self.at)], key).points
        step = jnp.zeros(domain.dimension).at[axis].set(BESIDE * (domain.upper[axis] - domain.lower[axis]))
        return make_channel(
            self, context, self.function, 0.0, points - step, partner=points + step, sampled=True, flux=self.flux
        )


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
        for at in places:
            if traces:
                yield Joint(name, at, Traces(traces, at=(name, at)))
            for channel in equations:
                for number, along in enumerate(channel.operator.fluxes):
                    if along == name:
                        label = f"flux of {channel.name} at {name}={at:g}" + (f", {number}" if number else "")
                        yield Joint(name, at, channel.operator.function, number, name=label)
