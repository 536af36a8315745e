"""The grammar of formulas. Python's own parser makes a tree of a text, and of that tree only what an equation needs is taken:
numbers, names, arithmetic, some functions, comparisons inside `where`, and attributes as partial derivatives. All else is
refused with its column.

Text from a stranger can therefore neither run code nor keep a machine busy: lengths, depths and exponents have limits.
"""

import ast
import keyword
import math
import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn

from ..errors import InputError, shown, unknown_name
from .expression import (
    COMPARISONS,
    FUNCTIONS,
    SYMBOLS,
    Arithmetic,
    Both,
    Call,
    Choice,
    Comparison,
    Derivative,
    Expression,
    Name,
    Negative,
    Number,
)
from .quantity import split

CONSTANTS = MappingProxyType({"pi": math.pi, "e": math.e})
LONGEST = 2000  # characters
DEEPEST = 100  # expressions inside each other; every further term of a sum is one
MOST = 1000  # expressions in all, with those that definitions stand for
HIGHEST_POWER = 64
HIGHEST_ORDER = 6  # of a derivative, those inside it included: each doubles the work, or more
SLOPES = 32  # derivatives of expressions in all: each runs what is before it again
LARGEST, SMALLEST = 1e37, 1e-37  # numbers that single precision has
WHERE = "where"
QUOTED = 80  # characters of a formula that messages show in full
MEANT = {  # what people write or paste, and what is read
    "^": "write ** for a power",
    "−": "this is no minus sign of the keyboard; write -",
    "–": "this is no minus sign of the keyboard; write -",
    "·": "write * for a product",
    "×": "write * for a product",
    "÷": "write / for a quotient",
    "'": "write u.x and u.xx for derivatives along x",
    "∂": "write u.x and u.xx for derivatives along x",
    "#": "put remarks outside the quotes",
    "[": "use round brackets",
    "{": "use round brackets",
    "%": "write / 100 for a percentage",
    "&": "write and",
    "|": "write or, and abs(...) for an absolute value",
}


@dataclass(frozen=True)
class Words:
    """What names in a formula may stand for. Without `fields`, every name that is not among the others may be one."""

    coordinates: tuple[str, ...]
    unknowns: tuple[str, ...] = ()
    definitions: Mapping[str, Expression] = field(default_factory=dict)  # constants, and expressions that have a name
    fields: tuple[str, ...] | None = None

    def known(self) -> list[str]:
        return [*self.coordinates, *self.unknowns, *self.definitions, *(self.fields or ()), *CONSTANTS]


class Parser:
    """Reads parts of one text."""

    def __init__(self, text: str, words: Words):
        self.text, self.words, self.number = text, words, 0
        if len(text) > LONGEST:
            raise InputError(f"a formula may have {LONGEST} characters, not {len(text)}; give parts of it names.")
        if "==" in text:
            self.refuse(text.index("=="), "write a single =")
        for place, letter in enumerate(text):
            if letter in MEANT:
                self.refuse(place, f"{letter!r} cannot be read: {MEANT[letter]}")
            if not (letter.isalnum() or letter in "_.+-*/()<>=, \t\n\r" or unicodedata.category(letter) in ("Mn", "Mc")):
                self.refuse(place, f"{letter!r} has no meaning in a formula")

    def refuse(self, place: int, reason: str) -> NoReturn:
        quoted = repr(self.text) if len(self.text) <= QUOTED else shown(self.text)
        raise InputError(f"column {place + 1} of {quoted}: {reason}{'' if reason.endswith('?') else '.'}")

    def read(self, begin: int, end: int) -> Expression:
        """The expression between two places of the text."""
        part = re.sub(r"\s", " ", self.text[begin:end])
        if not part.strip():
            self.refuse(min(begin, max(len(self.text) - 1, 0)), "there is nothing to read here")
        self.begin = begin + len(part) - len(part.lstrip())
        self.part = part.strip()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what Python suspects is told by what is read below
                tree = ast.parse(self.part, mode="eval").body
        except SyntaxError as error:
            self._explain(error)
        except (ValueError, MemoryError, RecursionError):
            self.refuse(self.begin, "this cannot be read")
        found = self._read(tree, DEEPEST)
        self._check(found)
        return found

    def _check(self, found: Expression) -> None:
        """What can be said of a whole expression only."""
        slopes = [one for one in found.every() if isinstance(one, Derivative) and not isinstance(one.of, Name)]
        if sum(len(one.along) for one in slopes) > SLOPES:
            self.refuse(self.begin, f"more than {SLOPES} derivatives of expressions are asked for; write some of them out")
        for one in found.every():
            if isinstance(one, Number) and one.number and not SMALLEST <= abs(one.number) <= LARGEST:
                self.refuse(self.begin, f"the number {one.number:g} has too large an exponent; choose other units")

    def _explain(self, error: SyntaxError) -> NoReturn:
        place = self.begin + max((error.offset or 1) - 1, 0)
        for word in re.finditer(r"[^\W\d]\w*", self.part):
            if keyword.iskeyword(word[0]) and word[0] not in ("and", "or"):
                self.refuse(self.begin + word.start(), f"{word[0]!r} cannot be read as a name")
        missing = re.search(r"\d[^\W\d_eE]|\)\s*[\w(]|[\w)]\s+[\w(]", self.part)
        if missing and not re.search(r"\b(and|or)\b", self.part):
            self.refuse(self.begin + missing.start() + 1, "something is missing here; is it a * for a product?")
        self.refuse(min(place, len(self.text) - 1), "this cannot be read as a formula; are all brackets closed?")

    def _place(self, node: ast.AST) -> int:
        """Where a node begins in the whole text; Python counts bytes."""
        before = self.part.encode()[: getattr(node, "col_offset", 0)]
        return self.begin + len(before.decode(errors="ignore"))

    def _count(self, node: ast.AST, by: int = 1) -> None:
        self.number += by
        if self.number > MOST:
            self.refuse(self._place(node), f"the formula has more than {MOST} parts")

    def _read(self, node: ast.expr, deeper: int) -> Expression:
        self._count(node)
        if not deeper:
            self.refuse(self._place(node), f"there are more than {DEEPEST} expressions inside each other")
        match node:
            case ast.Constant(value=complex()):
                self.refuse(self._place(node), "only real numbers can be read")
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return self._checked(node, lambda: float(number))
            case ast.Name(id=name):
                return self._named(node, name, deeper)
            case ast.UnaryOp(op=ast.UAdd(), operand=of):
                return self._read(of, deeper - 1)
            case ast.UnaryOp(op=ast.USub(), operand=of):
                read = self._read(of, deeper - 1)
                return Number(-read.number) if isinstance(read, Number) else Negative(read)
            case ast.BinOp():
                return self._arithmetic(node, deeper - 1)
            case ast.Attribute(value=of):
                return self._derivative(node, self._read(of, deeper - 1))
            case ast.Call():
                return self._call(node, deeper - 1)
            case ast.Compare() | ast.BoolOp():
                self.refuse(self._place(node), "comparisons stand in where(x < 1, ..., ...) only")
        self.refuse(self._place(node), "this has no meaning in a formula")

    def _checked(self, node: ast.AST, compute: Callable[[], float]) -> Number:
        """A number that was computed from numbers, if it is one."""
        try:
            number = compute()
        except (ArithmeticError, ValueError):
            number = None
        if not isinstance(number, float | int) or not math.isfinite(number):
            self.refuse(self._place(node), "this is not a finite number")
        return Number(float(number))

    def _named(self, node: ast.AST, name: str, deeper: int) -> Expression:
        if name in self.words.definitions:
            meant = self.words.definitions[name]
            self._count(node, sum(1 for _ in meant.every()))
            if _depth(meant) > deeper:
                self.refuse(self._place(node), f"with {name} there are more than {DEEPEST} expressions inside each other")
            return meant
        if name in (*self.words.coordinates, *self.words.unknowns, *(self.words.fields or ())):
            return Name(name)
        if name in CONSTANTS:
            return Number(CONSTANTS[name])
        if name in FUNCTIONS or name == WHERE:
            self.refuse(self._place(node), f"the function {name} needs something in brackets: {name}(...)")
        if name.startswith("_") or "__" in name:
            self.refuse(self._place(node), f"{shown(name)} is no name that can be read")
        if self.words.fields is not None:
            self._unknown(node, "name", name, self.words.known(), f"say whether {name} is an unknown, a constant or a field")
        return Name(name)

    def _unknown(self, node: ast.AST, what: str, name: str, known: Collection[str], otherwise: str) -> NoReturn:
        """Refuse a name: as a derivative in another notation, with the nearest known one, or with what to do `otherwise`."""
        of, _, letters = name.partition("_")
        if letters and of in known and set(letters) <= set("".join(self.words.coordinates)):
            self.refuse(self._place(node), f"the derivative {name} is written {of}.{letters}")
        reason = str(unknown_name(what, name, known)).rstrip(".")
        self.refuse(self._place(node), reason if reason.endswith("?") else f"there is no {what} {name!r}; {otherwise}")

    def _arithmetic(self, node: ast.BinOp, deeper: int) -> Expression:
        symbols: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
        if type(node.op) not in symbols:
            self.refuse(self._place(node), "of the arithmetic, + - * / and ** can be read")
        symbol, left, right = symbols[type(node.op)], self._read(node.left, deeper), self._read(node.right, deeper)
        if isinstance(left, Number) and isinstance(right, Number):
            return self._checked(node, lambda: SYMBOLS[symbol](left.number, right.number))
        if symbol == "**" and isinstance(right, Number) and abs(right.number) > HIGHEST_POWER:
            self.refuse(self._place(node.right), f"powers go up to {HIGHEST_POWER}")
        if symbol == "/" and right == Number(0.0):
            self.refuse(self._place(node.right), "this divides by zero")
        return Arithmetic(symbol, left, right)

    def _derivative(self, node: ast.Attribute, of: Expression) -> Expression:
        place, words, letters = self._place(node), self.words, node.attr
        if isinstance(of, Number):
            named = node.value.id if isinstance(node.value, ast.Name) else "this"
            self.refuse(place, f"{named} is a number, which has no derivatives")
        if isinstance(of, Name) and of.name in (*words.coordinates, *words.unknowns):
            self.refuse(place, f"{of.name} has no derivatives; fields have, and expressions in brackets")
        if not words.coordinates or letters.startswith("_"):
            self.refuse(place, f".{letters} is no derivative")
        shown_as = of.name if isinstance(of, Name) else "(...)"
        try:
            along = tuple(split(letters, words.coordinates, shown_as))
        except InputError as error:
            self.refuse(place, str(error).rstrip("."))
        made = Derivative(of.of, (*of.along, *along)) if isinstance(of, Derivative) else Derivative(of, along)
        if _order(made) > HIGHEST_ORDER:
            self.refuse(place, f"derivatives go up to order {HIGHEST_ORDER}, those inside each other counted together")
        return made

    def _call(self, node: ast.Call, deeper: int) -> Expression:
        place = self._place(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in FUNCTIONS:
            self.refuse(place, f"write {node.func.attr}(...) alone")
        if not isinstance(node.func, ast.Name):
            self.refuse(place, "this is followed by brackets as if it were a function; is a * missing in front of them?")
        name, number = node.func.id, len(node.args)
        if name in self.words.known():
            self.refuse(place, f"{name} is no function; write {name} alone, or {name} * (...) for a product")
        if name != WHERE and name not in FUNCTIONS:
            derivative = f"derivatives are written u.{(*self.words.coordinates, 'x')[0]}, and functions are"
            self._unknown(node, "function", name, [*FUNCTIONS, WHERE], f"{derivative} {', '.join((*FUNCTIONS, WHERE))}")
        wanted = 3 if name == WHERE else FUNCTIONS[name].arguments
        if number != wanted or node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            self.refuse(place, f"{name} takes {wanted} argument{'s' * (wanted > 1)} between its brackets")
        if name == WHERE:
            condition = self._condition(node.args[0], deeper)
            return Choice(condition, self._read(node.args[1], deeper), self._read(node.args[2], deeper))
        read = tuple(self._read(one, deeper) for one in node.args)
        if all(isinstance(one, Number) for one in read):
            return self._checked(node, lambda: FUNCTIONS[name].of_numbers(*(one.number for one in read)))  # type: ignore[attr-defined]
        return Call(name, read)

    def _condition(self, node: ast.expr, deeper: int) -> Expression:
        """What `where` decides by."""
        self._count(node)
        symbols: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
        if deeper and isinstance(node, ast.BoolOp):
            return Both(tuple(self._condition(one, deeper - 1) for one in node.values), any=isinstance(node.op, ast.Or))
        if deeper and isinstance(node, ast.Compare) and all(type(op) in symbols for op in node.ops):
            sides = [self._read(one, deeper - 1) for one in (node.left, *node.comparators)]
            steps = zip(node.ops, sides[:-1], sides[1:], strict=True)
            each = tuple(Comparison(symbols[type(op)], left, right) for op, left, right in steps)
            return each[0] if len(each) == 1 else Both(each)
        self.refuse(self._place(node), f"where decides by a comparison with one of {' '.join(COMPARISONS)}, as in x < 1")


def _order(expression: Expression) -> int:
    """How often is differentiated, along the path on which it is most."""
    own = len(expression.along) if isinstance(expression, Derivative) else 0
    return own + max(map(_order, expression.parts), default=0)


def _depth(expression: Expression) -> int:
    """How many expressions are inside each other."""
    return 1 + max(map(_depth, expression.parts), default=0)
