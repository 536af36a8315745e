"""One process at a time in a folder; a process that dies leaves no lock behind."""

import os
import subprocess
import sys

import pytest

from epinn.app.store.lock import NAME, Busy, alone_in

HOLDS = """
import sys, time
from pathlib import Path
from epinn.app.store.lock import alone_in
with alone_in(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path):
    """Another process in the folder."""
    with subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_the_second_process_is_told(tmp_path, other, rejects):
    with rejects("another process", str(tmp_path)), alone_in(tmp_path):
        pytest.fail("both are in")


def test_a_killed_process_leaves_no_lock(tmp_path, other):
    other.kill()
    other.wait()
    assert (tmp_path / NAME).exists()  # the file, that is, which nobody holds
    with alone_in(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_one_after_the_other_and_folders_apart(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for _ in range(2):
        with alone_in(tmp_path / "a"), alone_in(tmp_path / "b"):
            pass
    with alone_in(tmp_path / "a"), pytest.raises(Busy), alone_in(tmp_path / "a"):
        pass


def test_a_lock_file_that_was_deleted_meanwhile_protects_nobody(tmp_path, monkeypatch):
    """Opened before its owner deleted it, locked after: whoever comes next would make another."""
    from epinn.app.store import lock

    locking, times = lock._lock, []

    def slower(handle):
        locking(handle)
        if not times:
            (tmp_path / NAME).unlink()
        times.append(handle)

    monkeypatch.setattr(lock, "_lock", slower)
    with alone_in(tmp_path):
        assert (tmp_path / NAME).exists()
    assert len(times) == 2


def test_where_the_system_knows_no_locks_there_is_work_all_the_same(tmp_path, monkeypatch):
    def unknown(handle):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("epinn.app.store.lock._lock", unknown)
    with alone_in(tmp_path):
        pass


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="a superuser may write everywhere")
def test_a_folder_that_is_read_only_is_named(tmp_path, rejects):
    tmp_path.chmod(0o500)
    with rejects("cannot be written to"), alone_in(tmp_path):
        pass


def test_a_folder_that_is_gone_is_named(tmp_path, rejects):
    with rejects("cannot be written to", "nowhere"), alone_in(tmp_path / "nowhere"):
        pass
