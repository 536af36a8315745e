"""Tasks for other processes, by any executor of `concurrent.futures`.

What a task needs is in it, and what comes of it is sent back, so that workers need not share a file system: whoever asked
writes the files. A task that is computed twice, since its worker was lost, gives the same.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, as_completed
from typing import Any, TypeVar

from ... import __version__
from ...derivatives.program_cache import keep_compiled_programs
from ...errors import EpinnError, InputError

T = TypeVar("T")
R = TypeVar("R")


class Lost(EpinnError):
    """Workers, or whoever hands out their tasks, are gone. What they had finished is kept."""


def computed(executor: Executor, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[T, R]]:
    """Every task with what `function` makes of it, as soon as it is finished.

    Where one fails the others are finished all the same, and the first failure is raised at the end.
    """
    _check_spawns(executor)
    futures = {executor.submit(_in_worker, function, task, __version__): task for task in tasks}
    failures: list[Exception] = []
    try:
        for future in as_completed(futures):
            try:
                result = future.result()
            except Exception as error:
                failures.append(error)
                continue
            yield futures[future], result
    finally:  # also where nobody waits for the rest any more
        for future in futures:
            future.cancel()
    if failures:
        raise _told(failures[0])


def _in_worker(function: Callable[[T], R], task: T, version: str) -> R:
    if version != __version__:
        raise InputError(
            f"a worker on {socket.gethostname()} has epinn {__version__}, and the task comes from {version}; install the same."
        )
    keep_compiled_programs()
    return function(task)


def _check_spawns(executor: Executor) -> None:
    """JAX has threads, which a forked process lacks while it has their locks: it would wait for them for ever."""
    context: Any = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        raise InputError(
            "JAX hangs in forked processes: pass ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn'))."
        )


def _told(error: Exception) -> Exception:
    """A failure of the workers, not of what they computed, in words of ours."""
    if type(error).__name__ == "KilledWorker":  # Dask's, which need not be installed
        return Lost("the same task has ended several workers, probably since it needs more memory than they may use.")
    if isinstance(error, BrokenExecutor):
        return Lost("a worker was killed, and with it the pool of processes that it was in.")
    if isinstance(error, CancelledError):
        return Lost("the connection to the scheduler is lost.")
    return error
