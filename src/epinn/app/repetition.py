"""An experiment repeated with new noise and new initialisations, in a folder: what `epinn calibrate` computes."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..errors import InputError
from ..judge.calibration import Redraw, redraw_of
from ..progress import Progress
from .plan import Plan, attach_method, fit_base
from .store.files import write_json

AT_ONCE = {"cpu": 25}


def at_once() -> int:
    """Redraws that run together."""
    return AT_ONCE.get(jax.default_backend(), 100)


def calibrate(plan: Plan, folder: Path, progress: Progress) -> list[Redraw]:
    """All redraws (the plan's seeds) of all its methods; what is in the folder already is not computed again."""
    if plan.problems()[0].exact is None:
        raise InputError("repetition needs the truth to compare with: give the problem its exact solution (exact=...).")
    _check_data_differ(plan)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder ({error.strerror}); choose another --out.") from None
    path, identity = folder / "redraws.json", replace(plan, seeds=(), methods=()).identity()
    done = _read(path, identity)
    together = at_once()
    have = {(redraw.method, redraw.seed) for redraw in done}
    missing = [seed for seed in plan.seeds if any((method, seed) not in have for method in plan.methods)]
    for start in range(0, len(missing), together):
        some = replace(plan, seeds=tuple(missing[start : start + together]))
        for found in _batch(some, have, progress, f" {start + 1} to {start + len(some.seeds)}"):
            done += found
            write_json(path, {"identity": identity, "redraws": [redraw.plain() for redraw in done]})
    wanted = [(method, seed) for method in plan.methods for seed in plan.seeds]
    by_name = {(redraw.method, redraw.seed): redraw for redraw in done}
    return [by_name[name] for name in wanted]


def _check_data_differ(plan: Plan) -> None:
    """Refuse to repeat an experiment whose measurements are always the same."""
    first, *others = replace(plan, seeds=plan.seeds[:2]).problems()
    pairs = [pair for other in others for pair in zip(first.channels(0), other.channels(0), strict=True)]
    noisy = [(a, b) for a, b in pairs if a.kind == "data" and a.noise != "exact"]
    if noisy and all(np.array_equal(a.target, b.target) for a, b in noisy):
        raise InputError(
            "every repetition would have the same measurements: make the problem a function of key that draws them anew, "
            "or add noise to them with --sigma data=VALUE."
        )


def _batch(plan: Plan, have: set[tuple[str, int]], progress: Progress, label: str) -> Iterator[list[Redraw]]:
    """What is missing of some redraws, method by method."""

    class Labelled(Progress):
        def __call__(self, stage: str, step: int, total: int, values: Any) -> None:
            progress(stage + label, step, total, values)

    bases: dict[bool, Any] = {}
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


def _read(path: Path, identity: str) -> list[Redraw]:
    if not path.is_file():
        return []
    try:
        content = json.loads(path.read_text())
        found = [Redraw.of(record) for record in content["redraws"]]
    except (OSError, ValueError, LookupError, TypeError):
        raise InputError(f"{path} cannot be read; choose another --out.") from None
    if content.get("identity") != identity:
        raise InputError(f"{path.parent} holds the redraws of another problem or other settings; choose another --out.")
    return found
