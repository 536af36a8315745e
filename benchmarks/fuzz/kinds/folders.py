"""Run folders: what was changed with its checksum made right, links, and things that are no files."""

import functools
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from safetensors import safe_open
from safetensors.numpy import save

from epinn import InputError, Progress
from epinn.app.plan.plan import Plan
from epinn.app.report.run_page import write_report
from epinn.app.store.checkpoint import Keeper
from epinn.app.store.files import read_json, write_json
from epinn.app.store.run_folder import MARKER, RunFolder, other_versions
from epinn.app.store.seal import BLANK, ENTRY, sealed
from epinn.app.store.trained import Bases
from epinn.app.store.trees import load_tree, save_tree

from .. import mutate

OLD = Path(__file__).parents[3] / "tests" / "data" / "format-1" / "methods"
JSON = ("run.json", "metrics.json", "base.json")


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    folder = place / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_example(), folder)
    if random.random() < 0.7:
        name = random.choice((*JSON, "run.json", "metrics.json"))
    else:
        name = random.choice(sorted(path.name for path in folder.iterdir()))
    _disturb(folder / name, random)
    return lambda: _read_all(folder, random.choice((True, False)))


def _disturb(path: Path, random: Random) -> None:
    kind = random.random()
    if kind < 0.1:
        path.write_bytes(mutate.content(path.read_bytes(), random))
    elif kind < 0.16:
        path.unlink()
        match random.randrange(6):
            case 0:
                path.mkdir()
            case 1:
                os.mkfifo(path)
            case 2:
                path.symlink_to("/dev/zero")
            case 3:
                path.symlink_to(path)
            case 4:
                path.symlink_to("../" * 20 + "etc/passwd")
            case _:
                path.symlink_to(path.parent)
    elif path.suffix == ".json":
        write_json(path, mutate.plain(read_json(path), random))
    else:
        _resealed(path, random)


def _resealed(path: Path, random: Random) -> None:
    """A file of arrays with another structure, and its checksum."""
    with safe_open(path, framework="numpy") as file:
        structure = file.metadata()["epinn"]
        arrays = {name: file.get_tensor(name) for name in sorted(file.keys())}
    changed = json.dumps(mutate.plain(json.loads(structure), random))
    if random.random() < 0.2:
        arrays.pop(random.choice(list(arrays)))
    name = random.choice(("format", "format", "x"))
    metadata = {"epinn": changed, "format": "3"} | {name: random.choice(("3", "2", "9", "", "٣", "-1"))}
    path.write_bytes(sealed(save(arrays, metadata=metadata | {ENTRY: BLANK})))


def _read_all(folder: Path, shown: bool) -> None:
    """What `epinn resume` and `epinn report` read before they compute anything."""
    existing = RunFolder.open(folder)
    description = existing.read_json("run.json")
    other_versions(description)
    if shown:
        write_report(existing)
        if (folder / "report.html").is_symlink():
            raise InputError("the report is a link.")
        return
    plan = Plan.from_description(description)
    plan.identity()
    plan.describe("fast")
    existing.records()
    Bases(folder).has(plan)
    for path in sorted(folder.glob("*.safetensors")):
        load_tree(path)
        Keeper(Progress(), folder, "nobody", 0.0).recall(path.stem, [])


@functools.cache
def _example() -> Path:
    """A run folder of the newest format, made of a stored one of the oldest, without anything being computed."""
    folder = Path(tempfile.mkdtemp(prefix="epinn-fuzz-")) / "run"
    shutil.copytree(OLD, folder)
    for path in folder.glob("*.json"):
        content = json.loads(path.read_text())
        write_json(path, content | ({MARKER: "0.1.0"} if path.name == "run.json" else {}))
    for path in folder.glob("*.safetensors"):
        save_tree(load_tree(path), path)
    return folder
