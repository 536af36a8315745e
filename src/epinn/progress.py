"""What long work tells whoever waits for it."""

from collections.abc import Callable, Mapping
from typing import Any


class Progress:
    """A listener to long work: how far it has come, and what is needed to resume it.

    Its methods do nothing, so that a listener need only define those that it is interested in: the command line draws a bar,
    a run folder keeps checkpoints.
    """

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        """A stage has made `step` of `total` steps; `values` are its losses by channel, or what else shows how it goes."""

    def note(self, text: str) -> None:
        """A sentence that whoever waits should read: something went otherwise than usual, and the work goes on."""

    def keep(self, stage: str, state: Callable[[], Any]) -> None:
        """Offers the state of a stage, from which it can be resumed; `state` need only be called if it is to be kept now."""

    def recall(self, stage: str, like: Any) -> Any | None:
        """The state that was kept of a stage, a tree like the one given; None if there is none."""
        return None
