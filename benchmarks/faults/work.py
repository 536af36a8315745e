"""The real command in processes of its own, and the work that is disturbed: a training, a sampling, a study."""

import functools
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

COMMAND = (sys.executable, "-m", "epinn")
LONGEST = 1800  # seconds; only a hang takes this long
SMALL = (
    "base.hidden=8,8",
    "base.newton=0",
    "base.restarts=0",
    "predict.draws=50",
    "laplace.samples=20",
    "compute.checkpoint=0.2",
)
OSCILLATOR = """
equation = "u.tt = -u"
initial = [{ value = 1 }, { value = 0, order = 1 }]
[domain]
t = [0, 25]
"""
CALLED_ANEW = """
import os, errno, stat, sys
left, fsync = int(sys.argv.pop(1)), os.fsync
def filling(handle):
    global left
    if not stat.S_ISDIR(os.fstat(handle).st_mode):
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    fsync(handle)
os.fsync = filling
from epinn.app.commands import main
main()
"""  # the command on a disk that is full after so many files


@dataclass(frozen=True)
class Work:
    """A command without its folder; `length` settings say how long it takes."""

    name: str
    arguments: tuple[str, ...]

    def command(self, folder: Path, full_after: int | None = None) -> list[str]:
        begin = COMMAND if full_after is None else (sys.executable, "-c", CALLED_ANEW, str(full_after))
        return [*begin, *(one.replace("{oscillator}", str(_oscillator())) for one in self.arguments), "--out", str(folder)]


@functools.cache
def _oscillator() -> Path:
    """A problem over a long time, which is solved in windows."""
    path = Path(tempfile.mkdtemp(prefix="epinn-faults-")) / "oscillator.toml"
    path.write_text(OSCILLATOR)
    return path


def works(epochs: int, samples: int, redraws: int) -> list[Work]:
    def settings(*more: str) -> tuple[str, ...]:
        return tuple(part for setting in (*SMALL, *more) for part in ("--set", setting))

    problem = ("poisson1d", "--noise", "0.1")
    steps = ("base.epochs=200", "base.newton=200", "compute.checkpoint=0")
    chain = (f"hmc.samples={samples}", "hmc.burn_in=100", "hmc.start=trained", "hmc.precondition=false")
    short = epochs // 20
    return [
        Work("training", ("run", *problem, "--method", "laplace", *settings(f"base.epochs={epochs}"))),
        Work("gauss-newton", ("run", *problem, "--method", "laplace", *settings(*steps))),
        Work("ensemble", ("run", *problem, "--method", "ensemble", *settings("ensemble.members=4", *steps))),
        Work("windows", ("run", "{oscillator}", "--method", "laplace", *settings(*steps))),
        Work("sampling", ("run", *problem, "--method", "hmc", *settings(f"base.epochs={short}", *chain))),
        Work(
            "study",
            (
                "calibrate",
                *problem,
                "--method",
                "laplace,dropout",
                "--redraws",
                str(redraws),
                *settings(f"base.epochs={epochs}"),
            ),
        ),
    ]


def environment(cache: Path) -> dict[str, str]:
    return os.environ | {"XDG_CACHE_HOME": str(cache), "TERM": "dumb", "COLUMNS": "160"}


def finish(command: list[str], cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(command, env=environment(cache), capture_output=True, text=True, timeout=LONGEST, check=False)


def resume(folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    return finish([*COMMAND, "resume", str(folder)], cache)


def killed(command: list[str], folder: Path, cache: Path, seconds: float) -> bool:
    """Start a command and kill it so many seconds after its folder is there; whether it was still at work."""
    with subprocess.Popen(command, env=environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(folder / "run.json", process)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)


def timed(work: Work, folder: Path, cache: Path) -> float:
    """Run it to its end; the seconds since its folder was there."""
    with subprocess.Popen(work.command(folder), env=environment(cache), stdout=subprocess.DEVNULL) as process:
        wait_for(folder / "run.json", process)
        started = time.monotonic()
        if process.wait(LONGEST) != 0:
            raise RuntimeError(f"{work.name} does not even work undisturbed")
    return time.monotonic() - started


def flipped(content: bytes, generator: np.random.Generator) -> bytes:
    """The content with one random bit of one random byte changed."""
    place = int(generator.integers(len(content)))
    return content[:place] + bytes([content[place] ^ (1 << int(generator.integers(8)))]) + content[place + 1 :]
