"""The driver of a long stage: recall what an earlier session kept, advance call by call, report, keep.

Adam, Gauss-Newton, Markov chains and variational inference all run through `drive`. A stage gives it

- a state, a tree of arrays that holds all that is needed to go on, and
- `advance`, which makes some steps from a state in one compiled call.

`drive` does the rest. A stage that was killed and started again ends with the same bits as one that was not, if `advance`
depends on nothing but its arguments.
"""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import jax
import numpy as np

from ..progress import Progress

CALL_SECONDS = 0.5  # how long one compiled call should take: long enough to cost nothing, short enough to show progress
LARGEST_GROWTH = 4.0  # of the number of steps from one call to the next

S = TypeVar("S")


@dataclass(frozen=True)
class Call(Generic[S]):
    """What one call of `advance` gives: the new state, what to remember of the way there, and figures for a progress bar.

    A `record` is a tree of arrays, of the same shapes in every call, or None where nothing is to be remembered.
    """

    state: S
    record: Any = None
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Driven(Generic[S]):
    """A stage at its end: the last state, all records in order, and the step after which each was made.

    `started` is the reading of `time.perf_counter` at which the stage would have begun, had it never been interrupted.
    """

    state: S
    records: list[Any]
    steps: list[int]
    started: float

    @property
    def seconds(self) -> float:
        """From the start until now, time between sessions excluded."""
        return time.perf_counter() - self.started


def drive(
    stage: str,
    total: int,
    advance: Callable[[S, int, int], Call[S]],
    *,
    like: S,
    begin: Callable[[], S] | None = None,
    per_call: int,
    unit: int | None = None,
    empty: Any = np.zeros(0),
    finished: Callable[[S], bool] = lambda state: False,
    progress: Progress | None = None,
    started: float | None = None,
) -> Driven[S]:
    """Run a stage of `total` steps from where an earlier session left it, or from its beginning.

    `advance(state, done, count)` makes `count` steps after the `done` that were made before. `like` is a state with the shapes
    of all others; it is the first one, unless `begin` makes that (called only where nothing was kept, since it may be costly).

    The first call makes `per_call` steps. Without `unit` every other call does so too, even if the last one goes beyond
    `total`. With `unit`, a divisor of `total`, later calls make as many units as take about half a second.

    `empty` is a tree of empty arrays that is built like a record. `finished(state)` ends the stage early. `started` is the
    reading of `time.perf_counter` before the stage was set up, where that is to count.
    """
    listener, started = progress or Progress(), time.perf_counter() if started is None else started
    records: list[Any] = []
    steps: list[int] = []
    done = 0
    kept = listener.recall(stage, (like, empty, np.zeros(0, int), np.asarray(0), np.zeros(())))
    if kept is not None:
        state, steps, done, started = kept[0], kept[2].tolist(), int(kept[3]), started - float(kept[4])
        records = [jax.tree.map(lambda part, i=i: part[i], kept[1]) for i in range(len(steps))]
    else:
        state = like if begin is None else begin()
    listener(stage, done, total, {})
    count, compiled = per_call, False
    while done < total and not finished(state):
        count = count if unit is None else min(count, total - done)
        tick = time.perf_counter()
        call = advance(state, done, count)
        state, done = call.state, done + count
        if call.record is not None:
            records.append(jax.tree.map(np.asarray, call.record))
            steps.append(done)
        took = time.perf_counter() - tick
        listener(stage, min(done, total), total, call.values)
        listener.keep(stage, functools.partial(_to_keep, state, records, empty, steps, done, started))
        if unit is not None and compiled:  # the first call also compiles, so its time says nothing
            growth = min(LARGEST_GROWTH, CALL_SECONDS / max(took, 1e-6))
            count = unit * max(1, int(count // unit * growth))
        compiled = True
    if done < total:  # it has finished early
        listener(stage, total, total, {})
    return Driven(state, records, steps, started)


def _to_keep(state: S, records: Sequence[Any], empty: Any, steps: Sequence[int], done: int, started: float) -> tuple[Any, ...]:
    """All that is needed to go on, the seconds spent so far included."""
    joined = jax.tree.map(lambda *parts: np.stack(parts), *records) if records else empty
    return state, joined, np.asarray(steps, int), np.asarray(done), np.asarray(time.perf_counter() - started)
