"""One process at a time in a folder. The operating system holds the lock, so a process that dies leaves none behind."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ...errors import InputError

NAME = ".lock"
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class Busy(InputError):
    """Another process works in a folder."""


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Nobody else is `alone_in` the folder meanwhile; where somebody is, an error.

    On a file system that knows no locks there is no protection, but work all the same.
    """
    handle = _acquired(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / NAME).unlink()  # before it is released: whoever has it open already sees that it is gone
        os.close(handle)


def _acquired(folder: Path) -> int:
    """The open lock file. One that was deleted between its opening and its locking protects nothing, so it is made again."""
    while True:
        try:
            handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError(f"{folder} cannot be written to ({error.strerror}); choose another folder.") from None
        try:
            _lock(handle)
            if _is_there(folder, handle):
                return handle
        except OSError as error:
            if error.errno not in _TAKEN:
                return handle
            os.close(handle)
            raise Busy(f"another process is at work in {folder}; wait for it, or choose another folder.") from None
        os.close(handle)


def _is_there(folder: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(folder / NAME), os.fstat(handle))
    except FileNotFoundError:
        return False


def _locker() -> Callable[[int], None]:
    """What locks an open file and raises OSError if another process has."""
    if os.name == "nt":
        import msvcrt

        return lambda handle: msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,no-any-return,unused-ignore]
    import fcntl

    return lambda handle: fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_lock = _locker()
