"""Tasks by any executor: results as they come, one failure that costs nothing else, and workers that are lost."""

import os
import threading
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import pytest

import epinn
from epinn.app.cluster import tasks
from epinn.app.cluster.tasks import Lost, computed


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The programs of these tests are not worth keeping."""
    monkeypatch.setattr(tasks, "keep_compiled_programs", lambda: None)


def test_results_come_as_they_are_finished():
    first_may_end = threading.Event()

    def square(x):
        assert x != 2 or first_may_end.wait(10)
        return x * x

    found = []
    with ThreadPoolExecutor(2) as executor:
        for task, result in computed(executor, square, [2, 3]):
            found.append((task, result))
            first_may_end.set()
    assert found == [(3, 9), (2, 4)]


def test_a_failure_is_raised_when_the_others_are_through():
    found = []
    with ThreadPoolExecutor(1) as executor, pytest.raises(ZeroDivisionError):
        found.extend(result for _, result in computed(executor, lambda x: 6 // x, [3, 0, 2]))
    assert found == [2, 3]


def test_what_nobody_waits_for_is_not_begun():
    begun, goes_on = [], threading.Event()

    def work(x):
        begun.append(x)
        assert x == 0 or goes_on.wait(10)

    with ThreadPoolExecutor(1) as executor:
        results = computed(executor, work, range(5))
        next(results)
        results.close()
        goes_on.set()
    assert len(begun) <= 2


class Failing(Executor):
    """Every task fails in the same way."""

    def __init__(self, error):
        self._error = error

    def submit(self, *_):
        future = Future()
        future.set_exception(self._error)
        return future


KilledWorker = type("KilledWorker", (Exception,), {})  # as Dask calls it


@pytest.mark.parametrize(
    ("error", "word"), [(KilledWorker(), "memory"), (BrokenProcessPool(), "pool"), (CancelledError(), "scheduler")]
)
def test_lost_workers_are_told_in_a_line(error, word):
    with pytest.raises(Lost, match=word) as caught:
        list(computed(Failing(error), abs, [1]))
    assert "\n" not in str(caught.value)


def test_a_worker_with_another_version_is_named(rejects):
    with rejects("0.0.1", epinn.__version__):
        tasks._in_worker(abs, -1, "0.0.1")


@pytest.mark.skipif(os.name != "posix", reason="processes are forked there alone")
def test_forked_processes_are_refused(rejects):
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as executor, rejects("forked", "mp_context"):
        list(computed(executor, abs, [1]))
