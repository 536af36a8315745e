"""The names of a problem that is a TOML file: coordinates, constants, unknowns, definitions and fields."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....derivatives.expression import Expression, Number
from ....derivatives.formula import check_name, read_equation, read_formula
from ....derivatives.parsing import Words
from ....errors import InputError, shown
from ....problem.domain import Box
from ....problem.field import Field
from ....problem.geometry.composed import Composed
from ....problem.geometry.mesh import Mesh
from ....problem.region import TIME, Domain
from ....problem.shorthand import Normal, Unknown
from .shapes import read_shape
from .tables import Table, as_number, at, flag, names, text, whole

SECTIONS = ("name", "domain", "unknowns", "constants", "definitions", "fields", "points", "exact")
MESH = "mesh"  # the key of a file with one
WIDEST = 10_000  # units of a layer
CONDITIONS = ("equation", "boundary", "initial", "data")


@dataclass(frozen=True)
class FieldTraits:
    """What is said of fields beyond their names."""

    positive: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()


def read_constants(content: Any, place: str) -> dict[str, Expression]:
    """Numbers by name; text may use those above it."""
    found: dict[str, Expression] = {}
    for name, value in _entries(content, place, "a constant"):
        with at(f"{place}, {name}"):
            found[name] = Number(as_number(value, found))
    return found


def read_domain(content: Any, place: str, constants: Mapping[str, Expression], folder: Path) -> Domain:
    """The box of all coordinates, a shape, or a mesh in a file of that folder."""
    if isinstance(content, Mapping) and any(isinstance(content.get(key), str) for key in ("shape", MESH)):
        return _read_shape(Table(content, place, constants), folder)
    ends: dict[str, list[float]] = {}
    for name, value in _entries(content, place, "a coordinate"):
        with at(f"{place}, {name}"):
            if name in (*SECTIONS, *CONDITIONS) and not isinstance(value, list):
                raise InputError(f"this belongs to the file, not to the domain: move it above [domain], or write [[{name}]].")
            ends[name] = _interval(name, value, constants)
    with at(place):
        return Box(**ends)


def _read_shape(table: Table, folder: Path) -> Domain:
    """A shape or a mesh, and time beside it."""
    if MESH in table and "shape" in table:
        table.fail("a domain is a shape or a mesh; leave out one of them")
    if MESH in table:
        scale, name = table.take("scale", table.number, 1.0), table.take("name", text, "")
        shape: Composed = table.take(MESH, lambda value: Mesh(folder / text(value), scale=scale, name=name))
    else:
        shape = table.take("shape", lambda value: read_shape(value, table.constants))
    time = table.take(TIME, lambda value: _interval(TIME, value, table.constants))
    for name in shape.coordinates:
        if name in table:
            table.fail(f"the shape says where {name} ends; leave out {name} = ..., or the shape")
        with at(table.place):
            check_name(name, "a coordinate")
    table.end()
    with at(f"{table.place}, {TIME}"):
        return shape if time is None else shape.during(**{TIME: time})


def _interval(name: str, value: Any, constants: Mapping[str, Expression]) -> list[float]:
    if not isinstance(value, list):
        raise InputError(f"the interval of {name} is written as [low, high], not {shown(value)}.")
    return [as_number(one, constants) for one in value]


def read_unknowns(content: Any, place: str, constants: Mapping[str, Expression]) -> dict[str, Unknown]:
    """Unknown parameters: a number to start from, or a table."""
    found = {}
    for name, value in _entries(content, place, "an unknown"):
        short = isinstance(value, str | int | float)
        table = Table({"guess": value} if short else value, f"{place}, {name}", constants)
        prior = table.take("prior", lambda given: _prior(given, constants))
        guess = table.take("guess", table.number, None if prior is None else prior.mean)
        if guess is None:
            table.fail("a guess is missing, where the search starts, as in guess = 1.0")
        positive, exact = table.take("positive", flag, False), table.take("exact", table.number)
        table.end()
        with at(table.place):
            found[name] = Unknown(guess, prior, positive, exact)
    return found


def _prior(value: Any, constants: Mapping[str, Expression]) -> Normal:
    """`"Normal(mean, sd)"`, or a table of the two."""
    if isinstance(value, Mapping) and set(value) == {"mean", "sd"}:
        return Normal(as_number(value["mean"], constants), as_number(value["sd"], constants))
    inside = value.strip() if isinstance(value, str) else ""
    parts = inside[len("Normal(") : -1].split(",")
    if not (inside.startswith("Normal(") and inside.endswith(")") and len(parts) == 2):
        raise InputError(f'a prior is written as "Normal(mean, sd)", not {shown(value)}.')
    return Normal(as_number(parts[0], constants), as_number(parts[1], constants))


def read_definitions(content: Any, place: str, words: Words) -> Words:
    """The vocabulary with expressions that have a name; each may use those above it."""
    for name, value in _entries(content, place, "a definition"):
        with at(f"{place}, {name}"):
            meant = read_formula(text(value), words).expression
        words = replace(words, definitions={**words.definitions, name: meant})
    return words


def recognised_fields(equations: Iterable[tuple[str, str]], words: Words, file: str) -> list[str]:
    """The names that equations differentiate, and that are nothing else."""
    found: list[str] = []
    for place, equation in equations:
        with at(place):
            found += read_equation(equation, words).expression.differentiated()
    if not found:
        raise InputError(
            f"{file}: no equation has a derivative; du/dx is written u.x, and a field without derivatives is named in [fields]."
        )
    return list(dict.fromkeys(found))


def read_fields(content: Any, place: str, coordinates: Sequence[str]) -> tuple[list[str], FieldTraits]:
    """Fields that are named: in a list, or each with what is said of it."""
    listed = isinstance(content, list) and all(isinstance(one, str) for one in content)
    described = {name: {} for name in content} if listed else content
    fields: list[str] = []
    traits: dict[str, list[str]] = {"positive": [], "constant": []}
    for name, value in _entries(described, place, "a field"):
        table = Table(value, f"{place}, {name}")
        for trait, chosen in traits.items():
            if table.take(trait, flag, False):
                chosen.append(name)
        own = {
            "of": table.take("of", names),
            "hidden": table.take("hidden", _widths),
            "activation": table.take("activation", text),
        }
        table.end()
        with at(table.place):
            made = Field(name, **{key: one for key, one in own.items() if one is not None})
            made.axes(coordinates)
        fields.append(made if any(one is not None for one in own.values()) else name)
    return fields, FieldTraits(tuple(traits["positive"]), tuple(traits["constant"]))


def _widths(value: Any) -> list[int]:
    return [whole(one, WIDEST) for one in (value if isinstance(value, list) else [value])]


def _entries(content: Any, place: str, what: str) -> Iterator[tuple[str, Any]]:
    """Names and values of a table, none where it is missing; `what` the names stand for."""
    if not isinstance(content, Mapping | None):
        raise InputError(f"{place}: this must be a table of names and values, not {shown(content)}.")
    for name, value in (content or {}).items():
        with at(place):
            yield check_name(name, what), value
