"""An experiment repeated with new noise and new initialisations, in a folder: what `epinn calibrate` computes."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np

from .. import __version__
from ..errors import InputError
from ..judge.calibration import Redraw, redraw_of
from ..problem.precision import Exact
from ..progress import Progress
from ..solve.pinn import Pinn
from .plan.plain import digest
from .plan.plan import Plan, attach_method, fit_base
from .store.checkpoint import Keeper
from .store.files import make_folder, read_json, write_json
from .store.lock import alone_in
from .store.run_folder import MARKER, RunFolder, circumstances
from .store.trained import UNFINISHED

AT_ONCE = {"cpu": 25}
KIND = "calibration"
REMEDY = "delete it, and its redraws are computed again"


def at_once() -> int:
    """Redraws that run together."""
    return AT_ONCE.get(jax.default_backend(), 100)


def remember(plan: Plan, folder: Path, preset: str) -> None:
    """Say in run.json what is asked for, by this process and others in the folder, so that `epinn resume` can go on with it."""
    _check_repeatable(plan)
    make_folder(folder)
    identity = _identity(plan)
    about = {MARKER: __version__, "kind": KIND, "identity": identity, **plan.describe(preset), **circumstances()}
    with alone_in(folder, wait=True):
        if (folder / "run.json").is_file():
            before = RunFolder.open(folder).read_json("run.json")
            if before.get("identity") != identity:
                raise _of_another(folder)
            about |= {name: list(dict.fromkeys([*before[name], *about[name]])) for name in ("methods", "seeds")}
        write_json(folder / "run.json", about)


def calibrate(plan: Plan, folder: Path, progress: Progress) -> list[Redraw]:
    """All redraws (the plan's seeds) of all its methods; what is in the folder already is not computed again.

    Every batch has a file of its own, so that several processes can work into one folder.
    """
    _check_repeatable(plan)
    make_folder(folder)
    identity = _identity(plan)
    together = at_once()
    while missing := _missing(plan, have := set(_read(folder, identity))):  # read anew: another process may have been at work
        some, before = missing[:together], len(plan.seeds) - len(missing)
        listener = Labelled(progress, f" {before + 1} to {before + len(some)}")
        for found in _batch(replace(plan, seeds=some), have, listener, folder / UNFINISHED / digest(some)):
            _write(folder, identity, found)
    done = _read(folder, identity)
    return [done[method, seed] for method in plan.methods for seed in plan.seeds]


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


def _missing(plan: Plan, have: Collection[tuple[str, int]]) -> tuple[int, ...]:
    """The seeds that some method lacks."""
    return tuple(seed for seed in plan.seeds if any((method, seed) not in have for method in plan.methods))


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
