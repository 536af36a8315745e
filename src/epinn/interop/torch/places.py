"""Where in a user's own files something stands: what a message must name to be of use."""

import re
import traceback
from pathlib import Path

INSTALLED = ("site-packages", "dist-packages")


def place_in(trace: str | None) -> str:
    """`model.py:12` from the text of a stack trace: the innermost line that is the user's own, or nothing."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', trace or "")
    return _innermost(frames)


def place_of_failure(error: BaseException) -> str:
    """` (model.py:12)` for the line that raised an error, or nothing where it is none of the user's."""
    frames = [(frame.filename, str(frame.lineno)) for frame in traceback.extract_tb(error.__traceback__)]
    place = _innermost(frames)
    return f" ({place})" if place else ""


def _innermost(frames: list[tuple[str, str]]) -> str:
    here = str(Path(__file__).parents[1])
    for file, line in reversed(frames):
        if Path(file).is_absolute() and not file.startswith(here) and not any(part in Path(file).parts for part in INSTALLED):
            return f"{Path(file).name}:{line}"
    return ""
