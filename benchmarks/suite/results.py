"""What is kept of a case: one JSON file, plain numbers only."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

DONE, FITTED, LATE, FAILED = "done", "fitted", "out of time", "failed"  # FITTED: the bands have still to come


def plain(value: Any) -> Any:
    """The same with Python's own numbers, and None for what is not finite, which JSON does not know."""
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) or (np.ndim(value) == 0 and hasattr(value, "dtype")):
        number = float(value)
        return number if math.isfinite(number) else None
    return value


def save(folder: Path, name: str, found: dict[str, Any]) -> None:
    """At once or not at all, since a process may be killed while it writes."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{name}.json.part"
    unfinished.write_text(json.dumps(plain(found), indent=1, allow_nan=False) + "\n")
    os.replace(unfinished, folder / f"{name}.json")


def load(folder: Path, name: str) -> dict[str, Any] | None:
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def in_one_line(error: BaseException | str) -> str:
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:500]
