"""The real command in a process of its own, with networks so small that it takes seconds."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

COMMAND = (sys.executable, "-m", "epinn")
ENVIRONMENT = os.environ | {
    "XDG_CACHE_HOME": str(Path.home() / ".cache" / "epinn-tests"),  # compiled programs, beside those of conftest.py
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",  # what runs for milliseconds should not compile for seconds
    "COLUMNS": "160",
    "TERM": "xterm",
}
PATIENCE = 240  # seconds; only a hang takes this long
SETTINGS = (
    "base.hidden=8,8",
    "base.epochs=20",
    "base.newton=0",
    "base.restarts=0",
    "epinet.objective=paper",
    "epinet.hidden=8",
    "epinet.epochs=10",
    "hmc.leapfrog=2",
    "hmc.burn_in=2",
    "hmc.samples=4",
    "hmc.start=trained",
    "hmc.precondition=false",
    "predict.draws=50",
)
TINY = [part for setting in SETTINGS for part in ("--set", setting)]
POISSON = ("poisson1d", "--noise", "0.1", *TINY)


def start(*arguments, cwd, **streams):
    return subprocess.Popen([*COMMAND, *map(str, arguments)], cwd=cwd, env=ENVIRONMENT, **streams)


def run(*arguments, cwd):
    process = start(*arguments, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        process.out, process.err = process.communicate(timeout=PATIENCE)
    return process


def good(*arguments, cwd):
    """A command that must succeed, without a word that sounds like trouble."""
    process = run(*arguments, cwd=cwd)
    assert process.returncode == 0, process.err
    assert not re.search("warning|error|traceback|deprecat", process.err, re.IGNORECASE), process.err
    return process


def strict(text):
    """JSON as its standard has it: without NaN."""

    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def read(path):
    return strict(path.read_text())


def records_in(folder):
    return read(folder / "metrics.json")["records"]


def without_times(records):
    return [{name: value for name, value in record.items() if not name.startswith("time")} for record in records]


def row(table, method):
    """The cells of a method's row, and of the row below it."""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in table.splitlines() if line.startswith("│")]
    (number,) = [number for number, cells in enumerate(lines) if cells[0] == method]
    return lines[number], lines[number + 1] if number + 1 < len(lines) else []


def files(folder):
    """All files below a folder; what Python compiles for itself does not count."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
