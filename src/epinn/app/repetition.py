"""An experiment repeated with new noise and new initialisations, in a folder: what `epinn calibrate` computes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np

from ..errors import InputError
from ..judge.calibration import Redraw, redraw_of
from ..problem.precision import Exact
from ..progress import Progress
from ..solve.pinn import Pinn
from .plan.plain import digest
from .plan.plan import Plan, attach_method, fit_base
from .store.files import make_folder, read_json, write_json

AT_ONCE = {"cpu": 25}


def at_once() -> int:
    """Redraws that run together."""
    return AT_ONCE.get(jax.default_backend(), 100)


def calibrate(plan: Plan, folder: Path, progress: Progress) -> list[Redraw]:
    """All redraws (the plan's seeds) of all its methods; what is in the folder already is not computed again.

    Every batch has a file of its own, so that several processes can work into one folder.
    """
    if plan.problems()[0].exact is None:
        raise InputError("repetition needs the truth to compare with: give the problem its exact solution (exact=...).")
    _check_data_differ(plan)
    make_folder(folder)
    identity = replace(plan, seeds=(), methods=()).identity()
    together = at_once()
    while missing := _missing(plan, have := set(_read(folder, identity))):  # read anew: another process may have been at work
        some, before = missing[:together], len(plan.seeds) - len(missing)
        for found in _batch(replace(plan, seeds=some), have, progress, f" {before + 1} to {before + len(some)}"):
            _write(folder, identity, found)
    done = _read(folder, identity)
    return [done[method, seed] for method in plan.methods for seed in plan.seeds]


def _check_data_differ(plan: Plan) -> None:
    """Refuse to repeat an experiment whose measurements are always the same."""
    first, *others = replace(plan, seeds=plan.seeds[:2]).problems()
    pairs = [pair for other in others for pair in zip(first.channels(0), other.channels(0), strict=True)]
    noisy = [(a, b) for a, b in pairs if a.kind == "data" and not isinstance(a.precision, Exact)]
    if noisy and all(np.array_equal(a.target, b.target) for a, b in noisy):
        raise InputError(
            "every repetition would have the same measurements: make the problem a function of key that draws them anew, "
            "or add noise to them with --sigma data=VALUE."
        )


def _batch(plan: Plan, have: Collection[tuple[str, int]], progress: Progress, label: str) -> Iterator[list[Redraw]]:
    """What is missing of some redraws, method by method."""

    class Labelled(Progress):
        def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
            progress(stage + label, step, total, values)

    bases: dict[bool, list[Pinn]] = {}
    for method in plan.methods:
        if all((method, seed) in have for seed in plan.seeds):
            continue
        sees = plan.settings.methods[method].traits.base_sees_data
        if sees not in bases:
            bases[sees] = fit_base(plan, Labelled(), sees_data=sees)
        results = attach_method(plan, method, bases[sees], Labelled())
        yield [
            redraw_of(method, result.case.seed, result.evaluation, result.record)
            for result in results
            if (method, result.case.seed) not in have
        ]


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
        content = read_json(path)
        if content.get("identity") != identity:
            raise InputError(f"{folder} holds the redraws of another problem or other settings; choose another --out.")
        try:
            redraws = [Redraw.of(record) for record in content["redraws"]]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InputError(f"{path} cannot be read; choose another --out.") from None
        found |= {(redraw.method, redraw.seed): redraw for redraw in redraws}
    return found
