"""The paper's experiments, row by row. What is alike runs together, what is finished is kept, what was interrupted goes on."""

import hashlib
import io
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ... import __version__
from ...errors import InputError
from ...judge.evaluation import Evaluation
from ...progress import Progress
from ...solve.first_stage import facing
from ...solve.pinn import Pinn
from ..cluster.tasks import computed
from ..plan.plain import digest, finite
from ..plan.plan import attach_method, fit_base
from ..plan.published import Published
from ..plan.published import tables as known_tables
from ..plan.settings import Settings
from ..store.checkpoint import Keeper
from ..store.files import damaged, make_folder, read_json, write_atomically, write_json
from ..store.lock import NAME as LOCK
from ..store.lock import alone_in
from ..store.run_folder import MARKER, RunFolder, circumstances, ending
from ..store.seal import Damaged
from ..store.trained import UNFINISHED, Bases
from .studies import Study, studies

KIND = "reproduction"
REMEDY = "delete it and run again: the row is computed anew"

Tell = Callable[[int, int, str, float | None], None]  # rows done, rows in all, what is next, seconds left


class Reproduction:
    """A folder with rows of the paper: `rows/` has the records and one seed's fields of each, `bases/` the trained PINNs."""

    def __init__(self, path: Path):
        self.folder = RunFolder(path)

    @classmethod
    def create(cls, path: Path, tables: Sequence[str], seeds: int) -> "Reproduction":
        """A folder for a reproduction, new or to be continued."""
        about = {MARKER: __version__, "kind": KIND, "tables": [*tables], "seeds": seeds, **circumstances(), "status": "running"}
        found = cls(make_folder(path))
        with alone_in(path):
            if any(there.name != LOCK for there in path.iterdir()):
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

    def run(
        self, rows: Sequence[Published], seeds: Sequence[int], progress: Progress, tell: Tell, executor: Executor | None = None
    ) -> None:
        """Compute what is missing of the rows: here, or by the workers of an executor (of `concurrent.futures`), with the same
        results. The files are written here."""
        with alone_in(self.path), ending(self.folder):
            try:
                if executor is None:
                    self._run(rows, seeds, progress, tell)
                else:
                    self._spread(rows, seeds, executor, tell)
            finally:
                if (self.path / UNFINISHED).is_dir() and not any((self.path / UNFINISHED).iterdir()):
                    (self.path / UNFINISHED).rmdir()

    def _pending(self, rows: Sequence[Published], seeds: Sequence[int]) -> list[tuple[Study, list[int]]]:
        """The studies that are not complete, with the seeds that they lack."""
        return [(study, missing) for study in studies(rows) if (missing := self._missing(study, seeds))]

    def _run(self, rows: Sequence[Published], seeds: Sequence[int], progress: Progress, tell: Tell) -> None:
        pending = self._pending(rows, seeds)
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

    def _spread(self, rows: Sequence[Published], seeds: Sequence[int], executor: Executor, tell: Tell) -> None:
        cells = sorted(self._cells(rows, seeds), key=lambda cell: -cell.cost)  # a long one at the end would be waited for
        left, cost = list(cells), sum(cell.cost for cell in cells)
        started, finished = time.perf_counter(), 0.0
        done = len(rows) - sum(len(cell.rows) for cell in cells)
        tell(done, len(rows), f"{len(left)} tasks", None)
        for cell, found in computed(executor, _compute_cell, cells):
            self._write(found)
            left.remove(cell)
            done += len(cell.rows)
            finished += cell.cost
            elapsed = time.perf_counter() - started
            tell(done, len(rows), f"{len(left)} tasks" if left else "", elapsed * (cost - finished) / finished)

    def _cells(self, rows: Sequence[Published], seeds: Sequence[int]) -> list["Cell"]:
        """What is missing, as tasks. Studies that share base PINNs are one: the first of them trains what the others use."""
        pending = self._pending(rows, seeds)
        together: dict[str, list[tuple[Study, float]]] = {}
        for (study, _), cost in zip(pending, self._costs(pending), strict=True):
            has_base = study.settings.methods[study.method].traits.uses_base
            together.setdefault(self._shelf(study).name if has_base else study.rows[0].name, []).append((study, cost))
        cells = []
        for shelf, own in together.items():
            wanted = tuple(row for study, _ in own for row in study.rows)
            names = {path for row in wanted for path in (self.path / "rows").glob(f"{row.name}.*")}
            bases = {path for path in (self.path / "bases" / shelf).glob("*") if path.is_file()}
            there = {str(path.relative_to(self.path)): path.read_bytes() for path in names | bases}
            cells.append(Cell(wanted, tuple(seeds), there, sum(cost for _, cost in own)))
        return cells

    def _write(self, found: Mapping[str, bytes]) -> None:
        """Files that a worker has made; what names others (JSON) comes after them."""
        for name in sorted(found, key=lambda name: name.endswith(".json")):
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path / name, found[name])

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
        return [facing(pinn, problem) for problem, pinn in zip(plan.problems(), repeated, strict=True)]

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


@dataclass(frozen=True, eq=False)
class Cell:
    """Rows for a worker: whole studies that share base PINNs, and the files of theirs that are there already."""

    rows: tuple[Published, ...]
    seeds: tuple[int, ...]
    files: Mapping[str, bytes]
    cost: float


def _compute_cell(cell: Cell) -> dict[str, bytes]:
    """What a worker does: the rows in a folder of its own, whose new files are sent back."""
    with TemporaryDirectory() as scratch:
        there = Reproduction(make_folder(Path(scratch) / "rows").parent)
        there._write(cell.files)
        there._run(cell.rows, cell.seeds, Progress(), lambda *_: None)
        paths = {str(path.relative_to(scratch)): path for path in Path(scratch).rglob("*") if path.is_file()}
        contents = {name: path.read_bytes() for name, path in paths.items()}
    return {name: content for name, content in contents.items() if cell.files.get(name) != content}
