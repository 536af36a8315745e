"""`--cluster`: workers in processes of their own, one of them killed, the whole interrupted, and the same bits in the end."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import PATIENCE, TINY, good, run, start

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").is_dir(), reason="workers are found in /proc")]

EIGHT = ("--redraws", "8", "--at-once", "1", "--set", "base.epochs=300")
STUDY = ("calibrate", "own.py:make", "--method", "dropout", "--sigma", "equation=0.1", *TINY, *EIGHT)


def redraws_in(folder):
    """What was found, without what depends on how busy the machine was."""
    found = [row for path in folder.glob("redraws-*.json") for row in json.loads(path.read_text())["redraws"]]
    kept = [{name: value for name, value in row.items() if name not in ("time_s", "warnings")} for row in found]
    return sorted(kept, key=lambda row: row["seed"])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, own_file):
    """All of it in one process."""
    cwd = tmp_path_factory.mktemp("undisturbed")
    (cwd / "own.py").write_text(own_file)
    good(*STUDY, "--out", "out", cwd=cwd)
    return redraws_in(cwd / "out")


def workers_of(process):
    """The process ids of the workers that a command has started."""
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    numbers = [int(number) for file in children for number in file.read_text().split()]
    return [number for number in numbers if b"spawn_main" in Path(f"/proc/{number}/cmdline").read_bytes()]


def wait_for(seen):
    limit = time.monotonic() + PATIENCE
    while not (found := seen()):
        assert time.monotonic() < limit
        time.sleep(0.01)
    return found


def test_a_killed_worker_changes_nothing(own, undisturbed):
    process = start(*STUDY, "--cluster", "local:2", "--out", "out", cwd=own, stderr=subprocess.PIPE, text=True)
    with process:
        wait_for(lambda: (own / "out" / "run.json").exists())  # which is written when the workers are there
        victim, _other = workers_of(process)
        time.sleep(1)  # both have their tasks by now, and are far from done
        os.kill(victim, signal.SIGKILL)
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, said
    first, *rest = said.splitlines()
    assert first.startswith("2 workers; dashboard: http://")
    assert all(line.startswith("redraws: 8 steps") for line in rest), said
    assert redraws_in(own / "out") == undisturbed


def test_what_is_interrupted_is_gone_on_with_by_one_process(own, undisturbed):
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a process in the background would inherit deafness
    process = start(*STUDY, "--cluster", "local:2", "--out", "out", cwd=own, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, previous)
    with process:
        wait_for(lambda: list((own / "out").glob("redraws-*")))
        for number in (process.pid, *workers_of(process)):  # as a terminal does
            os.kill(number, signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130
    assert said.splitlines()[1:] == ["epinn: interrupted; what was finished is in out. Go on with: epinn resume out"]
    before = redraws_in(own / "out")
    assert 0 < len(before) < 8
    good("resume", "out", "--json", cwd=own)
    assert redraws_in(own / "out") == undisturbed
    assert all(row in undisturbed for row in before)


def test_a_worker_that_cannot_find_the_problem_says_so(own):
    """The file is there when the plan is made, and gone when a worker looks for it."""
    process = start(*STUDY, "--cluster", "local:1", "--out", "out", cwd=own, stderr=subprocess.PIPE, text=True)
    with process:
        wait_for(lambda: (own / "out" / "run.json").exists())
        (own / "own.py").unlink()  # long before the worker has loaded JAX
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    last = said.splitlines()[-1]
    assert "a worker on" in last
    assert "own.py" in last
    assert "same path" in last


def test_runs_are_not_spread(single, tmp_path):
    process = run("resume", single[1], "--cluster", "local:1", cwd=tmp_path)
    assert process.returncode == 2
    assert process.err.startswith("epinn: --cluster goes with calibrations and reproductions")
