"""Noise that is really added to what a problem gives, so that its size is known."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax
from jaxtyping import PRNGKeyArray

from .channel import Channel


@dataclass(frozen=True, eq=False)
class Disturbance:
    """Gaussian noise, really added and known, on the targets of every channel of some kinds."""

    sigmas: Mapping[str, float]
    key: PRNGKeyArray

    def __call__(self, channels: Sequence[Channel]) -> tuple[Channel, ...]:
        return tuple(
            channel.disturbed(self.sigmas[channel.kind], jax.random.fold_in(self.key, zlib.crc32(channel.name.encode())))
            if channel.kind in self.sigmas
            else channel
            for channel in channels
        )
