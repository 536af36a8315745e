"""Command lines, as far as the moment at which the work would begin."""

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from epinn.app.commands import COMMANDS, main
from epinn.errors import InputError

from .. import mutate
from .problems import EXAMPLES

LINES = (
    ["run", "poisson1d", "--noise", "0.1", "--seeds", "2", "--set", "base.epochs=5", "--out", "runs/a"],
    ["run", "problem.toml", "--method", "epinet,laplace", "--seed", "3", "--json"],
    ["compare", "burgers", "--methods", "laplace", "--preset", "paper"],
    ["calibrate", "poisson1d", "--noise", "0.1", "--sigma", "equation=0.1", "--redraws", "3"],
    ["attach", "problem.toml", "--problem", "problem.toml"],
    ["check", "problem.toml", "--picture", "a.png"],
    ["reproduce", "poisson1d", "--seeds", "2"],
    ["resume", "runs/a"],
    ["report", "runs/a"],
    ["new", "mine.toml"],
    ["settings"],
    ["run", "--from", "runs/a"],
)
WORDS = (
    *(command.__name__ for command in COMMANDS),
    *("--seed", "--seeds", "--noise", "--out", "--set", "--sigma", "--method", "--methods", "--json", "--preset", "--from"),
    *(
        "",
        " ",
        "0",
        "-1",
        "1e400",
        "nan",
        "9" * 30,
        "\0",
        "é",
        "..",
        "/",
        "/dev/null",
        "poisson1d",
        "problem.toml",
        "x.py:y",
        ":",
    ),
    *("base.epochs=", "=", "base.hidden=0", "--version", "--help", "--", "-", "a,b", ",", "problem.toml:x", "runs"),
)

WORK = (
    *(("experiment", "execute"), ("calibrate", "repeat"), ("reproduce", "complete")),
    *(("resume", name) for name in ("execute", "repeat", "complete")),
)


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    line = list(random.choice(LINES))
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(line) + 1)
        word = random.choice(WORDS)
        match random.randrange(4):
            case 0:
                line[at : at + 1] = []
            case 1:
                line[at:at] = [word]
            case 2 if at < len(line):
                line[at] = mutate.text(line[at], random, WORDS)
            case _:
                line[at : at + 1] = [word]
    (place / "problem.toml").write_text(EXAMPLES[1])
    shutil.rmtree(place / "runs", ignore_errors=True)
    return lambda: _called(line, place)


@contextlib.contextmanager
def _without_work() -> Iterator[None]:
    """Commands do nothing where they would begin to compute."""
    with contextlib.ExitStack() as stack:
        for module, name in WORK:
            stack.enter_context(mock.patch.object(sys.modules[f"epinn.app.commands.{module}"], name))
        yield


def _called(line: list[str], place: Path) -> None:
    """Call the command; its one line becomes an error again, and anything else that it says in place of one is none."""
    said, shown = io.StringIO(), io.StringIO()
    before = os.getcwd()
    os.chdir(place)
    try:
        with (
            mock.patch.object(sys, "argv", ["epinn", *line]),
            _without_work(),
            contextlib.redirect_stdout(shown),
            contextlib.redirect_stderr(said),
        ):
            main()
    except SystemExit as end:
        if end.code in (1, 2) and not shown.getvalue().lstrip().startswith(
            "Usage"
        ):  # a command without arguments shows its help
            lines = [one for one in said.getvalue().splitlines() if not one.startswith("note: ")]
            raise InputError("\n".join(lines)) from None
    finally:
        os.chdir(before)
