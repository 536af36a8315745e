"""Tables of equations, boundary and initial values as conditions of the library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ....derivatives.expression import Expression, Number
from ....derivatives.formula import Formula, read_equation, read_formula
from ....derivatives.parsing import Words
from ....errors import InputError, shown, unknown_name
from ....problem.boundary import Boundary, Dirichlet, Neumann, Periodic, Robin
from ....problem.condition import Condition
from ....problem.conditions import Equation, Initial
from ....problem.region import ENDS
from .tables import Table, flag, names, order, text


@dataclass(frozen=True)
class Reader:
    """Makes conditions of tables, with the names and constants of one file."""

    words: Words
    constants: Mapping[str, Expression]

    def table(self, content: Any, place: str, short: str) -> Table:
        """A table; a text or a number alone stands for the key that is `short` for it."""
        return Table({short: content} if isinstance(content, str | int | float) else content, place, self.constants)

    def equation(self, content: Any, place: str) -> Condition:
        table = self.table(content, place, "expression")
        operator = table.need("expression", self.operator, '"u.t = nu * u.xx"')
        made = Equation(operator, **self.options(table))
        table.end()
        return made

    def initial(self, content: Any, place: str) -> Condition:
        table = self.table(content, place, "value")
        target, of_order = table.need("value", self.target, '"sin(pi * x)"'), table.take("order", order, 0)
        made = Initial(
            target, table.take("field", self.field), of_order, hard=table.take("hard", flag, True), **self.options(table)
        )
        table.end()
        return made

    def boundary(self, content: Any, place: str) -> Condition:
        table = self.table(content, place, "value")
        kind = table.take("kind", text, "expression" if "expression" in table else "dirichlet").lower()
        if kind not in KINDS:
            raise InputError(f"{place}: {unknown_name('kind of boundary condition', kind, KINDS)}")
        made = KINDS[kind](self, table)
        table.place += f" ({kind})"
        table.end()
        return made

    def options(self, table: Table) -> dict[str, Any]:
        """What every condition may have."""
        found = {
            "sigma": table.take("sigma", lambda value: "unknown" if value == "unknown" else table.number(value)),
            "tolerance": table.take("tolerance", table.number),
            "weight": table.take("weight", table.number),
            "name": table.take("name", text, ""),
        }
        return {key: value for key, value in found.items() if value is not None}

    def operator(self, value: Any) -> Formula:
        """An equation with a field in it."""
        return self._with_field(read_equation(text(value), self.words))

    def measured(self, value: Any) -> Formula:
        """An expression with a field in it."""
        return self._with_field(read_formula(text(value), self.words))

    def _with_field(self, formula: Formula) -> Formula:
        if not set(formula.expression.names()) & set(self.words.fields or ()):
            raise InputError(
                f"there is no field in {shown(formula.text)}; the fields are {', '.join(self.words.fields or ())}."
            )
        return formula

    def target(self, value: Any) -> float | Formula:
        """A value that is known beforehand: a number, or a function of the coordinates."""
        if not isinstance(value, str):
            return Table({}, "", self.constants).number(value)
        formula = read_formula(value, self.words)
        for name in formula.expression.names():
            if name not in self.words.coordinates:
                raise InputError(
                    f"{name} is not known beforehand, so it cannot be in a value; on a boundary write an expression, as in "
                    f'kind = "expression" and expression = "{(self.words.fields or ("u",))[0]} - {name}".'
                )
        return formula.expression.number if isinstance(formula.expression, Number) else formula

    def formula(self, value: Any) -> Formula:
        """The same, as a function also if it is a number."""
        found = self.target(value)
        return found if isinstance(found, Formula) else Formula(f"{found:g}", Number(found))

    def field(self, value: Any) -> str:
        name, fields = text(value), self.words.fields or ()
        if name not in fields:
            raise unknown_name("field", name, fields)
        return name

    def on(self, table: Table) -> str | None:
        """Faces, with constants in their places as numbers: "x = L"."""

        def place(end: str) -> str:
            return end if end in ENDS else f"{table.number(end):.12g}"

        def read(value: Any) -> str:
            parts = [part.partition("=") for one in names(value) for part in one.split(",")]
            return ", ".join(
                f"{name.strip()}={place(end.strip())}" if sign and end.strip() else name.strip() for name, sign, end in parts
            )

        found: str | None = table.take("on", read)
        return found


def _on_faces(reader: Reader, table: Table) -> dict[str, Any]:
    """What conditions on faces share."""
    target = table.need("value", reader.target, '"sin(pi * y)"')
    return {"target": target, "on": reader.on(table), "field": table.take("field", reader.field), **reader.options(table)}


def _dirichlet(reader: Reader, table: Table) -> Condition:
    return Dirichlet(hard=table.take("hard", flag, True), **_on_faces(reader, table))


def _neumann(reader: Reader, table: Table) -> Condition:
    return Neumann(**_on_faces(reader, table))


def _robin(reader: Reader, table: Table) -> Condition:
    factors = [table.need(name, table.number, "1.0") for name in ("a", "b")]
    return Robin(factors[0], factors[1], **_on_faces(reader, table))


def _periodic(reader: Reader, table: Table) -> Condition:
    along = table.need("along", text, '"x"')
    return Periodic(along, table.take("order", order, 1), table.take("field", reader.field), **reader.options(table))


def _expression(reader: Reader, table: Table) -> Condition:
    operator = table.need("expression", reader.operator, '"w.xx = 0"')
    return Boundary(operator, on=reader.on(table), **reader.options(table))


KINDS: dict[str, Callable[[Reader, Table], Condition]] = {
    "dirichlet": _dirichlet,
    "neumann": _neumann,
    "robin": _robin,
    "periodic": _periodic,
    "expression": _expression,
}
