"""Files that are there whole or not at all."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..plain import finite


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, content: Any) -> None:
    """Plain data as a JSON file, whole or not at all."""
    write_atomically(path, (json.dumps(finite(content), indent=2) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; what cannot be read is an InputError that names the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error}).") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a file of epinn's: it holds no names and values.")
    return content
