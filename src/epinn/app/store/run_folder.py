"""Run folders: what was asked (`run.json`), what came out (`metrics.json`, posteriors, pictures). Written atomically."""

import datetime
import json
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import Diverged, InputError
from ...judge.evaluation import Evaluation
from ...progress import Progress
from ..plan import Plan, attach_method, fit_base, linearised_spread, reopen_method, summarise
from ..report.pictures import figures
from .checkpoint import Keeper
from .trained import UNFINISHED, Bases
from .trees import finite, load_tree, save_tree, write_atomically, write_json

MARKER = "epinn"  # the key in run.json by which we know a folder as ours
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
        path = path or _next_free(Path("runs"), stem)
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file; --out needs a folder.")
        folder = cls(path)
        if path.exists() and any(path.iterdir()):
            _same_run(folder, description)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the folder {path} cannot be made ({error.strerror}); choose another with --out.") from None
        folder.write_json("run.json", {MARKER: __version__, **description, **circumstances(), "status": "running"})
        (path / "metrics.json").unlink(missing_ok=True)  # of an earlier time that this same run was asked for
        Bases(path).forget()
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """A folder that holds a run."""
        if not (path / "run.json").is_file() or MARKER not in (folder := cls(path)).read_json("run.json"):
            raise InputError(f"{path} is not a run folder of epinn's (it has no run.json of ours).")
        return folder

    def read_json(self, name: str) -> dict[str, Any]:
        try:
            content = json.loads((self.path / name).read_text())
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{self.path / name} cannot be read ({error}).") from None
        if not isinstance(content, dict):
            raise InputError(f"{self.path / name} is not a file of epinn's: it holds no names and values.")
        return content

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        write_json(self.path / name, content)

    def finish(self, status: str) -> None:
        """Say in run.json how it ended: finished, interrupted or failed."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.write_json("run.json", self.read_json("run.json") | {"status": status, "ended": now})

    def write_records(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.write_json("metrics.json", {"records": list(records), "summary": summarise(records)})

    def records(self) -> list[dict[str, Any]]:
        return self.read_json("metrics.json")["records"] if (self.path / "metrics.json").is_file() else []

    def posterior_path(self, method: str, seed: int) -> Path:
        return self.path / f"posterior-{method}-seed{seed}.safetensors"

    def save_figures(self, figures: Mapping[str, Any], suffix: str = "") -> list[Path]:
        paths = []
        for name, figure in figures.items():
            path = self.path / f"{name}{suffix}.png"
            temporary = self.path / f".{name}{suffix}.png"
            figure.savefig(temporary, format="png", dpi=150)
            temporary.replace(path)
            paths.append(path)
        return paths

    def write_report(self) -> None:
        """The page that shows this run."""
        from ..report.page import render
        from ..report.run_page import run_page

        write_atomically(self.path / "report.html", render(run_page(self)).encode())


def _next_free(parent: Path, stem: str) -> Path:
    number = 1
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"


def execute(plan: Plan, folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    """Compute a plan and write it into its folder, leaving out what is there already. Returns the records."""
    status = "interrupted"
    try:
        records = _execute(plan, folder, progress)
        status = "finished"
    except Exception:
        status = "failed"
        raise
    finally:
        folder.finish(status)
    folder.write_report()
    return records


def _execute(plan: Plan, folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    bases, unfinished = Bases(folder.path), folder.path / UNFINISHED
    has_data = bool(plan.problems()[0].data)
    records = folder.records()
    evaluations: dict[int, list[Evaluation]] = {seed: [] for seed in plan.seeds}
    for method in plan.methods:
        chosen = plan.settings.methods[method]
        if chosen.uses_base:
            pinns = bases.get(plan, progress, sees_data=chosen.base_sees_data or not has_data)
            failures = [pinn.failure for pinn in pinns if pinn.failure]
            if len(failures) == len(pinns):
                raise Diverged(f"{failures[0]} They are in {folder.path}.")
        else:
            pinns = fit_base(plan, Progress(), epochs=0)
        done = {record["seed"] for record in records if record["method"] == method}
        keeper = Keeper(progress, unfinished, f"{plan.identity()} {method}")
        if done == set(plan.seeds):
            programs = getattr(pinns[0].solution.network, "programs", ())
            stored = [load_tree(folder.posterior_path(method, seed), programs) for seed in plan.seeds]
            results = reopen_method(plan, method, pinns, stored)
        else:
            records, done = [record for record in records if record["method"] != method], set()
            results = attach_method(plan, method, pinns, keeper, linearised_spread(plan, method, pinns, progress))
        for result in results:
            if result.posterior.failure and len(plan.seeds) == 1:
                raise Diverged(result.posterior.failure)
            evaluations[result.case.seed].append(result.evaluation)
            if result.case.seed not in done:
                save_tree(result.posterior.sampler, folder.posterior_path(method, result.case.seed))
                records.append(result.record)
                folder.write_records(records)
        keeper.clear()
    for seed, shown in evaluations.items():
        folder.save_figures(figures(shown), "" if len(plan.seeds) == 1 else f"-seed{seed}")
    return records


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

    packages = ("jax", "jaxlib", "equinox", "optax", "blackjax", "numpy")
    device = jax.devices()[0]
    return {
        "command": shlex.join(["epinn", *sys.argv[1:]]),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "device": device.device_kind,
            "platform": device.platform,
            "float64": bool(jax.config.read("jax_enable_x64")),
        },
    }
