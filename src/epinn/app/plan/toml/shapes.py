"""Shapes and solids as text, `"Rectangle(x=(0, 2), y=(0, 1)) - Disc(x=1, y=0.5, radius=0.2, name='hole')"`.

Python's own parser makes a tree of it, and of that tree only this is taken: the figures by their names, numbers and texts in
their brackets, and `|`, `-` and `&` between them. Nothing is executed.
"""

import ast
import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

from ....derivatives.expression import Expression
from ....derivatives.formula import read_number
from ....errors import InputError, shown, unknown_name
from ....problem.geometry.composed import Composed
from ....problem.geometry.shape import Disc, Ellipse, Polygon, Rectangle
from ....problem.geometry.solid import Cuboid, Cylinder, Extrusion, Sphere

FIGURES: Mapping[str, Callable[..., Composed]] = MappingProxyType(
    {made.__name__: made for made in (Rectangle, Disc, Ellipse, Polygon, Cuboid, Sphere, Cylinder, Extrusion)}
)
OPERATIONS = MappingProxyType({ast.BitOr: operator.or_, ast.Sub: operator.sub, ast.BitAnd: operator.and_})
LONGEST = 4000  # characters
MOST = 32  # figures, each of which is compared with all others
EXAMPLE = "Rectangle(x=(0, 2), y=(0, 1)) - Disc(x=1, y=0.5, radius=0.2, name='hole')"


def read_shape(text: str, constants: Mapping[str, Expression]) -> Composed:
    """The shape or the solid that a text says; numbers may be formulas of constants."""
    if len(text) > LONGEST:
        raise InputError(f"a shape may have {LONGEST} characters, not {len(text)}; a mesh is a file of its own.")
    line = " ".join(text.split())
    try:
        tree = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InputError(f"{shown(line)} cannot be read as a shape; it is written as in {EXAMPLE}.") from None
    if sum(isinstance(node, ast.Call) for node in ast.walk(tree)) > MOST:
        raise InputError(f"a shape may have {MOST} figures; more of them are better a mesh, in a file of its own.")
    return _Reader(line, constants).shape(tree)


@dataclass(frozen=True)
class _Reader:
    line: str
    constants: Mapping[str, Expression]

    def refuse(self, node: ast.AST, reason: str) -> NoReturn:
        place = len(self.line.encode()[: getattr(node, "col_offset", 0)].decode(errors="ignore"))
        raise InputError(f"column {place + 1} of {shown(self.line)}: {reason}{'' if reason.endswith('?') else '.'}")

    def shape(self, node: ast.AST) -> Composed:
        match node:
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
                made: Composed = OPERATIONS[type(op)](self.shape(left), self.shape(right))
                return made
            case ast.Call(func=ast.Name(id=name), args=places, keywords=options):
                if name not in FIGURES:
                    self.refuse(node, str(unknown_name("figure", name, FIGURES)).rstrip("."))
                read = self.shape if name == Extrusion.__name__ else self.value
                given = [read(one) for one in places], {self.key(one): self.value(one.value) for one in options}
                return self.made(node, name, *given)
        self.refuse(node, f"this is no figure, and nothing that |, - and & can put together, as in {EXAMPLE}")

    def made(self, node: ast.AST, name: str, places: list[Any], options: dict[str, Any]) -> Composed:
        try:
            inspect.signature(FIGURES[name]).bind(*places, **options)
        except TypeError as error:
            self.refuse(node, f"{name}: {error}")
        return FIGURES[name](*places, **options)

    def key(self, option: ast.keyword) -> str:
        return option.arg or self.refuse(option.value, "** cannot be read")

    def value(self, node: ast.expr) -> Any:
        """What stands in the brackets of a figure: a text, a number or a formula, or several."""
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return [self.value(one) for one in parts]
        return read_number(ast.get_source_segment(self.line, node) or "", self.constants)
