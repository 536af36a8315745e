"""The driver of a long stage: it goes on where it was interrupted, and counts what it did before."""

import numpy as np
import pytest

from epinn.progress import Progress
from epinn.solve.optimise import driver
from epinn.solve.optimise.driver import Call, drive


class Memory(Progress):
    """Keeps what it is offered, notes what it hears, and is interrupted at a step."""

    def __init__(self, stops_at=np.inf):
        self.stops_at, self.kept, self.heard = stops_at, {}, []

    def __call__(self, stage, step, total, values):
        self.heard.append((step, total))
        if step >= self.stops_at:
            raise KeyboardInterrupt

    def keep(self, stage, state):
        self.kept[stage] = state()

    def recall(self, stage, like):
        return self.kept.get(stage)


def fibonacci(state, done, count):
    a, b = state
    for _ in range(count):
        a, b = b, a + b
    return Call((a, b), np.asarray([done, a]), {"a": float(a)})


FIRST = (np.asarray(0), np.asarray(1))


def run(memory, total=20, per_call=4, **options):
    return drive("numbers", total, fibonacci, like=FIRST, per_call=per_call, progress=memory, **options)


@pytest.mark.parametrize("stops_at", [4, 12, 20])
def test_an_interrupted_stage_ends_like_one_that_was_not(stops_at):
    whole, memory = run(Memory()), Memory(stops_at)
    with pytest.raises(KeyboardInterrupt):
        run(memory)
    memory.stops_at = np.inf
    again = run(memory)
    assert again.state == whole.state == (6765, 10946)
    assert again.steps == whole.steps == [4, 8, 12, 16, 20]
    np.testing.assert_array_equal(again.records, whole.records)


def test_seconds_of_earlier_sessions_count():
    memory = Memory()
    run(memory)
    memory.kept["numbers"] = (*memory.kept["numbers"][:-1], np.asarray(1000.0))
    assert 1000 < run(memory).seconds < 1100


def test_the_first_state_is_made_only_if_none_was_kept():
    memory, made = Memory(), []
    run(memory, begin=lambda: made.append(1) or FIRST)
    run(memory, begin=lambda: made.append(2) or FIRST)
    assert made == [1]


def test_calls_without_a_unit_are_equally_long_and_may_go_beyond_the_end():
    memory = Memory()
    found = run(memory, total=10)
    assert found.steps == [4, 8, 12]
    assert memory.heard == [(0, 10), (4, 10), (8, 10), (10, 10)]


def test_calls_with_a_unit_grow_and_end_exactly(monkeypatch):
    monkeypatch.setattr(driver, "CALL_SECONDS", 1e9)  # so that every call may be four times as long as the one before
    assert run(Memory(), total=60, per_call=2, unit=2).steps == [2, 4, 12, 44, 60]


def test_a_stage_that_finishes_early_is_reported_as_complete():
    memory = Memory()
    found = run(memory, finished=lambda state: state[0] > 20)
    assert found.steps == [4, 8]
    assert memory.heard[-1] == (20, 20)


def test_calls_without_a_record_leave_none():
    def after_ten(state, done, count):
        call = fibonacci(state, done, count)
        return call if done >= 10 else Call(call.state)

    memory = Memory(stops_at=8)
    with pytest.raises(KeyboardInterrupt):
        drive("numbers", 20, after_ten, like=FIRST, per_call=4, progress=memory)
    memory.stops_at = np.inf
    found = drive("numbers", 20, after_ten, like=FIRST, per_call=4, progress=memory)
    assert found.steps == [16, 20]
    assert [record[1] for record in found.records] == [987, 6765]
