"""Files: whole or not at all, on the disk before they have their name, and with the modes that the user wants."""

import errno
import itertools
import os
import stat
import subprocess
import sys

import pytest

from epinn import InputError
from epinn.app.store.files import Unwritable, create_once, read_json, write_and_keep_last, write_atomically, write_json


def test_a_write_replaces_the_whole_file(tmp_path):
    write_atomically(tmp_path / "file", b"a long first content")
    write_atomically(tmp_path / "file", b"short")
    assert (tmp_path / "file").read_bytes() == b"short"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failed_write_leaves_no_temporary_file(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError):
        write_atomically(tmp_path / "taken", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize("reason", [OSError("disk full"), KeyboardInterrupt()], ids=["disk full", "ctrl-c"])
def test_an_interrupted_write_keeps_the_old_content(tmp_path, monkeypatch, reason):
    def replace(*_):
        raise reason

    write_atomically(tmp_path / "file", b"old")
    monkeypatch.setattr("os.replace", replace)
    with pytest.raises(type(reason)):
        write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="modes are a matter of POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_decides_who_may_read_a_file(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "replaced", b"content")
        create_once(tmp_path / "created", b"content")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {mode}


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a folder cannot be synchronised")
def test_content_is_on_the_disk_before_the_name_and_the_name_before_the_end(tmp_path, monkeypatch):
    steps, fsync, replace = [], os.fsync, os.replace

    def synced(handle):
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        if steps[-1] == "file":
            assert os.fstat(handle).st_size == len(b"content")
        fsync(handle)

    def replaced(*arguments):
        steps.append("name")
        replace(*arguments)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr("os.replace", replaced)
    write_atomically(tmp_path / "file", b"content")
    assert steps == ["file", "name", "folder"]


def test_a_file_is_created_once(tmp_path):
    create_once(tmp_path / "file", b"first")
    with pytest.raises(FileExistsError):
        create_once(tmp_path / "file", b"second")
    assert (tmp_path / "file").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_could_not_be_created_does_not_keep_its_name(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        create_once(tmp_path / "file", b"content")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text", ["", "no json", "[]", "3", "[" * 100_000, '{"a": ' * 100_000, '{"a": ' * 500 + "1" + "}" * 500, "\xff"]
)
def test_what_is_no_json_of_ours_is_refused_by_name(tmp_path, text):
    (tmp_path / "run.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"run\.json") as caught:
        read_json(tmp_path / "run.json")
    assert "\n" not in str(caught.value)


def test_what_was_written_is_read(tmp_path):
    write_json(tmp_path / "file.json", {"a": [1, {"b": (2.5, None)}]})
    assert read_json(tmp_path / "file.json") == {"a": [1, {"b": [2.5, None]}]}


def test_every_byte_of_a_json_file_is_guarded(tmp_path):
    path = tmp_path / "file.json"
    write_json(path, {"rmse": 0.0006, "verdict": "trustworthy", "list": [1, None]})
    content = path.read_bytes()
    for place, bit in itertools.product(range(len(content)), (0, 2, 5, 7)):
        path.write_bytes(content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :])
        with pytest.raises(InputError, match=r"file\.json .*; do this\.$") as caught:
            read_json(path, "do this")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [0, 1, 30, 100, -1])
def test_a_truncated_json_file_is_refused(tmp_path, keep):
    path = tmp_path / "file.json"
    write_json(path, {"a": list(range(20))})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"file\.json"):
        read_json(path)


def test_a_file_of_an_older_version_has_no_checksum_and_is_read(tmp_path):
    (tmp_path / "file.json").write_text('{"a": 1}')
    assert read_json(tmp_path / "file.json") == {"a": 1}


def test_a_file_that_cannot_be_written_is_named_with_the_reason(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_atomically(tmp_path / "file", b"old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Unwritable) as caught:
        write_atomically(tmp_path / "file", b"new")
    assert caught.value.errno == errno.ENOSPC
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "file") in str(caught.value)
    assert "No space left on device" in str(caught.value)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="the limit is a matter of POSIX")
def test_a_write_beyond_the_limit_of_the_system_leaves_the_old_file(tmp_path):
    """A real failure in the middle of a write: the system takes the first bytes and refuses the rest."""
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from epinn.app.store.files import write_atomically\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_atomically(Path(sys.argv[1]), bytes(5000))\n"
        "except OSError as error: print(error)\n"
    )
    path = tmp_path / "file"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert "cannot be written" in done.stdout
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_the_last_version_is_kept(tmp_path):
    for content in (b"1", b"2", b"3"):
        write_and_keep_last(tmp_path / "now", content, tmp_path / "before")
    assert (tmp_path / "now").read_bytes() == b"3"
    assert (tmp_path / "before").read_bytes() == b"2"
