"""What counts as an answer: accepted, or refused with one line. All else is a finding."""

import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from epinn.errors import EpinnError

LONGEST = 1000  # characters of a message in one line
MEGABYTES = 700  # that one input may add to the most memory that was ever used


class TooLong(BaseException):
    """An input takes longer than it may. No `Exception`, so that nothing takes it for a damaged file."""


@dataclass(frozen=True)
class Verdict:
    """`kind` is refused, accepted or found; a finding has a `note`, equal for equal causes, and what was said."""

    kind: str
    note: str = ""
    said: str = ""


def judged(attempt: Callable[[], Any], seconds: float) -> Verdict:
    """Try an input."""
    before, started = _peak(), time.monotonic()
    signal.signal(signal.SIGALRM, _interrupt)
    unseen: list[str] = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda said: unseen.append(f"{said.exc_type.__name__} in {said.object}")
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        verdict = _tried(attempt)
    except TooLong as error:
        verdict = Verdict("found", f"no answer after {seconds:g} s in {_place(error)}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
    if unseen:
        return Verdict("found", f"a traceback of another package's own: {unseen[0].partition(' at 0x')[0]}", verdict.said)
    if time.monotonic() - started > 2 * seconds:
        return Verdict("found", f"an answer only after {time.monotonic() - started:.0f} s")
    if _peak() - before > MEGABYTES:
        return Verdict("found", f"{MEGABYTES} MB and more for one input", verdict.said)
    return verdict


def _tried(attempt: Callable[[], Any]) -> Verdict:
    try:
        attempt()
    except EpinnError as error:
        said = str(error)
        if "\n" in said or not said.strip():
            return Verdict("found", f"a message of {len(said.splitlines())} lines from {_place(error)}", said)
        if len(said) > LONGEST:
            return Verdict("found", f"a message of more than {LONGEST} characters from {_place(error)}", said)
        return Verdict("refused", said=said)
    except Exception as error:
        return Verdict("found", f"{type(error).__name__} in {_place(error)}", str(error))
    return Verdict("accepted")


def _place(error: BaseException) -> str:
    """Where it happened: the last line of epinn's own."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/epinn/" in frame.filename]
    return "nowhere in epinn" if not frames else f"{frames[-1].filename.rpartition('/epinn/')[2]}:{frames[-1].lineno}"


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise TooLong


def _peak() -> float:
    """The most memory that this process ever had, in megabytes."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
