"""The driver of a long stage: recall what an earlier session kept, advance call by call, report, keep.

Adam, Gauss-Newton, Markov chains and variational inference all run through `drive`. A stage gives it

- a state, a tree of arrays that holds all that is needed to go on, and
- `advance`, which makes some steps from a state in one compiled call.

`drive` does the rest. A stage that was killed and started again ends with the same bits as one that was not, if `advance`
depends on nothing but its arguments.
"""

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import jax
import numpy as np

from ...progress import Progress

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
    now = _recalled(stage, like, empty, listener, started) or _Now(like if begin is None else begin(), started)
    listener(stage, now.done, total, {})
    count, seconds = per_call, None
    while now.done < total and not finished(now.state):
        if unit is not None:
            count = min(_fitting(count, unit, seconds), total - now.done)
        compiled, tick = now.calls > 0, time.perf_counter()
        values = now.after(advance(now.state, now.done, count), count)
        seconds = time.perf_counter() - tick if compiled else None  # the first call also compiles, so its time says nothing
        listener(stage, min(now.done, total), total, values)
        listener.keep(stage, functools.partial(now.kept, empty))
    if now.done < total:  # it has finished early
        listener(stage, total, total, {})
    return Driven(now.state, now.records, now.steps, now.started)


@dataclass
class _Now(Generic[S]):
    """Where a stage is."""

    state: S
    started: float
    done: int = 0
    records: list[Any] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    calls: int = 0  # in this session

    def after(self, call: Call[S], count: int) -> Mapping[str, float]:
        """Go on to where a call of so many steps has led; returns its figures."""
        self.state, self.done, self.calls = call.state, self.done + count, self.calls + 1
        if call.record is not None:
            self.records.append(jax.tree.map(np.asarray, call.record))
            self.steps.append(self.done)
        return call.values

    def kept(self, empty: Any) -> tuple[Any, ...]:
        """All that is needed to come back here, the seconds spent so far included."""
        joined = jax.tree.map(lambda *parts: np.stack(parts), *self.records) if self.records else empty
        seconds = np.asarray(time.perf_counter() - self.started)
        return self.state, joined, np.asarray(self.steps, int), np.asarray(self.done), seconds


def _recalled(stage: str, like: S, empty: Any, listener: Progress, started: float) -> _Now[S] | None:
    """Where an earlier session has left a stage."""
    kept = listener.recall(stage, (like, empty, np.zeros(0, int), np.asarray(0), np.zeros(())))
    if kept is None:
        return None
    state, joined, steps, done, seconds = kept
    records = [jax.tree.map(lambda part, i=i: part[i], joined) for i in range(len(steps))]
    return _Now(state, started - float(seconds), int(done), records, steps.tolist())


def _fitting(count: int, unit: int, seconds: float | None) -> int:
    """How many steps take about as long as a call should, if so many took so many seconds."""
    if seconds is None:
        return count
    return unit * max(1, int(count // unit * min(LARGEST_GROWTH, CALL_SECONDS / max(seconds, 1e-6))))
