"""The kinds of input. Each makes one from a random generator, and says how it is given to epinn."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from . import arrays, commands, folders, formulas, networks, problems, settings, tables

Attempt = Callable[[], Any]
KINDS: dict[str, Callable[[Random, Path], Attempt]] = {
    "equations": formulas.attempt,
    "problem files": problems.attempt,
    "settings": settings.attempt,
    "arrays": arrays.attempt,
    "tables of measurements": tables.attempt,
    "networks": networks.attempt,
    "run folders": folders.attempt,
    "command lines": commands.attempt,
}
SHARES = {  # of the inputs of one study: as many as a kind gets of a hundred
    "equations": 30,
    "problem files": 12,
    "settings": 20,
    "arrays": 15,
    "tables of measurements": 10,
    "networks": 5,
    "run folders": 6,
    "command lines": 2,
}
