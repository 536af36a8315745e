"""Long work that survives an interruption: the state of a stage in a file, from time to time."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file
from safetensors.numpy import save as to_bytes

from .storage import write_atomically
from .train import Progress

INTERVAL = 30.0  # seconds between two checkpoints
SHARE = 20.0  # and at least this many times what it takes to write one


class Keeper(Progress):
    """Passes progress on to a listener, and keeps the state of every stage in a folder, which `clear` empties."""

    def __init__(self, listener: Progress, folder: Path, interval: float = INTERVAL):
        self._listener, self._folder, self._interval = listener, folder, interval
        self._next = time.monotonic() + interval

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        self._listener(stage, step, total, values)

    def keep(self, stage: str, state: Callable[[], Any]) -> None:
        started = time.monotonic()
        if started < self._next:
            return
        arrays = {f"{i:04d}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(state()))}
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path(stage), to_bytes(arrays))
        ended = time.monotonic()
        self._next = ended + max(self._interval, SHARE * (ended - started))

    def recall(self, stage: str, like: Any) -> Any | None:
        try:
            arrays = load_file(self._path(stage))
        except (OSError, SafetensorError):
            return None
        leaves, structure = jax.tree.flatten(like)
        if len(arrays) != len(leaves):
            return None
        return jax.tree.unflatten(structure, [_as(leaf, arrays[f"{i:04d}"]) for i, leaf in enumerate(leaves)])

    def clear(self) -> None:
        """Forget everything: the work is done."""
        for path in self._folder.glob("*.checkpoint"):
            path.unlink(missing_ok=True)
        if self._folder.is_dir() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _path(self, stage: str) -> Path:
        return self._folder / f"{stage.replace(' ', '-')}.checkpoint"


def _plain(leaf: Any) -> np.ndarray:
    return np.array(jax.random.key_data(leaf) if _is_key(leaf) else leaf, order="C")


def _as(leaf: Any, array: np.ndarray) -> Any:
    if _is_key(leaf):
        return jax.random.wrap_key_data(jnp.asarray(array))
    return jnp.asarray(array) if isinstance(leaf, jax.Array) else array


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
