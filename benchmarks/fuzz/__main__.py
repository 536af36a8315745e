"""`python -m benchmarks.fuzz`: many wrong inputs of every kind, and a page about what was found."""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import epinn
from benchmarks.machine import describe, save

from .judge import LONGEST, MEGABYTES, judged
from .kinds import KINDS, SHARES
from .page import write
from .worker import work

OUT = Path("docs/results/fuzz")
SILENT = 120.0  # seconds on one input after which a process is taken to hang, where even an alarm does not end it


def fuzz(kind: str, options: argparse.Namespace, number: int) -> dict[str, Any]:
    """All inputs of one kind; a process that dies is a finding, and the next one goes on behind it."""
    started, counts, begin = time.monotonic(), {"refused": 0, "accepted": 0, "found": 0}, options.begin
    causes: dict[str, Any] = {}
    end = begin + number
    while begin < end:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            died = _run(kind, options, begin, end, log)
            state = json.loads(log.with_suffix(".now").read_text()) if log.with_suffix(".now").exists() else {"at": begin}
            lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        for name in counts:
            counts[name] += state.get(name, 0)
        if died:
            counts["found"] += 1
            lines.append({"input": state["at"], "note": died, "said": ""})
        for line in lines:
            cause = causes.setdefault(line["note"], {"times": 0, "input": line["input"], "said": line["said"]})
            cause["times"] += 1
        begin = state["at"] + 1
    for note, cause in causes.items():
        print(f"  {note} ({cause['times']} times; input {cause['input']}): {cause['said'][:160]!r}", flush=True)
    return {"inputs": sum(counts.values()), **counts, "causes": causes, "seconds": time.monotonic() - started}


def _run(kind: str, options: argparse.Namespace, begin: int, end: int, log: Path) -> str:
    """One process; how it died, if it did."""
    asked = ["--worker", kind, "--begin", str(begin), "--end", str(end), "--log", str(log)]
    command = [sys.executable, "-m", "benchmarks.fuzz", *asked, "--seed", str(options.seed), "--limit", str(options.limit)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        seen, since = "", time.monotonic()
        while process.poll() is None:
            time.sleep(0.2)
            now = log.with_suffix(".now").read_text() if log.with_suffix(".now").exists() else ""
            if now != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > SILENT:
                process.kill()
                return "the process hangs"
        last = (process.stderr.read() if process.stderr else b"").decode(errors="replace").strip().splitlines()[-1:]
    return f"the process died with {process.returncode} ({' '.join(last)[:100]})" if process.returncode else ""


def replay(kind: str, number: int, options: argparse.Namespace) -> None:
    """One input again, with its traceback."""
    with tempfile.TemporaryDirectory() as place:
        attempt = KINDS[kind](Random(f"{kind} {options.seed} {number}"), Path(place))
        print(judged(attempt, options.limit))
        KINDS[kind](Random(f"{kind} {options.seed} {number}"), Path(place))()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="in all; every kind has its share")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one input")
    parser.add_argument("--replay", type=int, help="the number of one input, of one kind, to be tried alone")
    parser.add_argument("--out", type=Path, default=OUT)
    for hidden, kind in (("--worker", str), ("--begin", int), ("--end", int), ("--log", Path)):
        parser.add_argument(hidden, type=kind, default=0 if kind is int else None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.seed, options.begin, options.end, options.limit, options.log)
        return
    if options.replay is not None:
        replay(options.kinds[0], options.replay, options)
        return
    started = time.monotonic()
    found: dict[str, Any] = {"kinds": {}, "about": _about(options)}
    for kind in options.kinds:
        row = fuzz(kind, options, max(1, options.inputs * SHARES[kind] // 100))
        found["kinds"][kind] = row
        found["seconds"] = time.monotonic() - started
        print(f"{kind}: {row['inputs']} tried, {row['refused']} refused, {row['accepted']} accepted, {row['found']} found, "
              f"{row['seconds']:.0f} s", flush=True)  # fmt: skip
        save(options.out, "fuzz", found)
        write(found, options.out)


def _about(options: argparse.Namespace) -> dict[str, Any]:
    there = [name for name in ("onnx", "torch") if find_spec(name)]
    return {
        "command": shlex.join(["python", "-m", "benchmarks.fuzz", *sys.argv[1:]]),
        "machine": describe(),
        "epinn": epinn.__version__,
        "jax": version("jax"),
        "with_": f"with {' and '.join(there)}" if there else "without onnx and torch",
        "limit": options.limit,
        "longest": LONGEST,
        "megabytes": MEGABYTES,
    }


if __name__ == "__main__":
    main()
