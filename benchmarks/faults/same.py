"""Whether two folders hold the same result, to the bit. Times differ, and so does how often progress was noted."""

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open

from epinn.app.store.files import read_json

NOT_RESULTS = ("seconds", "losses", "steps", "command", "started", "ended", "status")  # and all that begins with "time"


def differences(a: Path, b: Path) -> list[str]:
    """The files that are not the same, or in one of them only."""
    names = {path.name for folder in (a, b) for path in folder.iterdir() if path.suffix in (".json", ".safetensors")}
    leftovers = [path.name for path in b.rglob("*") if path.name.startswith(".") or path.is_dir()]
    return sorted([*(name for name in names if _read(a / name) != _read(b / name)), *leftovers])


def _read(path: Path) -> Any:
    if not path.exists():
        return None
    if path.suffix == ".json":
        return json.dumps(_without_times(read_json(path)), sort_keys=True)
    with safe_open(path, framework="numpy") as file:
        return file.metadata()["epinn"], {name: file.get_tensor(name).tobytes() for name in sorted(file.keys())}


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: child for name, child in value.items() if name not in NOT_RESULTS and not name.startswith("time")}
        return {name: _without_times(child) for name, child in kept.items()}
    return [_without_times(child) for child in value] if isinstance(value, list) else value
