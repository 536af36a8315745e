"""The values that the paper printed, one object per row of its tables, to stand beside ours."""

import functools
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ...errors import unknown_name
from ...judge.wording import fixed

DECIMALS = {"sharpness": 2, "coverage": 2, "rmse": 4, "kappa_mean": 3, "kappa_std": 3}  # as the paper prints them


@dataclass(frozen=True)
class Published:
    """One printed row, the `number`-th of its table. `setting` says where it leaves the paper's usual settings, by dotted name.

    `values` has sharpness, coverage and rmse, or kappa_mean and kappa_std for the inverse problem, and time_s; time_uq_s
    too where the paper gives it.
    """

    table: str
    problem: str
    method: str
    noise: float
    setting: Mapping[str, Any]
    values: Mapping[str, float]
    number: int

    @property
    def name(self) -> str:
        return f"{self.table}-{self.number:02d}"

    @property
    def changes(self) -> dict[str, Any]:
        """`setting` as settings have it: tuples where the file has lists."""
        return {name: _plain(value) for name, value in self.setting.items()}

    def printed(self, name: str) -> str:
        """A value as the paper prints it; nothing if it has none."""
        return fixed(self.values[name], DECIMALS.get(name, 0)) if name in self.values else ""

    def matches(self, setting: Mapping[str, Any]) -> bool:
        """Whether a run with these settings has all that the row asks for; lists and tuples are the same."""
        return all(name in setting and _plain(setting[name]) == _plain(value) for name, value in self.setting.items())


def rows(table: str | None = None) -> tuple[Published, ...]:
    """The rows of one table, or of all, in the order of the paper."""
    if table is not None and table not in tables():
        raise unknown_name("table", table, tables())
    return tuple(row for row in _all_rows() if table in (None, row.table))


def tables() -> tuple[str, ...]:
    """The names of all tables."""
    return tuple(dict.fromkeys(row.table for row in _all_rows()))


def lookup(problem: str, method: str, noise: float, setting: Mapping[str, Any]) -> Published | None:
    """The row for a run, out of the tables that compare methods; None if the paper has no such run.

    The ablations never answer: their tables, unlike the others, do not bear the name of a problem.
    """
    wanted = (problem, problem, method, noise)
    found = (row for row in _all_rows() if (row.table, row.problem, row.method, row.noise) == wanted)
    return next((row for row in found if row.matches(setting)), None)


@functools.cache
def _all_rows() -> tuple[Published, ...]:
    text = files(__package__).joinpath("published.json").read_text(encoding="utf-8")
    seen: Counter[str] = Counter()
    found = []
    for row in json.loads(text)["rows"]:
        seen[row["table"]] += 1
        found.append(Published(**row, number=seen[row["table"]]))
    return tuple(found)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
