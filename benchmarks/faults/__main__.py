"""`python -m benchmarks.faults`: kills, damage and full disks, and a page about them."""

import argparse
import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import epinn
from benchmarks.machine import describe, save

from .damage import detected
from .page import write
from .same import differences
from .work import COMMAND, LONGEST, Work, environment, finish, flipped, killed, resume, timed, works

OUT = Path("docs/results/faults")
KINDS = ("training", "gauss-newton", "ensemble", "windows", "sampling", "study")
READ_BACK = (".json", ".safetensors", ".png")
NOT_READ = ("calibration.json", "calibration.png")  # written for people


def kills(work: Work, number: int, place: Path, generator: np.random.Generator) -> dict[str, Any]:
    """Kill it at random moments, each time from the beginning, and go on."""
    whole, cache = place / f"{work.name}-whole", place / "cache"
    timed(work, place / f"{work.name}-first", cache)  # compiles
    seconds = timed(work, whole, cache)
    otherwise, same, late = [], 0, 0
    for i in range(number):
        folder = place / f"{work.name}-{i}"
        late += not killed(work.command(folder), folder, cache, generator.uniform(0, seconds))
        done = resume(folder, cache)
        found = [done.stderr.strip().replace(f"{place}/", "")[-200:]] if done.returncode else differences(whole, folder)
        same += not found
        otherwise += [f"kill {i}: {', '.join(found)}"] if found else []
        shutil.rmtree(folder)
        print(f"{work.name}: kill {i + 1} of {number}: {found or 'same'}", flush=True)
    return {"work": work.name, "seconds": seconds, "kills": number, "after_the_end": late, "same": same, "otherwise": otherwise}


def unfinished(work: Work, place: Path, seconds: float) -> list[Path]:
    """Checkpoints of a run that was killed half way; each kind in a folder of its own."""
    folder = place / f"{work.name}-half"
    for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2):
        shutil.rmtree(folder, ignore_errors=True)
        killed(work.command(folder), folder, place / "cache", share * seconds)
        found = sorted(folder.rglob("*.checkpoint"))
        if found:
            alone = place / f"{work.name}-checkpoint"
            alone.mkdir(exist_ok=True)
            return [Path(shutil.copy(path, alone)) for path in found]
    return []


def damage(work: Work, place: Path, seconds: float, places: int, generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Every file of a finished folder that is read back, its checkpoints, and a band in a file of its own."""
    whole = place / f"{work.name}-whole"
    files = [path for path in sorted(whole.iterdir()) if path.suffix in READ_BACK and path.name not in NOT_READ]
    files += unfinished(work, place, seconds)
    if work.arguments[0] == "run":
        epinn.load(whole).save(place / "band.safetensors")
        files.append(place / "band.safetensors")
    for path in files:
        noticed, tried = detected(path, places, generator)
        print(f"{work.name}: {path.name}: {noticed} of {tried} noticed", flush=True)
        yield {"file": f"{work.name}: {path.name}", "places": tried, "noticed": noticed}


def commands(work: Work, place: Path, generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """`epinn resume` on a folder with one damaged file: exit code 2, and one line that names it."""
    whole = place / f"{work.name}-whole"
    for path in sorted(whole.iterdir()):
        if path.suffix in (".json", ".safetensors") and path.name not in NOT_READ:
            content = path.read_bytes()
            path.write_bytes(flipped(content, generator))
            done = resume(whole, place / "cache")
            path.write_bytes(content)
            told = done.returncode == 2 and path.name in done.stderr and len(done.stderr.strip().splitlines()) == 1
            print(f"{work.name}: epinn resume with a damaged {path.name}: {done.stderr.strip()}", flush=True)
            yield {"file": f"{work.name}: {path.name}", "told": told, "said": done.stderr.strip().replace(f"{place}/", "")}


def full(work: Work, number: int, place: Path, generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """The disk is full after some files; then there is room again."""
    most = sum(1 for _ in (place / f"{work.name}-whole").iterdir())
    for i, after in enumerate(generator.integers(0, most, number)):
        folder = place / f"{work.name}-full-{i}"
        done = finish(work.command(folder, full_after=int(after)), place / "cache")
        yield _after_full(work, f"{work.name}, after {after} files", done, folder, place)


def read_only(work: Work, place: Path) -> Iterator[dict[str, Any]]:
    """A user without the right to write begins a run, and goes on with one of somebody else's; root may write everywhere, so
    the command runs as nobody, where there is such a user."""
    if not shutil.which("setpriv") or os.geteuid() != 0:
        return
    whole, theirs = place / f"{work.name}-whole", place / "theirs"
    shutil.copytree(whole, theirs)
    for path in (place, place / "cache", theirs):
        path.chmod(0o755)
    before = sorted((path.name, path.read_bytes()) for path in theirs.iterdir() if path.is_file())
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nonexistent"]
    asked = {
        "a new run in a read-only folder": work.command(theirs / "new"),
        "resume in one": [*COMMAND, "resume", str(theirs)],
    }
    for when, command in asked.items():
        done = finish([*nobody, *command], place / "cache")
        errors = [line.replace(f"{place}/", "") for line in done.stderr.splitlines() if line.startswith("epinn: ")]
        after = sorted((path.name, path.read_bytes()) for path in theirs.iterdir() if path.is_file())
        row = {"when": f"{work.name}, {when}", "code": done.returncode, "said": errors, "same": before == after}
        print(row, flush=True)
        yield row | {"one_line": "Traceback" not in done.stderr and len(errors) == 1}


def at_once(work: Work, place: Path) -> dict[str, Any]:
    """Two processes begin the same run in one folder: one does it, the other is told so."""
    folder = place / f"{work.name}-twice"
    quiet = {"env": environment(place / "cache"), "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(work.command(folder), **quiet) for _ in range(2)]
    said = [process.communicate(timeout=LONGEST)[1] for process in both]
    codes = sorted(process.returncode for process in both)
    told = [line.replace(f"{place}/", "") for text in said for line in text.splitlines() if line.startswith("epinn: ")]
    row = {"when": f"{work.name}, two processes at once", "code": codes, "said": told}
    row["same"] = not differences(place / f"{work.name}-whole", folder)
    print(row, flush=True)
    return row | {"one_line": len(told) == 1 and not any("Traceback" in text for text in said)}


def really_full(work: Work, kibibytes: int, place: Path) -> Iterator[dict[str, Any]]:
    """The same on a disk that is that small, where one may be mounted."""
    with small_disk(place / "disk", kibibytes) as disk:
        if disk is not None:
            done = finish(work.command(disk / "run"), place / "cache")
            folder = place / f"{work.name}-really-full"
            shutil.copytree(disk / "run", folder)
            yield _after_full(work, f"{work.name}, a disk of {kibibytes} KiB", done, folder, place)


def _after_full(work: Work, when: str, done: Any, folder: Path, place: Path) -> dict[str, Any]:
    errors = [line.replace(f"{place}/", "") for line in done.stderr.splitlines() if line.startswith("epinn: ")]
    half = [path.name for path in folder.rglob(".*")] if folder.exists() else []
    again = resume(folder, place / "cache") if (folder / "run.json").exists() else finish(work.command(folder), place / "cache")
    same = again.returncode == 0 and not differences(place / f"{work.name}-whole", folder)
    shutil.rmtree(folder)
    row = {"when": when, "code": done.returncode, "said": errors, "half": len(half), "same": same}
    print(row, flush=True)
    return row | {"one_line": "Traceback" not in done.stderr and any("No space left" in line for line in errors)}


@contextlib.contextmanager
def small_disk(path: Path, kibibytes: int) -> Iterator[Path | None]:
    """A file system of that size in memory; None where the system does not let us mount one."""
    path.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(path)]
    mounted = shutil.which("mount") and subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    try:
        yield path if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", str(path)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="of each kind of work")
    parser.add_argument("--places", type=int, default=200, help="in which each file is damaged")
    parser.add_argument("--full", type=int, default=10, help="moments at which the disk is full, of each kind of work")
    parser.add_argument("--disks", type=int, nargs="*", default=[8, 24, 64, 128], help="sizes of small disks in KiB")
    parser.add_argument("--epochs", type=int, default=20_000, help="of a training")
    parser.add_argument("--samples", type=int, default=2_000, help="of a chain")
    parser.add_argument("--redraws", type=int, default=4, help="of a study")
    parser.add_argument("--work", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--no-others", dest="others", action="store_false", help="kills alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    started, generator = time.monotonic(), np.random.default_rng(options.seed)
    known = {work.name: work for work in works(options.epochs, options.samples, options.redraws)}
    chosen = [known[name] for name in options.work]
    found: dict[str, Any] = {"kills": [], "damage": [], "commands": [], "full": [], "others": []}
    command = shlex.join(["python", "-m", "benchmarks.faults", *sys.argv[1:]])
    found["about"] = {"command": command, "machine": describe(), "epinn": epinn.__version__, "jax": version("jax")}
    found["options"] = json.loads(json.dumps(vars(options), default=str))

    def keep() -> None:
        """What there is so far: the whole takes hours, and may itself be interrupted."""
        save(options.out, "faults", found | {"seconds": time.monotonic() - started})
        write(found | {"seconds": time.monotonic() - started}, options.out)

    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        for work in chosen:
            found["kills"].append(kills(work, options.kills, place, generator))
            keep()
            if not options.others:
                continue
            if work.arguments[0] == "run":
                found["others"] += [*read_only(work, place), at_once(work, place)]
                keep()
            seconds = found["kills"][-1]["seconds"]
            for part, rows in (
                ("damage", damage(work, place, seconds, options.places, generator)),
                ("commands", commands(work, place, generator)),
                ("full", full(work, options.full, place, generator)),
            ):
                found[part] += rows
                keep()
        for kibibytes in options.disks if chosen else []:
            found["full"] += really_full(chosen[0], kibibytes, place)
            keep()


if __name__ == "__main__":
    main()
