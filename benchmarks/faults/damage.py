"""One bit of a file changed: is it noticed when the file is read?"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors import safe_open

from epinn import InputError, Progress
from epinn.app.store.checkpoint import Keeper
from epinn.app.store.files import read_json
from epinn.app.store.pictures import read_picture
from epinn.app.store.trees import load_tree

from .work import flipped


def detected(path: Path, places: int, generator: np.random.Generator) -> tuple[int, int]:
    """In how many of so many random places damage is noticed, and how many those are; the file is as before in the end."""
    whole = path.read_bytes()
    is_fine = _reader(path)
    if not is_fine():
        raise RuntimeError(f"{path} cannot even be read undamaged")
    noticed = 0
    try:
        for _ in range(places):
            path.write_bytes(flipped(whole, generator))
            noticed += not is_fine()
    finally:
        path.write_bytes(whole)
    return noticed, places


def _reader(path: Path) -> Callable[[], bool]:
    """Says whether the file can be read."""
    if ".checkpoint" in path.name:
        return _checkpoint_reader(path)
    read = {".json": read_json, ".safetensors": load_tree, ".png": read_picture}[path.suffix]

    def is_fine() -> bool:
        try:
            read(path)
        except InputError:
            return False
        return True

    return is_fine


def _checkpoint_reader(path: Path) -> Callable[[], bool]:
    """A checkpoint is read as the work itself would; alone in its folder, so that the one before cannot stand in for it."""
    with safe_open(path, framework="numpy") as file:
        identity, like = file.metadata()["identity"], [file.get_tensor(name) for name in sorted(file.keys())]
    stage = path.name.partition(".checkpoint")[0]
    return lambda: Keeper(Progress(), path.parent, identity, 0.0).recall(stage, like) is not None
