"""Settings by name, as `--set` takes them, and numbers by name."""

import functools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from epinn.app.plan.presets import PRESETS, preset
from epinn.app.plan.settings import Settings, defaults, numbers, parse
from epinn.app.plan.vocabulary import for_command_line

from .. import mutate

NAMES = tuple(defaults().flat())
TEXTS = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "5",
        "3.5",
        "1e3",
        "1e30",
        "1e400",
        "-1e400",
        "nan",
        "inf",
        "-inf",
        "none",
        "None",
        "true",
        "no",
    ),
    *(
        "8,8",
        "8x8",
        "(8, 8)",
        "8,,8",
        "0,8",
        "-8",
        "8.5,8",
        "1e9,1e9",
        "nan,nan",
        "1e400,1",
        "x",
        "x,x",
        "tanh",
        "grid",
        "adam",
    ),
    *("9" * 400, "1" * 5000, "\0", "é", "１２", "٣", "1_000", "0x10", "=", "a=b", "\n", "{}", "[]", "paper", "all", "trained"),
)


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    chosen = []
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        text = f"{random.choice(NAMES)}={random.choice(TEXTS)}"
        chosen.append(mutate.text(text, random, TEXTS) if random.random() < 0.3 else text)
    name = random.choice(PRESETS)
    if random.random() < 0.05:
        return lambda: numbers(chosen, "--sigma", "equation=0.1")
    if random.random() < 0.1:
        return lambda: for_command_line(chosen[0])
    return lambda: _preset(name).changed(parse(chosen))


@functools.cache
def _preset(name: str) -> Settings:
    return preset(name, "burgers")
