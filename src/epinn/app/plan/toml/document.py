"""A problem as a TOML file: the whole file, from its text to an `epinn.Problem`."""

import hashlib
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....derivatives.formula import Formulas
from ....derivatives.parsing import Words
from ....errors import EpinnWarning, InputError, unknown_name
from ....problem.condition import Condition
from ....problem.conditions import Constant
from ....problem.context import Points
from ....problem.problem import Problem, as_key
from .conditions import Reader
from .measurements import read_data
from .tables import Table, at, tables, text, whole
from .vocabulary import (
    CONDITIONS,
    MESH,
    SECTIONS,
    FieldTraits,
    read_constants,
    read_definitions,
    read_domain,
    read_fields,
    read_unknowns,
    recognised_fields,
)

EXAMPLE = '"u.t = nu * u.xx"'
ELSEWHERE = ("method", "methods", "settings", "set", "base", "preset", "seed", "seeds", "noise")  # options of the command line
LARGEST = 2**20  # bytes of a file; measurements have files of their own


@dataclass(frozen=True)
class Document:
    """A problem, the digest of everything it was read from, and notes for whoever uses it."""

    problem: Problem
    fingerprint: str
    notes: tuple[str, ...]


def read_document(path: Path) -> Document:
    """The problem in a file, checked: a mistake is told with its table."""
    content = _load(path)
    with at(str(path)):
        for section in content:
            if section in ELSEWHERE:
                raise InputError(
                    f"{section} belongs to the command, not to the problem: see --method, --set and epinn run --help."
                )
            if section not in (*SECTIONS, *CONDITIONS):
                raise unknown_name("table", section, (*SECTIONS, *CONDITIONS))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EpinnWarning)
        problem = _Builder(content, path).problem()
    notes = tuple(str(one.message) for one in caught if issubclass(one.category, EpinnWarning))
    digest = hashlib.sha256(path.read_bytes())
    for file in _files(content, path.parent):
        digest.update(file.read_bytes())
    return Document(problem, digest.hexdigest()[:16], notes)


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path} is larger than a problem can be; put measurements into a file of their own.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: {reason}; texts need quotes, and every line is a [table] or a name = value.") from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise InputError(f"{path} cannot be read as TOML, which is text in UTF-8.") from None


def _files(content: Mapping[str, Any], folder: Path) -> Iterator[Path]:
    """The files that a problem takes its mesh and its measurements from."""
    domain = content.get("domain")
    if isinstance(domain, Mapping) and isinstance(domain.get(MESH), str):
        yield folder / domain[MESH]
    given = content.get("data", [])
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, Mapping) and isinstance(one.get("file"), str):
            yield folder / one["file"]


class _Builder:
    """Makes the problem of a file, table by table."""

    def __init__(self, content: Mapping[str, Any], path: Path):
        self.content, self.path = content, path
        self.constants = read_constants(content.get("constants"), self._place("constants"))
        if "domain" not in content:
            raise InputError(f"{path}: there is no domain; add a table, as in [domain] and below it t = [0, 3600].")
        self.domain = read_domain(content["domain"], self._place("domain"), self.constants, path.parent)
        self.unknowns = read_unknowns(content.get("unknowns"), self._place("unknowns"), self.constants)
        self.fields, self.traits = self._find_fields()
        with at(str(path)):
            self._check_names()
        self.words = self._words(tuple(map(str, self.fields)))

    def _place(self, section: str) -> str:
        return f"{self.path}, [{section}]"

    def _words(self, fields: tuple[str, ...] | None) -> Words:
        words = Words(self.domain.coordinates, tuple(self.unknowns), self.constants, fields)
        return read_definitions(self.content.get("definitions"), self._place("definitions"), words)

    def _find_fields(self) -> tuple[list[str], FieldTraits]:
        if "fields" in self.content:
            return read_fields(self.content["fields"], self._place("fields"), self.domain.coordinates)
        pairs = tables(self.content.get("equation", []), "equation", str(self.path))
        alone = [(place, {"expression": one} if isinstance(one, str | int | float) else one) for place, one in pairs]
        equations = [(place, Table(one, place).need("expression", text, EXAMPLE)) for place, one in alone]
        return recognised_fields(equations, self._words(None), str(self.path)), FieldTraits()

    def _check_names(self) -> None:
        """Every name means one thing."""
        definitions = list(self.content.get("definitions") or {})
        counts = Counter([*self.domain.coordinates, *self.unknowns, *self.constants, *definitions, *map(str, self.fields)])
        twice = [name for name, number in counts.items() if number > 1]
        if twice:
            raise InputError(
                f"the name {twice[0]!r} is used twice among coordinates, fields, unknowns, constants and definitions."
            )

    def problem(self) -> Problem:
        reader, places = Reader(self.words, self.constants), {}
        slots: dict[str, Any] = {}
        readers: dict[str, Callable[[Any, str], Condition]] = {
            "equation": reader.equation,
            "boundary": reader.boundary,
            "initial": reader.initial,
            "data": lambda one, place: read_data(reader, one, place, self.path.parent),
        }
        for kind in CONDITIONS:
            pairs = tables(self.content.get(kind, []), kind, str(self.path))
            places[kind] = [place for place, _ in pairs]
            slots[kind] = [readers[kind](one, place) for place, one in pairs]
        exact, points = self._exact(), self._points()
        with at(f"{self.path}, name"):
            name = text(self.content.get("name", self.path.stem))
        with at(str(self.path)):
            made = Problem(
                domain=self.domain,
                **slots,
                extra=[Constant(name) for name in self.traits.constant],
                fields=self.fields,
                positive=self.traits.positive,
                unknowns=self.unknowns,
                exact=exact,
                points=points,
                name=name,
            )
        _check(made, places)
        with at(str(self.path)):
            _check_all_are_used(made)
        return made

    def _points(self) -> Points:
        table = Table(self.content.get("points", {}), self._place("points"))
        numbers = {key: table.take(key, whole) for key in ("collocation", "boundary")}
        given = {**numbers, "sampling": table.take("sampling", text), "resample": table.take("resample", whole, 0)}
        table.end()
        return Points(**given)

    def _exact(self) -> Formulas | None:
        """The exact solution, one formula for each field."""
        if "exact" not in self.content:
            return None
        table = Table(self.content["exact"], self._place("exact"), self.constants)
        reader = Reader(replace(self.words, fields=(), unknowns=()), self.constants)
        formulas = tuple(table.need(str(name), reader.formula, '"sin(pi * x)"') for name in self.fields)
        table.end()
        return Formulas(formulas)


def _check(problem: Problem, places: Mapping[str, Sequence[str]]) -> None:
    """Make every condition once, so that a mistake in it is told with its place."""
    for kind, of_kind in places.items():
        for place, condition in zip(of_kind, getattr(problem, kind), strict=True):
            with at(place):
                condition.channel(problem.context, as_key(0))
    problem.check()


def _check_all_are_used(problem: Problem) -> None:
    """Refuse fields and unknowns that stand in no condition: nothing would be learned of them."""
    used = {name for channel in (*problem.channels(0), *problem.held_out()) for name in channel.operator.arguments}
    for what, every in (("field", problem.fields), ("unknown", problem.unknowns)):
        for name in every:
            if name not in used:
                raise InputError(f"the {what} {name} is in no equation or condition; use it there, or leave it out.")
