"""Trained base PINNs in a folder: trained when they are first needed, read from their files ever after."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ...progress import Progress
from ...solve.explanations import Modes
from ...solve.pinn import Pinn, scales_for
from ...solve.refine import Moved, channels_at
from ..plan.plan import Case, Plan, fit_base
from .checkpoint import Keeper, forget
from .files import read_json, write_json
from .trees import load_tree, save_tree

REMEDY = "delete it and go on with epinn resume: the network is trained again"
UNFINISHED = "unfinished"  # the folder for what an interrupted stage needs to go on


class Bases:
    """One file for each seed (`base-seed0.safetensors`), and one that says how the training went (`base.json`).

    What a base has seen is part of its name: `base-physics` has seen no measurements. A folder of one run has one noise
    level; one that keeps bases of several (`several_noises`) has that level in every name too, as in `base-noise0.1`, however
    many of them one plan asks for.
    """

    def __init__(self, folder: Path, *, several_noises: bool = False):
        self._folder, self._several_noises = folder, several_noises

    def has(self, plan: Plan, *, sees_data: bool = True) -> bool:
        """Whether there is nothing left to train for a plan."""
        return all(self._has(self._stem(case, sees_data), case) for case in plan.cases)

    def get(self, plan: Plan, progress: Progress, *, sees_data: bool = True) -> list[Pinn]:
        """The base PINNs of all cases of a plan. A network that was trained elsewhere has its own file, and none here."""
        if plan.origin is not None:
            return fit_base(plan, progress)
        if sees_data and len(plan.noises) > 1 and not self._several_noises:
            raise ValueError("a folder of one noise level cannot keep the bases of several: give Bases several_noises=True.")
        stems = [self._stem(case, sees_data) for case in plan.cases]
        if not self.has(plan, sees_data=sees_data):
            every = plan.settings.compute.checkpoint
            keeper = Keeper(progress, self._folder / UNFINISHED, f"{plan.identity()} {sees_data}", every)
            pinns = fit_base(plan, keeper, sees_data=sees_data)
            self._save(stems, plan, pinns)
            keeper.clear()
            return pinns
        fresh = fit_base(plan, Progress(), sees_data=sees_data, epochs=0)
        return [self._load(stem, c, p) for stem, c, p in zip(stems, plan.cases, fresh, strict=True)]

    def forget(self) -> None:
        """Train anew the next time."""
        for path in self._folder.glob("base*.json"):
            path.unlink()
        forget(self._folder / UNFINISHED)

    def _stem(self, case: Case, sees_data: bool) -> str:
        if not sees_data:
            return "base-physics"
        return f"base-noise{case.noise!r}" if self._several_noises else "base"

    def _path(self, stem: str, case: Case) -> Path:
        return self._folder / f"{stem}-seed{case.seed}.safetensors"

    def _history(self, stem: str) -> dict[str, Any]:
        path = self._folder / f"{stem}.json"
        found = read_json(path, REMEDY) if path.is_file() else {"channels": [], "seeds": []}
        if not isinstance(found.get("seeds"), list) or not all(
            isinstance(row, dict) and "seed" in row for row in found["seeds"]
        ):
            raise InputError(f"{path} does not say which seeds were trained; {REMEDY}.")
        return found

    def _has(self, stem: str, case: Case) -> bool:
        return any(row["seed"] == case.seed for row in self._history(stem)["seeds"]) and self._path(stem, case).is_file()

    def _save(self, stems: list[str], plan: Plan, pinns: list[Pinn]) -> None:
        for stem in dict.fromkeys(stems):
            found = {row["seed"]: row for row in self._history(stem)["seeds"]}
            for own, case, pinn in zip(stems, plan.cases, pinns, strict=True):
                if own == stem:
                    save_tree(pinn.solution, self._path(stem, case))
                    found[case.seed] = {
                        "seed": case.seed,
                        "seconds": pinn.seconds,
                        "failure": pinn.failure,
                        "warnings": pinn.warnings,
                        "sigmas": pinn.sigmas,
                        "regularised": pinn.regularised,
                        "moved": None if pinn.moved is None else pinn.moved.plain(),
                        "modes": None if pinn.modes is None else pinn.modes.plain(),
                        "steps": pinn.steps,
                        "losses": pinn.losses,
                    }
            names = [channel.name for channel in pinns[0].channels]
            write_json(self._folder / f"{stem}.json", {"channels": names, "seeds": list(found.values())})

    def _load(self, stem: str, case: Case, fresh: Pinn) -> Pinn:
        history = next(row for row in self._history(stem)["seeds"] if row["seed"] == case.seed)
        solution, moved = load_tree(self._path(stem, case), remedy=REMEDY), Moved.read(history.get("moved"))
        trained = dataclasses.replace(
            fresh,
            solution=solution,
            channels=channels_at(fresh.base, fresh.problem, fresh.points_key, scales_for(solution, fresh.problem), moved),
            moved=moved,
            seconds=history["seconds"],
            failure=history["failure"],
            steps=history.get("steps", []),
            losses=np.asarray(history.get("losses", np.zeros((0, 0))), float),
            warnings=history.get("warnings", []),
            regularised=history.get("regularised", False),
            modes=Modes.read(history.get("modes")),
        )
        return trained.with_sigmas(history.get("sigmas", {}))
