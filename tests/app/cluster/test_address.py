"""What `--cluster` may say, and what it is told in one line where it does not work."""

import os
import sys
import time

import pytest

from epinn.app.cluster import address
from epinn.app.cluster.address import workers_at

SBATCH = """#!/bin/sh
cp "$1" "$0.$$"  # whoever submits deletes it
setsid sh "$0.$$" > "$0.log" 2>&1 < /dev/null &
echo Submitted batch job $!
"""
SCANCEL = """#!/bin/sh
kill -- -"$1"
"""


@pytest.mark.parametrize(
    "given", ["", "nowhere", "local:0", "local:many", "slurm:-1", "host:8786", "tcp://host", "tcp://host:port"]
)
def test_what_is_no_address_is_told_so(given, rejects):
    with rejects("--cluster", "tcp"), workers_at(given, print):
        pytest.fail("there are workers")


def test_where_no_scheduler_answers_there_is_no_waiting(rejects, monkeypatch):
    monkeypatch.setattr(address, "PATIENCE", 1)
    began = time.monotonic()
    with rejects("tcp://127.0.0.1:9", "dask scheduler"), workers_at("tcp://127.0.0.1:9", print):
        pytest.fail("there are workers")
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(("module", "given"), [("distributed", "local"), ("dask_jobqueue", "slurm")])
def test_a_missing_extra_is_asked_for(module, given, rejects, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with rejects(module, "epinn[cluster]"), workers_at(given, print):
        pytest.fail("there are workers")


def test_slurm_is_asked_for_where_jobs_are_submitted(rejects, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with rejects("slurm", "sbatch"), workers_at("slurm", print):
        pytest.fail("there are workers")


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A queue that starts every job at once, on this machine."""
    for name, text in {"sbatch": SBATCH, "scancel": SCANCEL}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("slurm")
def test_slurm_has_to_know_what_a_job_may_use(rejects):
    with rejects("jobqueue.yaml", "cores"), workers_at("slurm:1", print):
        pytest.fail("there are workers")


@pytest.mark.slow
@pytest.mark.usefixtures("slurm")
def test_jobs_of_slurm_are_workers():
    import dask

    said = []
    settings = {
        "jobqueue.slurm.cores": 4,
        "jobqueue.slurm.processes": 1,
        "jobqueue.slurm.memory": "2GB",
        "jobqueue.slurm.interface": "lo",
    }
    with dask.config.set(settings), workers_at("slurm:1", said.append) as executor:
        assert executor.submit(os.getpid).result(timeout=60) != os.getpid()
        assert list(executor._client.nthreads().values()) == [1]
    assert "dashboard: http" in said[0]


@pytest.mark.slow
def test_local_workers_are_processes_of_one_thread():
    said = []
    with workers_at("local:1", said.append) as executor:
        assert executor.submit(os.getpid).result(timeout=60) != os.getpid()
        assert list(executor._client.nthreads().values()) == [1]
        scheduler = executor._client.scheduler.address
        with workers_at(scheduler, said.append) as other:  # somebody else's, by its address
            assert other.submit(pow, 2, 3).result(timeout=60) == 8
    assert [text.partition(";")[0] for text in said] == ["1 worker", "1 worker"]
