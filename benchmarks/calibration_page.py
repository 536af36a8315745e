"""The page of calibration studies, from the JSON that `epinn calibrate --json` printed: known-PROBLEM-SIGMA.json,
exact-PROBLEM-NOISE.json, inverse-PROBLEM-NOISE.json and all-SETTING.json in the folder."""

import argparse
import json
from pathlib import Path

from epinn.app.plan.presets import preset
from epinn.app.plan.published import lookup

HEAD = """# Calibration

How often the band holds the truth when the whole experiment is repeated: new noise, new initialisations, 100 times, seeds 0 to
99, on one NVIDIA H200. Coverage is the mean over redraws and the points of a dense grid; its standard error (±) counts every
redraw once, since errors are correlated in space. "Along the domain" says how far it varies from point to point. Sharpness,
RMSE and interval score are medians over the redraws. Every table is made by `python benchmarks/calibration_page.py` from the
JSON files beside this page, which `epinn calibrate ... --json` wrote.
"""
KNOWN = """
## Noise that is known, on every condition

    epinn calibrate PROBLEM --method laplace,epinet,ensemble --noise SIGMA --sigma equation=SIGMA --sigma boundary=0.01 \\
        --redraws 100 --set compute.memory=40 --json

The largest |u| is 1 in all four problems, so `--noise 0.1` means sigma 0.1. The aim is 0.95, within 0.92 and 0.98. The ensemble
of the 2D problem has 8 members that start at the trained network (`--set base.newton=100 --set ensemble.start=trained --set
ensemble.members=8`): from draws of the prior, Gauss-Newton was not done after 150 steps in a trial.

The band of an ensemble is widened for its few members (by 1.16 for 16, by 1.37 for 8). Without that, the spread of its members
is 0.92 to 1.14 times that of `laplace`.
"""
EXACT = """
## Exact physics, noisy measurements: the setting of the paper

    epinn calibrate PROBLEM --method laplace,epinet --noise NOISE --redraws 100 --set compute.memory=40 --json

Here the equation is exact, and its tolerance is what the trained network reaches at points that it was not trained on. The fit
that follows meets the equation still better, so that the band is wider than the error. The published E-PINN values are beside
it; the aim is a fifth of them with a coverage of at least 0.95.
"""
INVERSE = """
## Inverse heat: how often the interval holds kappa

    epinn calibrate heat1d-inverse --method laplace,epinet --noise 0.1 --redraws 100 --set compute.memory=40 --json

Published: 0.099 ± 0.012. The aim is 0.92 to 0.98 with a smaller sd. Least squares with the exact solution, which knows all that
there is to know, has an sd of 0.0050 and covers 0.97 of the same redraws (`python benchmarks/least_squares.py`).
"""
ALL = {
    "known": """
## All methods on the same redraws: 1D Poisson, known noise 0.1 on equation and measurements

The command of the first table with every method; `epinet, paper's objective` is `--set epinet.objective=paper`. `conformal`
needs measurements to hold out, so it and the `laplace` that it widens have other data: `--set points.sensors=64 --set
points.held_out=0.5`, in both tables.

With known noise, `laplace`, `epinet`, `hmc` and `nuts` find the same posterior; `ensemble` is a tenth wider, since it makes up
for having only 16 members. Conformal bands promise at least 95% for new measurements, and 32 of them leave room for a little
more. One of the 100 `hmc` runs and three of those of `nuts` said that their chains had not mixed, 42 of `vi` that the bound
still rose.
""",
    "exact": """
## All methods on the same redraws: 1D Poisson, exact physics, noise 0.1

`hmc`, `nuts` and `vi` take an exact condition to be known to 0.01, since no chain could move in a thinner shell; the others
take what the network reaches. All chains had mixed (R-hat of the field below 1.1); every `vi` said that its bound still rose.
""",
}
COLUMNS = "50% | 80% | 95% | ± | along the domain | sharpness | RMSE | interval score"


def figures(row: dict) -> str:
    """One row of a table, from its coverage on."""
    covered = " | ".join(f"{row['coverage'][level]:.3f}" for level in ("0.5", "0.8", "0.95"))
    along = f"{row['conditional']['least']:.2f} to {row['conditional']['most']:.2f}"
    return (
        f"{covered} | {row['standard_error']:.3f} | {along} | {row['sharpness']:.3g} | {row['rmse']:.2g} "
        f"| {row['interval_score']:.3g}"
    )


def table(first: list[str], columns: str, lines: list[str]) -> str:
    head = f"| {' | '.join(first)} | {columns} |"
    return "\n".join(["", head, "|" + "---|" * (head.count("|") - 1), *lines, ""])


def cases(folder: Path, kind: str) -> list[tuple[str, str, list[dict]]]:
    """Problem, level and rows of every file of a kind."""
    found = []
    for path in sorted(folder.glob(f"{kind}-*.json")):
        problem, _, level = path.stem.removeprefix(f"{kind}-").rpartition("-")
        found.append((problem, level, json.loads(path.read_text())))
    return found


def known(folder: Path) -> str:
    lines = [f"| {p} | {s} | {row['method']} | {figures(row)} |" for p, s, rows in cases(folder, "known") for row in rows]
    return KNOWN + table(["problem", "sigma", "method"], COLUMNS, lines)


def exact(folder: Path) -> str:
    lines = []
    for problem, noise, rows in cases(folder, "exact"):
        paper = lookup(problem, "epinet", float(noise), preset("paper", problem).flat())
        printed = {} if paper is None else paper.values
        for row in rows:
            lines.append(
                f"| {problem} | {noise} | {row['method']} | {row['coverage']['0.95']:.3f} | {row['sharpness']:.3g} "
                f"| {printed.get('sharpness', '')} | {row['rmse']:.2g} | {printed.get('rmse', '')} |"
            )
    return EXACT + table(["problem", "noise", "method"], "95% | sharpness | published | RMSE | published", lines)


def inverse(folder: Path) -> str:
    lines = [
        f"| {problem} | {noise} | {row['method']} | {name} | {found['coverage']:.2f} | {found['std']:.2g} "
        f"| {row['coverage']['0.95']:.3f} | {row['with_warnings']} |"
        for problem, noise, rows in cases(folder, "inverse")
        for row in rows
        for name, found in row["unknowns"].items()
    ]
    return INVERSE + table(["problem", "noise", "method", "unknown"], "95% interval | its sd | field, 95% | warnings", lines)


def everything(folder: Path) -> str:
    text = ""
    for setting, words in ALL.items():
        path = folder / f"all-{setting}.json"
        if path.is_file():
            rows = json.loads(path.read_text())
            lines = [f"| {row['method']} | {figures(row)} | {row['time_s']:.2g} |" for row in rows]
            text += words + table(["method"], f"{COLUMNS} | s per redraw", lines)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("docs/results/calibration"))
    folder = parser.parse_args().folder
    pictures = [f"\n{path.stem}:\n\n![{path.stem}]({path.name})\n" for path in sorted(folder.glob("*.png"))]
    notes = folder / "notes.md"
    text = HEAD + (notes.read_text() if notes.is_file() else "") + known(folder) + exact(folder) + inverse(folder)
    (folder / "README.md").write_text(text + everything(folder) + "".join(pictures))
    print(f"written: {folder / 'README.md'}")


if __name__ == "__main__":
    main()
