"""The paper's experiments, row by row. What is alike runs together, what is finished is kept, what was interrupted goes on."""

import contextlib
import dataclasses
import hashlib
import io
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ... import __version__
from ...errors import InputError
from ...judge.evaluation import Evaluation
from ...progress import Progress
from ...solve.pinn import Pinn
from ..plan.plain import digest, finite
from ..plan.plan import Plan, attach_method, fit_base
from ..plan.presets import preset
from ..plan.published import Published
from ..plan.published import tables as known_tables
from ..plan.settings import Settings
from ..plan.source import find
from ..store.checkpoint import Keeper
from ..store.files import create_once, damaged, make_folder, read_json, to_json, write_atomically, write_json
from ..store.run_folder import MARKER, RunFolder, circumstances, ending
from ..store.seal import Damaged
from ..store.trained import UNFINISHED, Bases

KIND = "reproduction"
REMEDY = "delete it and run again: the row is computed anew"
IDLE_ON_CPU, IDLE_ELSEWHERE = 50, 1000  # how many points' worth of time a step costs before it has done anything

Tell = Callable[[int, int, str, float | None], None]  # rows done, rows in all, what is next, seconds left


@dataclass(frozen=True)
class Study:
    """Rows of one problem and method with the same settings, at noise levels that run together."""

    rows: tuple[Published, ...]
    settings: Settings

    @property
    def problem(self) -> str:
        return self.rows[0].problem

    @property
    def method(self) -> str:
        return self.rows[0].method

    @property
    def title(self) -> str:
        """The study in a few words."""
        noises = " and ".join(f"{noise:g}" for noise in self.plan(()).noises)
        changed = ", ".join(f"{name}={_short(value)}" for name, value in self.rows[0].setting.items())
        return f"{self.problem}, {self.method}, noise {noises}" + (f", {changed}" if changed else "")

    def plan(self, seeds: Sequence[int]) -> Plan:
        noises = tuple(dict.fromkeys(row.noise for row in self.rows))
        return Plan(find(self.problem), (self.method,), noises, tuple(seeds), self.settings)

    def base_plan(self, seeds: Sequence[int]) -> Plan:
        """What the base PINNs are trained on: the noise levels of the rows, or none if measurements are kept from the base."""
        plan = self.plan(seeds)
        return plan if self.settings.methods[self.method].traits.base_sees_data else dataclasses.replace(plan, noises=(0.0,))

    def work(self) -> tuple[float, float]:
        """Steps times points of one seed, in the base and in the method: what it costs, in some unit."""
        flat, method = self.settings.flat(), self.settings.methods[self.method]
        problem = self.plan((0,)).problems()[0]
        idle = IDLE_ON_CPU if jax.default_backend() == "cpu" else IDLE_ELSEWHERE
        points = len(problem.channels(0)[0].points) + idle
        steps = {
            "epinet": lambda: flat["epinet.epochs"],
            "hmc": lambda: (flat["hmc.burn_in"] + flat["hmc.samples"]) * flat["hmc.leapfrog"] * flat["hmc.chains"],
        }.get(self.method, lambda: 0)()
        networks = len(self.plan(()).noises)
        base = flat["base.epochs"] * len(self.base_plan(()).noises) if method.traits.uses_base else 0
        return float(base * points), float((steps * networks + 500) * points)


def studies(rows: Sequence[Published]) -> list[Study]:
    """The rows grouped into what runs together: noise levels with data, and rows that several tables repeat."""
    groups: dict[str, list[Published]] = {}
    settings: dict[str, Settings] = {}
    for row in rows:
        chosen = preset("paper", row.problem).changed(row.changes)
        key = digest([row.problem, row.method, row.noise > 0, chosen.flat()])
        groups.setdefault(key, []).append(row)
        settings[key] = chosen
    return [Study(tuple(group), settings[key]) for key, group in groups.items()]


class Reproduction:
    """A folder with rows of the paper: `rows/` has the records and one seed's fields of each, `bases/` the trained PINNs."""

    def __init__(self, path: Path):
        self.folder = RunFolder(path)

    @classmethod
    def create(cls, path: Path, tables: Sequence[str], seeds: int) -> "Reproduction":
        """A folder for a reproduction, new or to be continued."""
        about = {MARKER: __version__, "kind": KIND, "tables": [*tables], "seeds": seeds, **circumstances(), "status": "running"}
        found = cls(make_folder(path))
        if not any(path.iterdir()):
            with contextlib.suppress(FileExistsError):  # another process was faster: what it has made is continued
                create_once(path / "run.json", to_json(about))
        about["tables"] = list(dict.fromkeys([*cls.open(path).description["tables"], *tables]))
        found.folder.write_json("run.json", about)
        make_folder(path / "rows")
        return found

    @classmethod
    def open(cls, path: Path) -> "Reproduction":
        """A folder that holds a reproduction."""
        found = cls(path)
        if not (path / "run.json").is_file() or found.description.get("kind") != KIND:
            raise InputError(f"{path} is not empty and holds no reproduction of epinn's; choose another folder with --out.")
        about = found.description
        whole = isinstance(about.get("tables"), list) and isinstance(about.get("seeds"), int) and "machine" in about
        if not whole or not set(about["tables"]) <= set(known_tables()):
            raise InputError(f"{path / 'run.json'} does not describe a whole reproduction; delete it and run again.")
        return found

    @property
    def path(self) -> Path:
        return self.folder.path

    @property
    def description(self) -> dict[str, Any]:
        return self.folder.read_json("run.json")

    def run(self, rows: Sequence[Published], seeds: Sequence[int], progress: Progress, tell: Tell) -> None:
        """Compute what is missing of the rows."""
        with ending(self.folder):
            try:
                self._run(rows, seeds, progress, tell)
            finally:
                if (self.path / UNFINISHED).is_dir() and not any((self.path / UNFINISHED).iterdir()):
                    (self.path / UNFINISHED).rmdir()

    def _run(self, rows: Sequence[Published], seeds: Sequence[int], progress: Progress, tell: Tell) -> None:
        pending = [(study, missing) for study in studies(rows) if (missing := self._missing(study, seeds))]
        done = len(rows) - sum(len(study.rows) for study, _ in pending)
        left = self._costs(pending)
        started, finished = time.perf_counter(), 0.0
        for number, (study, missing) in enumerate(pending):
            elapsed = time.perf_counter() - started
            tell(done, len(rows), study.title, elapsed * sum(left[number:]) / finished if finished else None)
            self._compute(study, missing, progress)
            done += len(study.rows)
            finished += left[number]
        tell(done, len(rows), "", 0.0)

    def _costs(self, pending: Sequence[tuple[Study, Sequence[int]]]) -> list[float]:
        """The work in every study; a base that several share counts once."""
        costs: list[float] = []
        trained: set[tuple[Path, tuple[float | None, ...]]] = set()
        for study, missing in pending:
            base, method = study.work()
            base = 0.0 if self._bases(study).has(study.base_plan(missing)) else base
            shelf = (self._shelf(study), study.base_plan(()).noises)
            costs.append((method + (0 if shelf in trained else base)) * len(missing))
            trained |= {shelf} if base else set()
        return costs

    def _compute(self, study: Study, seeds: Sequence[int], progress: Progress) -> None:
        plan = study.plan(seeds)
        every = study.settings.compute.checkpoint
        keeper = Keeper(progress, self.path / UNFINISHED / study.rows[0].name, f"{plan.identity()} {study.method}", every)
        records: dict[float, list[dict[str, Any]]] = {row.noise: [] for row in study.rows}
        fields: dict[float, Evaluation] = {}
        for result in attach_method(plan, study.method, self._base(study, seeds, progress), keeper):
            noise = float(result.case.noise or 0.0)
            records[noise].append(result.record)
            if result.case.seed == seeds[0]:
                fields[noise] = result.evaluation
        for row in study.rows:
            kept = self._kept(row, study.settings)
            if not kept or min(seeds) < min(kept):
                self._save_field(row, fields[row.noise])
            self._save(row, study.settings, kept | {record["seed"]: record for record in records[row.noise]})
        keeper.clear()

    def _base(self, study: Study, seeds: Sequence[int], progress: Progress) -> list[Pinn]:
        plan, base_plan = study.plan(seeds), study.base_plan(seeds)
        if not study.settings.methods[study.method].traits.uses_base:
            return fit_base(plan, Progress(), epochs=0)
        self._shelf(study).mkdir(parents=True, exist_ok=True)
        pinns = self._bases(study).get(base_plan, progress)
        repeated = pinns * (len(plan.cases) // len(pinns))
        return [pinn.facing(problem) for problem, pinn in zip(plan.problems(), repeated, strict=True)]

    def _bases(self, study: Study) -> Bases:
        return Bases(self._shelf(study), several_noises=True)

    def _shelf(self, study: Study) -> Path:
        """Where the base PINNs of a study are: those with the same settings share a folder, whatever their noise."""
        kept = {name: v for name, v in study.settings.flat().items() if name.split(".")[0] in ("base", "points", "weights")}
        return self.path / "bases" / f"{study.problem}-{digest(kept)}"

    def records(self, row: Published) -> list[dict[str, Any]]:
        """The records of a row, one per seed; none if there are none yet."""
        found: list[dict[str, Any]] = self._row(row).get("records", [])
        return found

    def settings(self, row: Published) -> dict[str, Any]:
        """The settings behind a row."""
        found: dict[str, Any] = self._row(row).get("settings", {})
        return found

    def seconds(self, rows: Sequence[Published]) -> float:
        """The time that all these rows took; what several share, bases and whole rows, counts once."""
        spent: dict[tuple[Any, ...], float] = {}  # what was spent once, by what it was spent on
        for study in studies(rows):
            noises = study.base_plan(()).noises
            for row in study.rows:
                seen = row.noise if row.noise in noises else 0.0
                for record in self.records(row):
                    spent[study.rows[0].name, row.noise, record["seed"]] = record["time_uq_s"]
                    if study.settings.methods[study.method].traits.uses_base:
                        spent[self._shelf(study), seen, record["seed"]] = record["time_s"] - record["time_uq_s"]
        return sum(spent.values())

    def field(self, row: Published) -> dict[str, np.ndarray]:
        """Mean, standard deviation and draws of the unknowns of the first seed."""
        path = self._field_path(row)
        try:
            content = path.read_bytes()
            if _digest(content) != self._row(row).get("field", _digest(content)):  # rows of older versions do not have it
                raise damaged(path, REMEDY)
            with np.load(io.BytesIO(content)) as file:
                return {name: file[name] for name in file.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            if isinstance(error, Damaged):
                raise
            raise InputError(f"{path} cannot be read ({error}); {REMEDY}.") from None

    def _field_path(self, row: Published) -> Path:
        return self.path / "rows" / f"{row.name}.npz"

    def _row(self, row: Published) -> dict[str, Any]:
        path = self.path / "rows" / f"{row.name}.json"
        return read_json(path, REMEDY) if path.is_file() else {}

    def _missing(self, study: Study, seeds: Sequence[int]) -> list[int]:
        """The seeds that some row of a study lacks; all of them if it was computed with other settings."""
        have = set(seeds)
        for row in study.rows:
            have &= set(self._kept(row, study.settings))
        return [seed for seed in seeds if seed not in have]

    def _kept(self, row: Published, settings: Settings) -> dict[int, dict[str, Any]]:
        """The records of a row by seed, as far as they were computed with these settings and their field is there."""
        same = _that_matter(self.settings(row)) == _that_matter(finite(settings.flat())) and self._field_path(row).is_file()
        return {record["seed"]: record for record in self.records(row)} if same else {}

    def _save(self, row: Published, settings: Settings, records: Mapping[int, Mapping[str, Any]]) -> None:
        content = {
            "table": row.table,
            "number": row.number,
            "settings": settings.flat(),
            "field": _digest(self._field_path(row).read_bytes()),
            "records": [records[seed] for seed in sorted(records)],
        }
        write_json(self.path / "rows" / f"{row.name}.json", content)

    def _save_field(self, row: Published, evaluation: Evaluation) -> None:
        arrays = {"mean": evaluation.prediction.mean, "std": evaluation.prediction.std}
        arrays |= {f"unknown_{name}": found.samples for name, found in evaluation.unknowns.items() if found.samples is not None}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{k: np.asarray(v, np.float32) for k, v in arrays.items()})  # type: ignore[arg-type]
        write_atomically(self._field_path(row), buffer.getvalue())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _that_matter(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that results depend on."""
    return {name: value for name, value in settings.items() if not name.startswith("compute.")}


def _short(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, list | tuple) else f"{value:g}"
