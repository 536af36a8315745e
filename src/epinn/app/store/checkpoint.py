"""Long work that survives an interruption: the state of a stage in a file, from time to time."""

import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from ...progress import Progress
from .files import write_atomically

FORMAT = 2  # of the files; raised whenever the state of some stage changes its meaning but not its shapes
INTERVAL = 30.0  # seconds between two checkpoints
SHARE = 20.0  # and at least this many times what it takes to write one


class Keeper(Progress):
    """Passes progress on to a listener, and keeps the state of every stage in a folder, which `clear` empties.

    `identity` says whose state it is: one of another identity, of another format or of other shapes is never taken. A state
    that cannot be written is left out: the work goes on without it.
    """

    def __init__(self, listener: Progress, folder: Path, identity: str, interval: float = INTERVAL):
        self._listener, self._folder, self._identity, self._interval = listener, folder, identity, interval
        self._next = time.monotonic() + interval

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        self._listener(stage, step, total, values)

    def keep(self, stage: str, state: Callable[[], Any]) -> None:
        started = time.monotonic()
        if started < self._next:
            return
        arrays = {f"{i:04d}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(state()))}
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(stage), to_bytes(arrays, metadata=self._metadata))
        ended = time.monotonic()
        self._next = ended + max(self._interval, SHARE * (ended - started))

    def recall(self, stage: str, like: Any) -> Any | None:
        try:
            with safe_open(self._path(stage), framework="numpy") as file:
                if file.metadata() != self._metadata:
                    return None
                arrays = [file.get_tensor(name) for name in sorted(file.keys())]
        except (OSError, SafetensorError):
            return None
        leaves, structure = jax.tree.flatten(like)
        if len(arrays) != len(leaves) or not all(map(_fits, leaves, arrays)):
            return None
        return jax.tree.unflatten(structure, list(map(_as, leaves, arrays)))

    @property
    def _metadata(self) -> dict[str, str]:
        return {"identity": self._identity, "format": str(FORMAT)}

    def clear(self) -> None:
        """Forget everything: the work is done."""
        for path in self._folder.glob("*.checkpoint"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # something of another process may be in it
            self._folder.rmdir()

    def _path(self, stage: str) -> Path:
        return self._folder / f"{stage.replace(' ', '-')}.checkpoint"


def _plain(leaf: Any) -> np.ndarray:
    return np.array(jax.random.key_data(leaf) if _is_key(leaf) else leaf, order="C")


def _as(leaf: Any, array: np.ndarray) -> Any:
    if _is_key(leaf):
        return jax.random.wrap_key_data(jnp.asarray(array))
    return jnp.asarray(array) if isinstance(leaf, jax.Array) else array


def _fits(leaf: Any, array: np.ndarray) -> bool:
    """Whether a stored array can stand for a leaf; an empty leaf stands for an array that grows."""
    plain = _plain(leaf)
    return plain.size == 0 or (plain.shape == array.shape and plain.dtype == array.dtype)


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
