"""Run folders: what was asked (`run.json`), what came out (`metrics.json`, posteriors, pictures). Written atomically."""

import dataclasses
import datetime
import json
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import __version__
from .errors import Diverged, InputError
from .evaluation import Evaluation
from .experiment import Plan, attach_method, fit_base, reopen_method, summarise
from .pinn import Pinn
from .plots import figures
from .storage import load_tree, save_tree, write_atomically
from .train import Progress

MARKER = "epinn"  # the key in run.json by which we know a folder as ours
IDENTITY = ("problem", "methods", "noise", "seeds", "settings")


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
        folder.write_json("run.json", {MARKER: __version__, **description, **_circumstances(), "status": "running"})
        for stale in ("metrics.json", "base.json"):  # of an earlier time that this same run was asked for
            (path / stale).unlink(missing_ok=True)
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """A folder that holds a run."""
        if not (path / "run.json").is_file() or MARKER not in (folder := cls(path)).read_json("run.json"):
            raise InputError(f"{path} is not a run folder of epinn's (it has no run.json of ours).")
        return folder

    def read_json(self, name: str) -> dict[str, Any]:
        try:
            return json.loads((self.path / name).read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path / name} cannot be read ({error}).") from None

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        write_atomically(self.path / name, (json.dumps(finite(content), indent=2) + "\n").encode())

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

    def save_base(self, pinns: Sequence[Pinn], seeds: Sequence[int]) -> None:
        """The trained base PINNs, and how their training went."""
        for pinn, seed in zip(pinns, seeds, strict=True):
            save_tree(pinn.solution, self.path / f"base-seed{seed}.safetensors")
        names = [channel.name for channel in pinns[0].channels]
        history = [
            {"seed": seed, "seconds": p.seconds, "failure": p.failure, "steps": p.steps, "losses": p.losses.tolist()}
            for p, seed in zip(pinns, seeds, strict=True)
        ]
        self.write_json("base.json", {"channels": names, "seeds": history})

    def has_base(self) -> bool:
        return (self.path / "base.json").is_file()

    def load_base(self, fresh: Sequence[Pinn], seeds: Sequence[int]) -> list[Pinn]:
        """The base PINNs that an earlier run trained; `fresh` are untrained ones to be filled."""
        history = {row["seed"]: row for row in self.read_json("base.json")["seeds"]}
        return [
            dataclasses.replace(
                pinn,
                solution=load_tree(self.path / f"base-seed{seed}.safetensors"),
                seconds=history[seed]["seconds"],
                failure=history[seed]["failure"],
            )
            for pinn, seed in zip(fresh, seeds, strict=True)
        ]

    def save_figures(self, figures: Mapping[str, Any], suffix: str = "") -> list[Path]:
        paths = []
        for name, figure in figures.items():
            path = self.path / f"{name}{suffix}.png"
            temporary = self.path / f".{name}{suffix}.png"
            figure.savefig(temporary, format="png", dpi=150)
            temporary.replace(path)
            paths.append(path)
        return paths


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
        return records
    except Exception:
        status = "failed"
        raise
    finally:
        folder.finish(status)


def _execute(plan: Plan, folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    if folder.has_base():
        pinns = folder.load_base(fit_base(plan, Progress(), epochs=0), plan.seeds)
    else:
        pinns = fit_base(plan, progress)
        folder.save_base(pinns, plan.seeds)
    failures = [pinn.failure for pinn in pinns if pinn.failure]
    if len(failures) == len(pinns):
        raise Diverged(f"{failures[0]} They are in {folder.path}.")
    records = folder.records()
    evaluations: dict[int, list[Evaluation]] = {seed: [] for seed in plan.seeds}
    for method in plan.methods:
        done = {record["seed"] for record in records if record["method"] == method}
        if done == set(plan.seeds):
            results = reopen_method(plan, method, pinns, [load_tree(folder.posterior_path(method, s)) for s in plan.seeds])
        else:
            records, done = [record for record in records if record["method"] != method], set()
            results = attach_method(plan, method, pinns, progress)
        for result in results:
            if result.posterior.failure and len(plan.seeds) == 1:
                raise Diverged(result.posterior.failure)
            evaluations[result.seed].append(result.evaluation)
            if result.seed not in done:
                save_tree(result.posterior.sampler, folder.posterior_path(method, result.seed))
                records.append(result.record)
                folder.write_records(records)
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


def _circumstances() -> dict[str, Any]:
    import jax

    packages = ("jax", "jaxlib", "equinox", "optax", "blackjax", "numpy")
    device = jax.devices()[0]
    return {
        "command": " ".join(["epinn", *sys.argv[1:]]),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "device": device.device_kind,
            "platform": device.platform,
            "float64": bool(jax.config.read("jax_enable_x64")),
        },
    }


def finite(value: Any) -> Any:
    """Plain data that every JSON reader understands: tuples and arrays as lists, NaN and infinity as null."""
    if isinstance(value, Mapping):
        return {str(key): finite(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [finite(child) for child in value]
    if hasattr(value, "tolist"):
        return finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
