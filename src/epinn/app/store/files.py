"""Files that are there whole or not at all, also after a power cut; and JSON files of ours, read with care."""

import contextlib
import itertools
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..plan.plain import finite, parse_json


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all. An older one of that name is replaced."""
    with _written(path, content) as temporary:
        os.replace(temporary, path)


def create_once(path: Path, content: bytes) -> None:
    """Write a file that must not be there yet. Of several processes that try, one succeeds; the others see FileExistsError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))  # the name is taken; its content follows at once
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
    except BaseException:
        temporary.unlink(missing_ok=True)
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
    """Plain data as the content of a JSON file."""
    return (json.dumps(finite(content), indent=2) + "\n").encode()


def write_json(path: Path, content: Any) -> None:
    """Plain data as a JSON file, whole or not at all."""
    write_atomically(path, to_json(content))


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; what cannot be read is an InputError that names the file."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}).") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a file of epinn's: it holds no names and values.")
    return content
