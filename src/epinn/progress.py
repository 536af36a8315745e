"""What long work tells whoever waits for it."""

from collections.abc import Callable, Mapping
from typing import Any


class Progress:
    """Hears how far long work has come, and may keep what is needed to go on with it.

    This one is deaf and forgets; the command line has one that draws a bar, and a run folder one that keeps.
    """

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        """`values` are the losses by channel, or what else shows how it goes."""

    def keep(self, stage: str, state: Callable[[], Any]) -> None:
        """Offers the state of a stage; `state` is called only if it is to be kept now."""

    def recall(self, stage: str, like: Any) -> Any | None:
        """The state that was kept of this stage, a tree like the one given; None if there is none."""
