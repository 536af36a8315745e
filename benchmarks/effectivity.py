"""Whether bands know how wrong a network is: true error over stated error, for networks from poor to best.

`python -m benchmarks.effectivity [CASE ...] --out DIR` takes the cases of `benchmarks/suite` that have no measurements, so that
nothing but the equations can tell how wrong a network is, and writes the table of all that is in the folder.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import epinn
from benchmarks.suite.case import Case
from benchmarks.suite.one import BAND_KEY, LEVEL
from benchmarks.suite.problems import CASES

STAGES = {  # how far a network has been trained
    "300 epochs": epinn.Base(epochs=300, newton=0, restarts=0),
    "3,000 epochs": epinn.Base(epochs=3_000, newton=0, restarts=0),
    "8 steps": epinn.Base(newton=8, restarts=0),
    "30 steps": epinn.Base(newton=30, restarts=0),
    "default": epinn.Base(),
}
LEAST, MOST = 0.3, 1.2  # where true error over stated error should be
FOOLED = 2.0  # and what it must never be where a band is called trustworthy


def cells(case: Case, seed: int) -> Iterator[dict[str, Any]]:
    """One for every stage of training."""
    problem, reference = case.problem(seed), case.reference()
    known = np.isfinite(reference.values)
    for stage, base in STAGES.items():
        began = time.perf_counter()
        found: dict[str, Any] = {"case": case.name, "seed": seed, "stage": stage}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", epinn.EpinnWarning)
                pinn = epinn.fit(problem, key=seed, base=base)
                band = epinn.attach(pinn, problem, method="laplace", key=BAND_KEY + seed)
            seen = band.predict(reference.points)
        except epinn.EpinnError as error:
            yield {**found, "refused": str(error).splitlines()[0]}
            continue
        mean, std = (np.asarray(part, float).reshape(reference.values.shape) for part in (seen.mean, seen.std))
        size = np.sqrt(np.nanmean(reference.values**2, axis=0, where=known))
        error, stated = (np.where(known, part / size, 0.0)[known] for part in (mean - reference.values, std))
        yield {
            **found,
            "error": float(np.sqrt(np.mean(error**2))),
            "stated": float(np.sqrt(np.mean(stated**2))),
            "effectivity": float(np.sqrt(np.mean(error**2) / np.mean(stated**2))),
            "coverage": float(np.mean(np.abs(error) <= LEVEL * stated)),
            "trustworthy": band.verdict.word == "trustworthy",
            "verdict": band.verdict.plain(),
            "complaints": len(pinn.warnings),
            "seconds": time.perf_counter() - began,
        }


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """One row for each case, one column for each stage of training, and how many cells are as they should be."""
    names = dict.fromkeys(cell["case"] for cell in found)
    cell_of = {(cell["case"], cell["stage"]): _in_words(cell) for cell in found}
    rows = [["case", *STAGES], ["---"] * (1 + len(STAGES))]
    rows += [[name, *(cell_of.get((name, stage), "–") for stage in STAGES)] for name in names]
    seen = [cell for cell in found if "effectivity" in cell]
    right = sum(LEAST <= cell["effectivity"] <= MOST for cell in seen)
    trusted = [cell for cell in seen if cell["trustworthy"]]
    fooled = [f"{cell['case']}, {cell['stage']}" for cell in trusted if cell["effectivity"] > FOOLED]
    said = (
        f"{right} of {len(seen)} cells between {LEAST} and {MOST}, {len(trusted)} called trustworthy; of these above {FOOLED}: "
        f"{'; '.join(fooled) or 'none'}."
    )
    return "\n".join([*(f"| {' | '.join(row)} |" for row in rows), "", said, ""])


def _in_words(cell: Mapping[str, Any]) -> str:
    """Error over stated error, both relative, and whether the verdict trusts it."""
    if "effectivity" not in cell:
        return "refused"
    ratio = f"{cell['error']:.1e} / {cell['stated']:.1e} = {cell['effectivity']:.2f}"
    return f"**{ratio}**" if cell["trustworthy"] else ratio


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.effectivity", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CASE", help="all without measurements by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    given = parser.parse_args()
    if strange := [name for name in given.names if name not in CASES]:
        parser.error(f"no case is called {', '.join(strange)}; there are {', '.join(CASES)}.")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names or [name for name, case in CASES.items() if not case.problem(0).data]:
        with (given.out / f"{name}.jsonl").open("w") as file:
            for cell in cells(CASES[name], given.seed):
                print(json.dumps(cell), file=file, flush=True)
                print({key: value for key, value in cell.items() if key != "verdict"}, flush=True)
    found = [json.loads(line) for path in sorted(given.out.glob("*.jsonl")) for line in path.read_text().splitlines()]
    (given.out / "table.md").write_text(table(found))


if __name__ == "__main__":
    main()
