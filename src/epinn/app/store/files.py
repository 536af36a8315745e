"""Files that are there whole or not at all, also after a power cut; and JSON files of ours, read with care."""

import contextlib
import errno
import itertools
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import EpinnError, InputError
from ..plan.plain import finite, parse_json
from .seal import BLANK, ENTRY, SEALED, Damaged, is_intact, sealed

FORMAT = SEALED  # of the JSON files that are written now
ELSEWHERE = "restore it from a copy, or make it again"  # what to do with a damaged file of which no more is known


class Unwritable(EpinnError, OSError):
    """A file cannot be written: the disk is full, the folder is read-only. What was there before is as it was."""

    @classmethod
    def of(cls, path: Path, error: OSError) -> "Unwritable":
        return cls(error.errno or errno.EIO, error.strerror or str(error), str(path))

    def __str__(self) -> str:
        return f"{self.filename} cannot be written ({self.strerror})."


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all. An older one of that name is replaced."""
    with _written(path, content) as temporary:
        os.replace(temporary, path)


def write_and_keep_last(path: Path, content: bytes, last: Path) -> None:
    """The same; the older one gets the name `last`. At no moment is there neither."""
    with _written(path, content) as temporary:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path, last)
        os.replace(temporary, path)


def create_once(path: Path, content: bytes) -> None:
    """Write a file that must not be there yet. Of several processes that try, one succeeds; the others see FileExistsError."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))  # the name is taken; its content follows at once
    except FileExistsError:
        raise
    except OSError as error:
        raise Unwritable.of(path, error) from None
    try:
        write_atomically(path, content)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _written(path: Path, content: bytes) -> Iterator[Path]:
    """A temporary file beside `path` with its content on the disk, to be given its name; then that name on the disk too.

    Without the first fsync a power cut can leave the new name with no content, without the second the old content.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        # opened by hand, since tempfile's files are for their owner alone: here the umask decides, as for any new file
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    except BaseException as error:
        with contextlib.suppress(OSError):  # where nothing can be written, there may be nothing to delete
            temporary.unlink()
        if isinstance(error, OSError):
            raise Unwritable.of(path, error) from None
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, where the system has a way to do it (Windows has none)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def make_folder(path: Path) -> Path:
    """The folder that a command's --out names, made if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{path} is a file; --out needs a folder.") from None
    except OSError as error:
        raise _cannot_make(path, error) from None
    return path


def next_free_folder(parent: Path, stem: str) -> Path:
    """A new folder `stem-1`, or with the next number that is free: no two processes get the same."""
    make_folder(parent)
    for path in (parent / f"{stem}-{number}" for number in itertools.count(1)):
        try:
            path.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise _cannot_make(path, error) from None
        break
    return path


def _cannot_make(path: Path, error: OSError) -> InputError:
    return InputError(f"the folder {path} cannot be made ({error.strerror}); choose another with --out.")


def to_json(content: Any) -> bytes:
    """Plain data as the content of a JSON file. Names and values get a checksum; a list, which is never read back, has none."""
    if not isinstance(content, Mapping):
        return _as_text(content)
    return sealed(_as_text({"format": FORMAT, ENTRY: BLANK, **content}))


def _as_text(content: Any) -> bytes:
    return (json.dumps(finite(content), indent=2) + "\n").encode()


def write_json(path: Path, content: Any) -> None:
    """Plain data as a JSON file, whole or not at all."""
    write_atomically(path, to_json(content))


def read_json(path: Path, remedy: str = ELSEWHERE) -> dict[str, Any]:
    """The object in a JSON file; what cannot be read is an InputError that names the file, and what to do if it is damaged."""
    text = read_whole(path)
    intact = is_intact(text)
    if intact is False:
        raise damaged(path, remedy)
    try:
        content = parse_json(text.decode())
    except ValueError as error:
        raise InputError(f"{path} is damaged, or no file of epinn's ({error}); {remedy}.") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a file of epinn's: it holds no names and values.")
    if content.pop("format", 0) != 0 and intact is None:  # no file without a checksum has a format
        raise damaged(path, remedy)
    content.pop(ENTRY, None)
    return content


def read_whole(path: Path) -> bytes:
    """The content of a file. What is none, a pipe or a device behind a link say, is refused: it might never end."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no file; restore it from a copy, or delete it.")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}).") from None


def damaged(path: Path, remedy: str) -> Damaged:
    return Damaged(f"{path} is damaged: it is not as epinn wrote it; {remedy}.")
