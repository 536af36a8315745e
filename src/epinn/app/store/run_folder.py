"""Run folders: what was asked (`run.json`), what came out (`metrics.json`, posteriors, pictures). Written atomically."""

import contextlib
import datetime
import platform
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...errors import InputError
from ...interop.network.program import Program
from ...posterior.sampler import Sampler
from ..plan.plain import finite
from ..plan.plan import summarise
from .files import create_once, make_folder, next_free_folder, read_json, to_json, write_atomically, write_json
from .lock import NAME as LOCK
from .lock import alone_in
from .pictures import save_picture
from .trained import Bases
from .trees import load_tree

if TYPE_CHECKING:  # it takes a while to load, and only figures need it
    from matplotlib.figure import Figure

MARKER = "epinn"  # the key in run.json by which we know a folder as ours
PACKAGES = ("jax", "jaxlib", "equinox", "optax", "blackjax", "numpy")  # on whose versions the digits of a result depend
VIEW = "view.json"
BEGIN_AGAIN = "restore it from a copy, or begin the run again in another folder"
IDENTITY = ("problem", "network", "methods", "noise", "noise_on", "seeds", "settings")


class RunFolder:
    """One folder with one run (one problem, some methods, some seeds)."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def create(cls, path: Path | None, description: Mapping[str, Any], stem: str) -> "RunFolder":
        """A folder for a new run; without a path, the next free one under `runs/`.

        A folder that is not ours is refused. One of ours is used again only for the same run.
        """
        about = {MARKER: __version__, **description, **circumstances(), "status": "running"}
        folder = cls(next_free_folder(Path("runs"), stem) if path is None else make_folder(path))
        with alone_in(folder.path):
            if any(found.name != LOCK for found in folder.path.iterdir()):
                _same_run(folder, description)
                folder.write_json("run.json", about)
                (folder.path / "metrics.json").unlink(missing_ok=True)  # of an earlier time that this same run was asked for
                Bases(folder.path).forget()
                return folder
            try:
                create_once(folder.path / "run.json", to_json(about))
            except FileExistsError:  # where the file system knows no locks
                raise InputError(f"another process has just begun a run in {path}; choose another folder with --out.") from None
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """A folder that holds a run."""
        if not (path / "run.json").is_file() or MARKER not in (folder := cls(path)).read_json("run.json"):
            raise InputError(f"{path} is not a run folder of epinn's (it has no run.json of ours).")
        return folder

    def read_json(self, name: str) -> dict[str, Any]:
        return read_json(self.path / name, BEGIN_AGAIN if name == "run.json" else self._remedy)

    @property
    def _remedy(self) -> str:
        """What to do with a damaged file that can be computed again."""
        return f"delete it, and epinn resume {self.path} computes it again"

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        write_json(self.path / name, content)

    def finish(self, status: str) -> None:
        """Say in run.json how it ended: finished, interrupted or failed."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.write_json("run.json", self.read_json("run.json") | {"status": status, "ended": now})

    def write_records(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.write_json("metrics.json", {"records": list(records), "summary": summarise(records)})

    def records(self) -> list[dict[str, Any]]:
        found = self.read_json("metrics.json").get("records") if (self.path / "metrics.json").is_file() else []
        if not isinstance(found, list) or not all(isinstance(one, dict) and {"method", "seed"} <= one.keys() for one in found):
            raise InputError(f"{self.path / 'metrics.json'} holds no records of methods and seeds; {self._remedy}.")
        return found

    def posterior_path(self, method: str, seed: int) -> Path:
        return self.path / f"posterior-{method}-seed{seed}.safetensors"

    def sampler(self, method: str, seed: int, programs: Iterable[Program]) -> Sampler:
        """The stored posterior of a method; `programs` are the functions of a network that was trained elsewhere."""
        found: Sampler = load_tree(self.posterior_path(method, seed), programs, self._remedy)
        return found

    def save_figures(self, figures: "Mapping[str, Figure]", suffix: str = "") -> list[Path]:
        """Write figures as PNG files named after them, with a suffix."""
        paths = []
        for name, figure in figures.items():
            paths.append(self.path / f"{name}{suffix}.png")
            save_picture(figure, paths[-1])
        return paths

    @property
    def animation(self) -> Path:
        """Where the first seed is shown in time, if the problem has one."""
        return self.path / "animation.gif"

    def save_animation(self, gif: bytes) -> None:
        write_atomically(self.animation, gif)

    @property
    def has_view(self) -> bool:
        return (self.path / VIEW).is_file()

    def view(self) -> dict[str, Any]:
        """What the interactive view of the page shows."""
        return self.read_json(VIEW)

    def save_view(self, view: Mapping[str, Any]) -> None:
        self.write_json(VIEW, view)


@contextlib.contextmanager
def ending(folder: RunFolder) -> Iterator[None]:
    """Work in a folder whose run.json says afterwards how it ended."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        status = "failed" if isinstance(error, Exception) else "interrupted"
        with contextlib.suppress(OSError):  # where the disk is full, say: the first failure is what matters
            folder.finish(status)
        raise
    folder.finish("finished")


def _same_run(folder: RunFolder, description: Mapping[str, Any]) -> None:
    """Refuse a folder that holds anything but this very run."""
    found = folder.path / "run.json"
    if not found.is_file():
        raise InputError(f"{folder.path} is not empty and not a run of epinn's; choose another folder with --out.")
    old = folder.read_json("run.json")
    if MARKER not in old:
        raise InputError(f"{folder.path} has a run.json that is not epinn's; choose another folder with --out.")
    new = finite(description)
    different = [name for name in IDENTITY if old.get(name) != new.get(name)]
    if different:
        raise InputError(f"{folder.path} holds a run with other {' and '.join(different)}; choose another folder with --out.")


def circumstances() -> dict[str, Any]:
    """When, where and how this was run."""
    import jax

    device = jax.devices()[0]
    return {
        "command": shlex.join(["epinn", *sys.argv[1:]]),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "device": device.device_kind,
            "platform": device.platform,
            "float64": jax.dtypes.canonicalize_dtype(float).itemsize == 8,
        },
    }


def other_versions(description: Mapping[str, Any]) -> str:
    """The packages that were others when a run began, "jax 0.8.0 (now 0.9.1)"; nothing where all are the same."""
    said = description.get("versions")
    then = {MARKER: description.get(MARKER), **(said if isinstance(said, Mapping) else {})}
    now = {MARKER: __version__, **{name: version(name) for name in PACKAGES}}
    changed = {name: then[name] for name in now if then.get(name) not in (None, now[name])}
    return ", ".join(f"{name} {before} (now {now[name]})" for name, before in changed.items())
