"""Equations as text."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from epinn.derivatives.expression import FUNCTIONS, Number
from epinn.derivatives.formula import read_equation, read_formula, read_number
from epinn.derivatives.parsing import Words

from .. import mutate

EXAMPLES = (
    "u.t + u * u.x = nu * u.xx",
    "u.xx + u.yy = -2 * pi**2 * sin(pi * x) * sin(pi * y)",
    "(K * h.x).x - where(x < 0.5 and t >= 1, exp(-t), 0.0)",
    "rho * u.tt = E * u.xxxx",
    "1e-3 * u.xx - u**3 + tanh(5 * x)",
    "2 * pi / 3",
)
TOKENS = (
    *(
        "u",
        "x",
        "t",
        "nu",
        "K",
        "u.x",
        "u.xxt",
        ".x",
        "(",
        ")",
        "+",
        "-",
        "*",
        "/",
        "**",
        "=",
        "==",
        "<",
        ">=",
        ",",
        "and",
        "or",
    ),
    *("1", "0", "1e37", "1e400", "9" * 5000, "1j", "None", "True", "lambda", "import", "__class__", "x[0]", "f'{x}'", "'", '"'),
    *("not", "if", "else", ":=", "**" * 20, "((" * 60, "-" * 200, "u" + ".x" * 50, "where", "pi", "e", *FUNCTIONS),
)
WORDS = (
    Words(("x", "y", "t"), ("nu",), {"E": Number(2.0)}, ("u", "h")),
    Words(("x", "t")),
    Words((), fields=()),
)


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    if random.random() < 0.5:
        text = mutate.text(random.choice(EXAMPLES), random, TOKENS)
    else:
        text = random.choice(("", " ")).join(random.choice(TOKENS) for _ in range(random.choice((1, 2, 4, 8, 16, 200))))
    words, read = random.choice(WORDS), random.choice((read_equation, read_formula))
    return lambda: read_number(text, {}) if words.fields == () else read(text, words)
