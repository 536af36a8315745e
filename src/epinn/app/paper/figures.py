"""The counterparts of the paper's figures, from the stored fields of one seed; methods side by side on the same scales."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from ...judge.evaluation import Evaluation, grid, unknowns_truth
from ...posterior.statistics import Prediction
from ..plan.published import Published, tables
from ..report.pictures import figures as draw
from .reproduce import Reproduction
from .studies import studies
from .tables import NAMES, Comparison

KINDS = {"poisson2d-nonlinear": ("field",), "heat1d-inverse": ("slices", "unknowns"), "burgers": ("slices",)}
VARIED = {  # what an ablation varies, and how its panels are titled
    "points.collocation": "{} collocation points",
    "epinet.hidden": "epinet width {}",
    "epinet.epochs": "{:,} epinet epochs",
    "base.epochs": "{:,} base epochs",
}
TITLES = {
    "poisson1d": "1D Poisson",
    "poisson1d-nonlinear": "1D nonlinear Poisson",
    "porous1d": "1D flow through a porous medium",
    "poisson2d-nonlinear": "2D nonlinear Poisson",
    "heat1d-inverse": "Inverse heat",
    "burgers-collocation": "Burgers: number of collocation points",
    "burgers-epinet-width": "Burgers: width of the epinet",
    "burgers-epinet-epochs": "Burgers: training epochs of the epinet",
    "burgers-base-epochs": "Burgers: training epochs of the base",
    "burgers-noise": "Burgers: noise",
}
WHAT = {
    "field": "mean and band of ±2σ",
    "map": "mean, standard deviation and absolute error",
    "slices": "mean and band of ±2σ at t = 0.5 and t = 1",
    "unknowns": "draws of κ",
}


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure, the table it belongs to, and what it shows."""

    name: str
    table: str
    title: str
    figure: Figure


def paper_figures(reproduction: Reproduction, found: Sequence[Comparison]) -> Iterator[Drawn]:
    """All figures for which there are rows: one per table and noise level, one per ablation."""
    for table in tables():
        rows = [one for one in found if one.row.table == table]
        ablation = table.startswith("burgers")
        for noise in [None] if ablation else sorted({one.row.noise for one in rows}):
            shown = [one for one in rows if noise in (None, one.row.noise)]
            if shown:
                yield from _figures(reproduction, table, noise, shown)


def _figures(reproduction: Reproduction, table: str, noise: float | None, shown: Sequence[Comparison]) -> Iterator[Drawn]:
    problem = shown[0].row.problem
    shown = sorted(shown, key=lambda one: list(NAMES).index(one.row.method))  # the paper's order: dropout before HMC
    evaluations = [rebuild(reproduction, one.row, panel_title(one)) for one in shown]
    drawn = draw(evaluations)
    for kind in KINDS.get(problem, ("field",)):
        suffix = ("" if noise is None else f"-noise{noise:g}") + ("" if len(KINDS.get(problem, "f")) == 1 else f"-{kind}")
        what = WHAT["map" if problem == "poisson2d-nonlinear" else kind]
        title = TITLES[table] + ("" if noise is None else f", noise {noise:g}") + f": {what}"
        yield Drawn(f"{table}{suffix}", table, title, drawn[kind])


def panel_title(one: Comparison) -> str:
    """What distinguishes a panel from its neighbours: the method, or in an ablation what is varied."""
    if not one.row.table.startswith("burgers"):
        return one.label
    for name, pattern in VARIED.items():
        if name in one.row.setting:
            value = one.row.setting[name]
            return pattern.format(value[0] if isinstance(value, list | tuple) else value)
    return f"noise {one.row.noise:g}"


def rebuild(reproduction: Reproduction, row: Published, label: str) -> Evaluation:
    """The evaluation of the first seed, from its file."""
    (study,) = studies([row])
    seed = min(record["seed"] for record in reproduction.records(row))
    (problem,) = study.plan((seed,)).problems()
    stored = reproduction.field(row)
    points, shape = grid(problem)
    truth = None if problem.exact is None else np.asarray(problem.exact_at(points))
    draws = {name.removeprefix("unknown_"): array for name, array in stored.items() if name.startswith("unknown_")}
    return Evaluation(
        problem=problem,
        label=label,
        points=np.asarray(points),
        shape=shape,
        prediction=Prediction(stored["mean"], stored["std"]),
        truth=truth,
        unknowns={name: Prediction(array.mean(axis=0), array.std(axis=0), samples=array) for name, array in draws.items()},
        unknowns_truth=unknowns_truth(problem, truth),
        seconds=0.0,
    )
