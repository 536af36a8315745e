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
from .files import write_and_keep_last
from .seal import BLANK, ENTRY, is_intact, sealed

FORMAT = 3  # of the files; raised whenever the state of some stage changes its meaning but not its shapes
SHARE = 20.0  # between two checkpoints there is at least this many times what it takes to write one
NOW, LAST = ".checkpoint", ".checkpoint-before"  # how the names of files end: the newest state, and the one before


class Keeper(Progress):
    """Passes progress on to a listener, and keeps the state of every stage in a folder, which `clear` empties.

    `identity` says whose state it is: one of another identity, of another format or of other shapes is never taken. The state
    before the last is kept too, and taken where the last is damaged. A state that cannot be written is left out: the work goes
    on without it. Both are said to the listener.
    """

    def __init__(self, listener: Progress, folder: Path, identity: str, interval: float):
        self._listener, self._folder, self._identity, self._interval = listener, folder, identity, interval
        self._next = time.monotonic() + interval
        self._has_complained = False

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        self._listener(stage, step, total, values)

    def note(self, text: str) -> None:
        self._listener.note(text)

    def keep(self, stage: str, state: Callable[[], Any]) -> None:
        started = time.monotonic()
        if started < self._next:
            return
        arrays = {f"{i:04d}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(state()))}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            content = sealed(to_bytes(arrays, metadata=self._metadata | {ENTRY: BLANK}))
            write_and_keep_last(self._path(stage), content, self._path(stage, LAST))
        except OSError as error:
            self._complain(error)
        ended = time.monotonic()
        self._next = ended + max(self._interval, SHARE * (ended - started))

    def _complain(self, error: OSError) -> None:
        """Once: the work goes on, but an interruption would cost more than it should."""
        if not self._has_complained:
            self.note(f"no checkpoint can be written in {self._folder} ({error.strerror}); the work goes on without.")
        self._has_complained = True

    def recall(self, stage: str, like: Any) -> Any | None:
        for path, next_best in (
            (self._path(stage), "the one before it is taken"),
            (self._path(stage, LAST), "the stage begins anew"),
        ):
            if not path.is_file():
                continue
            arrays = self._read(path)
            if arrays is not None:
                return _in_the_shape_of(like, arrays)
            self.note(f"the checkpoint {path} is damaged; {next_best}.")
        return None

    def _read(self, path: Path) -> list[np.ndarray] | None:
        """The arrays of a checkpoint, none if they are of something else; None if it is damaged."""
        try:
            intact = is_intact(path.read_bytes())
            if intact is False:
                return None
            with safe_open(path, framework="numpy") as file:
                if (file.metadata() or {}).items() >= self._metadata.items():
                    return [file.get_tensor(name) for name in sorted(file.keys())] if intact else None
                return []
        except (OSError, SafetensorError):
            return None

    @property
    def _metadata(self) -> dict[str, str]:
        return {"identity": self._identity, "format": str(FORMAT)}

    def clear(self) -> None:
        """Forget everything: the work is done."""
        forget(self._folder)
        with contextlib.suppress(OSError):  # something of another process may be in it
            self._folder.rmdir()

    def _path(self, stage: str, suffix: str = NOW) -> Path:
        return self._folder / f"{stage.replace(' ', '-')}{suffix}"


def forget(folder: Path) -> None:
    """Delete all checkpoints in a folder."""
    for path in (*folder.glob(f"*{NOW}"), *folder.glob(f"*{LAST}")):
        path.unlink(missing_ok=True)


def _in_the_shape_of(like: Any, arrays: list[np.ndarray]) -> Any | None:
    """A tree like the given one of stored arrays; None if they do not fit."""
    leaves, structure = jax.tree.flatten(like)
    if len(arrays) != len(leaves) or not all(map(_fits, leaves, arrays)):
        return None
    return jax.tree.unflatten(structure, list(map(_as, leaves, arrays)))


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
