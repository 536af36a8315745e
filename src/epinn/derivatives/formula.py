"""Equations as text, `"u.t + u * u.x = nu * u.xx"`, as operators: read (`parsing.py`), never executed."""

import inspect
import keyword
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, shown
from .expression import FUNCTIONS, Arithmetic, Expression, Number
from .parsing import CONSTANTS, WHERE, Parser, Words

SIGN = r"(?<![<>=!])=(?!=)"  # the = of an equation, which is no part of a comparison


@dataclass(frozen=True)
class Formula:
    """A formula as an operator: called with what its names stand for. Two of the same text and constants are equal."""

    text: str
    expression: Expression

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature([inspect.Parameter(name, kind) for name in self.expression.names()])

    def __call__(self, **known: Any) -> Any:
        return self.expression.value(known)


@dataclass(frozen=True)
class Formulas:
    """Several formulas side by side, one for each field say."""

    formulas: tuple[Formula, ...]

    @property
    def __signature__(self) -> inspect.Signature:
        every = [own for formula in self.formulas for own in formula.__signature__.parameters.values()]
        return inspect.Signature(list({parameter.name: parameter for parameter in every}.values()))

    def __call__(self, **known: Any) -> list[Any]:
        return [formula(**known) for formula in self.formulas]


def read_formula(text: str, words: Words) -> Formula:
    """An expression: `"sin(pi * x)"`."""
    parser = Parser(text, words)
    sign = re.search(SIGN, text)
    if sign:
        parser.refuse(sign.start(), "there is no = in a value")
    return Formula(text.strip(), parser.read(0, len(text)))


def read_equation(text: str, words: Words) -> Formula:
    """An equation as what must be zero: both sides, `"u.t = nu * u.xx"`, or one, `"u.t - nu * u.xx"`."""
    reader = Parser(text, words)
    signs = [found.start() for found in re.finditer(SIGN, text)]
    if not signs:
        return Formula(text.strip(), reader.read(0, len(text)))
    if len(signs) > 1:
        reader.refuse(signs[1], "there are several = signs; an equation has one")
    left, right = reader.read(0, signs[0]), reader.read(signs[0] + 1, len(text))
    return Formula(text.strip(), left if right == Number(0.0) else Arithmetic("-", left, right))


def read_number(text: str, constants: Mapping[str, Expression]) -> float:
    """A number, perhaps as an expression of constants: `"2 * pi"`."""
    read = Parser(text, Words((), definitions=constants, fields=()))
    found = read.read(0, len(text))
    if not isinstance(found, Number):
        read.refuse(0, "this is not a number")
    return found.number


def check_name(name: str, what: str) -> str:
    """A name that can stand in a formula; `what` says what for."""
    name = unicodedata.normalize("NFKC", name)  # as the parser has it
    if keyword.iskeyword(name):
        near = "lam" if name == "lambda" else name.capitalize()
        raise InputError(f"{what} cannot be called {name!r}, which is a word of its own in formulas; take {near!r}, say.")
    if not name.isidentifier() or name.startswith("_") or name.endswith("_") or "__" in name:
        raise InputError(f"{what} cannot be called {shown(name)}; names are letters and digits, with single _ between them.")
    if name in CONSTANTS or name in FUNCTIONS or name == WHERE:
        raise InputError(f"{what} cannot be called {name!r}, which has a meaning in formulas already; choose another name.")
    return name
