"""An experiment repeated with new noise and new initialisations, in a folder: what `epinn calibrate` computes."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory
from typing import Any

import jax
import numpy as np

from .. import __version__
from ..errors import InputError
from ..judge.calibration import Redraw, redraw_of
from ..problem.precision import Exact
from ..progress import Progress
from ..solve.pinn import Pinn
from .cluster.tasks import computed
from .plan.plain import digest
from .plan.plan import Plan, attach_method, fit_base
from .store.checkpoint import Keeper
from .store.files import make_folder, read_json, write_json
from .store.lock import alone_in
from .store.run_folder import MARKER, RunFolder, circumstances
from .store.trained import UNFINISHED

AT_ONCE = {"cpu": 25}  # redraws that run together
KIND = "calibration"
REMEDY = "delete it, and its redraws are computed again"


def usual_at_once() -> int:
    """How many redraws run together where nothing else is asked for."""
    return AT_ONCE.get(jax.default_backend(), 100)


def remember(plan: Plan, folder: Path, preset: str, at_once: int) -> None:
    """Say in run.json what is asked for, now and earlier in this folder, so that `epinn resume` can go on with it."""
    _check_repeatable(plan)
    make_folder(folder)
    identity = _identity(plan)
    asked = {"identity": identity, **plan.describe(preset), "at_once": at_once}
    about = {MARKER: __version__, "kind": KIND, **asked, **circumstances()}
    with alone_in(folder):
        if (folder / "run.json").is_file():
            before = RunFolder.open(folder).read_json("run.json")
            if before.get("identity") != identity:
                raise _of_another(folder)
            about |= {name: list(dict.fromkeys([*before[name], *about[name]])) for name in ("methods", "seeds")}
        write_json(folder / "run.json", about)


def calibrate(
    plan: Plan, folder: Path, progress: Progress, *, at_once: int | None = None, executor: Executor | None = None
) -> list[Redraw]:
    """All redraws (the plan's seeds) of all its methods, `at_once` of them together; what is in the folder already is not
    computed again.

    With an executor (of `concurrent.futures`) its workers compute, each a batch at a time, and the results are the same. The
    files are written here.
    """
    _check_repeatable(plan)
    make_folder(folder)
    with alone_in(folder):
        identity = _identity(plan)
        have = frozenset(_read(folder, identity))
        batches = _batches(plan, have, at_once or usual_at_once())
        if executor is None:
            results = _one_by_one(plan, batches, have, progress, folder / UNFINISHED)
        else:
            results = _by_workers(plan, batches, have, progress, executor)
        for found in results:
            _write(folder, identity, found)
        done = _read(folder, identity)
    return [done[method, seed] for method in plan.methods for seed in plan.seeds]


def _batches(plan: Plan, have: Collection[tuple[str, int]], at_once: int) -> list[tuple[int, ...]]:
    """The seeds that some method lacks, as they run together."""
    missing = tuple(seed for seed in plan.seeds if any((method, seed) not in have for method in plan.methods))
    return [missing[i : i + at_once] for i in range(0, len(missing), at_once)]


def _one_by_one(
    plan: Plan,
    batches: Sequence[tuple[int, ...]],
    have: Collection[tuple[str, int]],
    progress: Progress,
    unfinished: Path,
) -> Iterator[list[Redraw]]:
    before = len(plan.seeds) - sum(map(len, batches))
    for seeds in batches:
        listener = Labelled(progress, f" {before + 1} to {before + len(seeds)}")
        yield from _batch(replace(plan, seeds=seeds), have, listener, unfinished / digest(seeds))
        before += len(seeds)


def _by_workers(
    plan: Plan,
    batches: Sequence[tuple[int, ...]],
    have: Collection[tuple[str, int]],
    progress: Progress,
    executor: Executor,
) -> Iterator[list[Redraw]]:
    if not plan.source.spec:
        raise InputError("workers load a problem from its file; leave the executor out, or put the problem into a file.")
    description = plan.describe("fast")  # whatever the preset, all settings are in it
    tasks = [_Task({**description, "seeds": seeds}, have) for seeds in batches]
    done = len(plan.seeds) - sum(map(len, batches))
    progress("redraws", done, len(plan.seeds), {})
    for task, found in computed(executor, _compute, tasks):
        yield from found
        done += len(task.description["seeds"])
        progress("redraws", done, len(plan.seeds), {})


@dataclass(frozen=True, eq=False)
class _Task:
    """A batch of redraws for a worker: their plan, and which of their methods and seeds there are already."""

    description: Mapping[str, Any]
    have: Collection[tuple[str, int]]


def _compute(task: _Task) -> list[list[Redraw]]:
    """What a worker does. It begins a batch anew that another one did not finish, so it keeps nothing."""
    try:
        plan = Plan.from_description(task.description)
    except InputError as error:
        raise InputError(
            f"a worker on {gethostname()} cannot load the problem: {error} All workers must find it at the same path."
        ) from None
    with TemporaryDirectory() as scratch:
        return list(_batch(plan, task.have, Progress(), Path(scratch) / UNFINISHED))


def _identity(plan: Plan) -> str:
    """What all redraws in a folder share."""
    return replace(plan, seeds=(), methods=()).identity()


def _of_another(folder: Path) -> InputError:
    return InputError(f"{folder} holds the redraws of another problem or other settings; choose another --out.")


def _check_repeatable(plan: Plan) -> None:
    """Refuse to repeat an experiment without a known truth, or one whose measurements are always the same."""
    if plan.problems()[0].exact is None:
        raise InputError("repetition needs the truth to compare with: give the problem its exact solution (exact=...).")
    first, *others = replace(plan, seeds=plan.seeds[:2]).problems()
    pairs = [pair for other in others for pair in zip(first.channels(0), other.channels(0), strict=True)]
    noisy = [(a, b) for a, b in pairs if a.kind == "data" and not isinstance(a.precision, Exact)]
    if noisy and all(np.array_equal(a.target, b.target) for a, b in noisy):
        raise InputError(
            "every repetition would have the same measurements: make the problem a function of key that draws them anew, "
            "or add noise to them with --sigma data=VALUE."
        )


class Labelled(Progress):
    """The stages of a batch under names that tell which redraws it has."""

    def __init__(self, listener: Progress, label: str):
        self._listener, self._label = listener, label

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        self._listener(stage + self._label, step, total, values)

    def note(self, text: str) -> None:
        self._listener.note(text)


def _batch(plan: Plan, have: Collection[tuple[str, int]], progress: Progress, unfinished: Path) -> Iterator[list[Redraw]]:
    """What is missing of some redraws, method by method; `unfinished` is the folder for what an interrupted stage needs."""

    def keeper(name: str) -> Keeper:
        return Keeper(progress, unfinished / name, f"{plan.identity()} {name}", plan.settings.compute.checkpoint)

    bases: dict[bool, list[Pinn]] = {}
    trainings = {True: keeper("base"), False: keeper("base-physics")}
    for method in plan.methods:
        if all((method, seed) in have for seed in plan.seeds):
            continue
        sees = plan.settings.methods[method].traits.base_sees_data
        if sees not in bases:
            bases[sees] = fit_base(plan, trainings[sees], sees_data=sees)
        attaching = keeper(method)
        results = attach_method(plan, method, bases[sees], attaching)
        yield [
            redraw_of(method, result.case.seed, result.evaluation, result.record)
            for result in results
            if (method, result.case.seed) not in have
        ]
        attaching.clear()
    for training in trainings.values():
        training.clear()
    with contextlib.suppress(OSError):  # something of another process may be in them
        unfinished.rmdir()
        unfinished.parent.rmdir()


def _write(folder: Path, identity: str, found: Sequence[Redraw]) -> None:
    """One method's redraws of a batch. The name of the file tells which they are, so that no other batch replaces it."""
    name = f"redraws-{found[0].method}-{found[0].seed}-{digest([redraw.seed for redraw in found])}.json"
    write_json(folder / name, {"identity": identity, "redraws": [redraw.plain() for redraw in found]})


def _read(folder: Path, identity: str) -> dict[tuple[str, int], Redraw]:
    """All redraws in a folder by method and seed; those of another problem or other settings are refused."""
    found: dict[tuple[str, int], Redraw] = {}
    for path in sorted(folder.glob("redraws*.json")):
        content = read_json(path, REMEDY)
        if content.get("identity") != identity:
            raise _of_another(folder)
        try:
            redraws = [Redraw.of(record) for record in content["redraws"]]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InputError(f"{path} cannot be read; {REMEDY}.") from None
        found |= {(redraw.method, redraw.seed): redraw for redraw in redraws}
    return found
