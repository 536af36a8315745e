"""The kinds of input. Each makes one from a random generator, and says how it is given to epinn."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from . import arrays, commands, folders, formulas, networks, problems, settings, tables

Attempt = Callable[[], Any]
KINDS: dict[str, Callable[[Random, Path], Attempt]] = {
    "equations": formulas.attempt,
    "settings": settings.attempt,
    "tables of measurements": tables.attempt,
    "arrays": arrays.attempt,
    "run folders": folders.attempt,
    "problem files": problems.attempt,
    "networks": networks.attempt,
    "command lines": commands.attempt,
}
SHARES = {  # of the inputs of one study, of a hundred: those that take milliseconds have most
    "equations": 60,
    "settings": 25,
    "tables of measurements": 5,
    "arrays": 4,
    "run folders": 2,
    "problem files": 2,
    "networks": 1,
    "command lines": 1,
}
