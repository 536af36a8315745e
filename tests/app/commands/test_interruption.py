"""Runs that diverge, and runs that are interrupted; `epinn resume`."""

import os
import pty
import re
import shutil
import signal
import time

import numpy as np
import pytest
from command_line import PATIENCE, POISSON, TINY, good, read, records_in, run, start, strict, without_times
from safetensors.numpy import load_file

from epinn.app.store.files import write_json

pytestmark = pytest.mark.slow


def test_resume_computes_only_what_is_missing(compared, tmp_path):
    shutil.copytree(compared[1], tmp_path / "out")
    metrics = read(tmp_path / "out" / "metrics.json")
    before = {record["method"]: record for record in metrics["records"]}
    metrics["records"] = [record for record in metrics["records"] if record["method"] != "dropout"]
    write_json(tmp_path / "out" / "metrics.json", metrics)
    printed = strict(good("resume", "out", "--json", cwd=tmp_path).out)
    after = {record["method"]: record for record in printed}
    assert printed == records_in(tmp_path / "out")
    assert (after["epinet"], after["hmc"]) == (before["epinet"], before["hmc"])
    assert without_times([after["dropout"]]) == without_times([before["dropout"]])


@pytest.fixture(scope="module")
def runaway(tmp_path_factory, broken):
    """A run whose equation is not a number."""
    cwd = tmp_path_factory.mktemp("runaway")
    (cwd / "broken.py").write_text(broken)
    return run("run", "broken.py:runaway", *TINY, "--json", "--out", "out", cwd=cwd), cwd / "out"


def test_a_divergence_is_one_line_that_names_channel_and_step(runaway):
    process, _ = runaway
    assert (process.returncode, process.out) == (1, "")
    assert len(process.err.splitlines()) == 1, process.err
    assert re.match("epinn: .*'equation'.* step 0", process.err)


def test_a_divergence_keeps_finite_weights(runaway):
    weights = load_file(runaway[1] / "base-seed0.safetensors")
    assert weights
    assert all(np.isfinite(values).all() for values in weights.values())


def test_a_divergence_is_marked_in_the_folder(runaway):
    assert read(runaway[1] / "run.json")["status"] == "failed"


def test_a_divergence_is_told_in_sound_json(runaway):
    assert "'equation'" in read(runaway[1] / "base.json")["seeds"][0]["failure"]


def read_until(terminal, process, pattern):
    """What a process writes to its terminal until a pattern appears, or until it ends."""
    seen, limit = "", time.monotonic() + PATIENCE
    while not re.search(pattern, seen):
        assert time.monotonic() < limit, seen
        try:
            seen += os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            return seen
    return seen


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """Ctrl-C in the middle of a training that would take hours, at a terminal: exit code, what it showed after, folder."""
    cwd = tmp_path_factory.mktemp("interrupted")
    ours, theirs = pty.openpty()
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a process in the background would inherit deafness
    process = start("run", *POISSON, "--set", "base.epochs=1e7", "--out", "out", cwd=cwd, stderr=theirs, stdout=theirs)
    signal.signal(signal.SIGINT, previous)
    os.close(theirs)
    with process:
        try:
            read_until(ours, process, r"training .*[1-9]\d*/10000000")
            running = read(cwd / "out" / "run.json")["status"]
            process.send_signal(signal.SIGINT)
            shown = read_until(ours, process, "(?!)")
            code = process.wait(PATIENCE)
        finally:
            process.kill()
            os.close(ours)
    return running, code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown), cwd / "out"


def test_a_run_says_that_it_is_running(interrupted):
    assert interrupted[0] == "running"


def test_ctrl_c_ends_with_130_and_one_line_that_says_how_to_go_on(interrupted):
    _, code, shown, _ = interrupted
    assert code == 130
    last = shown.strip().splitlines()[-1]
    assert last.startswith("epinn: interrupted")
    assert last.endswith("epinn resume out")
    assert "Traceback" not in shown
    assert shown.count("epinn: ") == 1


def test_ctrl_c_leaves_a_sound_folder(interrupted):
    folder = interrupted[3]
    assert read(folder / "run.json")["status"] == "interrupted"
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
