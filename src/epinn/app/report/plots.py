"""Pictures of evaluations: several methods on the same problem, side by side on the same scales."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...errors import InputError
from ...judge.evaluation import Evaluation
from ...judge.wording import plus_minus, two_digits
from ...posterior.statistics import Prediction
from ...problem.domain import TIME, Box
from .panels import BLACK, BLUE, DPI, ORANGE, PER_ROW, PLAIN, TEXT, dress, few_ticks, legend, merits, panel_grid, span_of, title

BINS = 40


def figures(evaluations: Sequence[Evaluation]) -> dict[str, Figure]:
    """All figures that make sense for these methods on one problem, by name.

    "field" shows mean and band: curves in 1D, maps in 2D, curves through the centre of the box above. In 1D it holds all
    fields, and "error" shows the band of the first magnified; otherwise it holds the first, and the others follow as
    "field_<name>". "slices" (and "slices_<name>") shows one space coordinate at half time and at the end, "unknowns" the draws
    of what an inverse problem asks for.
    """
    _check(evaluations)
    problem, made = evaluations[0].problem, {}
    if problem.domain.dimension == 1:
        made["field"] = _curves(
            evaluations, [_line(evaluations[0], name, problem.domain.coordinates[0]) for name in problem.fields]
        )
        made["error"] = _magnified(evaluations)
    for name in problem.fields if problem.domain.dimension > 1 else ():
        suffix = "" if name == problem.fields[0] else f"_{name}"
        made |= {kind + suffix: figure for kind, figure in _of_field(evaluations, name).items()}
    if evaluations[0].unknowns:
        made["unknowns"] = _histograms(evaluations)
    return made


def _of_field(evaluations: Sequence[Evaluation], field: str) -> dict[str, Figure]:
    """The figures of one field over several coordinates."""
    first, domain = evaluations[0], evaluations[0].problem.domain
    if domain.dimension > 2:
        return {"field": _curves(evaluations, [_line(first, field, along) for along in domain.coordinates])}
    made = {"field": _maps(evaluations, field)}
    if TIME in domain.coordinates and field not in first.problem.sought:  # what should be constant needs no slices
        end = domain.upper[domain.axis(TIME)]
        made["slices"] = _curves(evaluations, [_line(first, field, domain.space[0], **at) for at in ({}, {TIME: end})])
    return made


def _check(evaluations: Sequence[Evaluation]) -> None:
    if not evaluations:
        raise InputError("there is nothing to draw; pass at least one evaluation.")
    if len({(e.problem.name, e.problem.domain, tuple(e.problem.fields), e.shape) for e in evaluations}) > 1:
        names = ", ".join(sorted({e.problem.name for e in evaluations}))
        raise InputError(f"a figure compares methods on one problem and one grid; draw these one by one: {names}.")


# Curves.


@dataclass(frozen=True, eq=False)
class _Line:
    """Grid points in a row: which points of an evaluation they are, and the coordinate that varies along them."""

    field: str
    along: str
    label: str
    points: np.ndarray


def _line(evaluation: Evaluation, field: str, along: str, **near: float) -> _Line:
    """The grid points along one coordinate where the others are nearest to the values given, by default to the centre."""
    points = np.arange(len(evaluation.points)).reshape(evaluation.shape)
    domain, place = evaluation.problem.domain, []
    for axis, name in enumerate(domain.coordinates):
        if name == along:
            place.append(name)
            continue
        positions = np.linspace(domain.lower[axis], domain.upper[axis], evaluation.shape[axis])
        nearest = int(np.argmin(np.abs(positions - near.get(name, positions.mean()))))
        points = points.take([nearest], axis=axis)
        place.append(f"{name}\u00a0=\u00a0{positions[nearest]:.3g}")
    return _Line(field, along, field if domain.dimension == 1 else f"{field}({', '.join(place)})", points.ravel())


def _curves(evaluations: Sequence[Evaluation], lines: Sequence[_Line]) -> Figure:
    """Mean, band and truth: one row per line, one column per method, the same scale for the same field."""
    figure, axes, width = panel_grid(len(lines), len(evaluations))
    for row, line in enumerate(lines):
        for ax, evaluation in zip(axes[row], evaluations, strict=True):
            _curve(ax, evaluation, line)
            dress(ax, line.along, line.label)
            if row == 0 or lines[row - 1].field != line.field:
                title(ax, evaluation.label, merits(evaluation, line.field), width)
    for field in {line.field for line in lines}:
        same = [ax for row, line in zip(axes, lines, strict=True) if line.field == field for ax in row]
        lows, highs = zip(*(ax.get_ylim() for ax in same), strict=True)
        for ax in same:
            ax.set_ylim(min(lows), max(highs))
    legend(figure, axes)
    return figure


def _curve(ax: Axes, evaluation: Evaluation, line: _Line) -> None:
    domain, column = evaluation.problem.domain, evaluation.problem.fields.index(line.field)
    at = evaluation.points[line.points, domain.axis(line.along)]
    mean, std = (np.where(np.isfinite(values), values, np.nan)[line.points, column] for values in evaluation.prediction)
    ax.margins(x=0.02)
    ax.fill_between(at, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.25, linewidth=0, label="mean ± 2σ")
    ax.plot(at, mean, color=BLUE, linewidth=1.5, label="mean")
    if evaluation.truth is not None:
        ax.plot(at, evaluation.truth[line.points, column], "--", color=BLACK, linewidth=1.1, label="exact")
    sensors, values = evaluation.problem.sensors(line.field)
    if domain.dimension == 1 and len(sensors):  # elsewhere they lie beside the line
        ax.scatter(sensors[:, 0], values, s=9, color=ORANGE, linewidths=0, zorder=3, label="sensors")


def _magnified(evaluations: Sequence[Evaluation]) -> Figure:
    """The band around the mean of the first field, and the error in it, each on a scale of its own."""
    figure, axes, width = panel_grid(1, len(evaluations))
    for ax, evaluation in zip(axes[0], evaluations, strict=True):
        at, std = evaluation.points[:, 0], evaluation.prediction.std[:, 0]
        dress(ax, evaluation.problem.domain.coordinates[0], f"{evaluation.problem.fields[0]} - mean")
        ax.tick_params(labelleft=True)
        ax.margins(x=0.02)
        ax.fill_between(at, -2 * std, 2 * std, color=BLUE, alpha=0.25, linewidth=0, label="± 2σ")
        if evaluation.truth is not None:
            error = evaluation.truth[:, 0] - evaluation.prediction.mean[:, 0]
            ax.plot(at, error, color=BLACK, linewidth=1.1, label="exact - mean")
        title(ax, evaluation.label, f"mean σ {two_digits(float(np.mean(std)))}", width)
    legend(figure, axes)
    return figure


# Maps.


def _maps(evaluations: Sequence[Evaluation], field: str) -> Figure:
    """Mean, standard deviation and error in rows, methods in columns; each row has one colour scale."""
    problem, column = evaluations[0].problem, evaluations[0].problem.fields.index(field)
    means, stds = ([getattr(e.prediction, name)[:, column] for e in evaluations] for name in ("mean", "std"))
    rows = [(f"mean of {field}", means, _colours(means)), ("standard deviation", stds, _colours(stds, "viridis"))]
    if evaluations[0].truth is not None:
        errors = [np.abs(e.prediction.mean - e.truth)[:, column] for e in evaluations]
        rows.append(("absolute error", errors, _colours(errors, "magma")))
    width = 2.7 if len(evaluations) <= PER_ROW else 2.2
    size = (width * len(evaluations) + 1.1, width * _proportion(problem.domain) * len(rows) + 1.1)
    figure = Figure(size, DPI, layout="constrained")
    axes = figure.subplots(len(rows), len(evaluations), sharex=True, sharey=True, squeeze=False)
    for panels, row in zip(axes, rows, strict=True):
        _map_row(panels, evaluations[0], *row)
    sensors = problem.sensors(field)[0][:, _plane(problem.domain)]
    for ax, evaluation in zip(axes[0], evaluations, strict=True):
        title(ax, evaluation.label, merits(evaluation, field, narrow=True), width)
        if len(sensors):
            ax.scatter(*sensors.T, s=8, color=BLACK, edgecolors="white", linewidths=0.5, label="sensors")
    legend(figure, axes)
    return figure


def _map_row(panels: np.ndarray, evaluation: Evaluation, name: str, values: list[np.ndarray], style: dict[str, Any]) -> None:
    """One quantity of every method, and the colour bar they share."""
    domain, plane = evaluation.problem.domain, _plane(evaluation.problem.domain)
    ends = [(domain.lower[axis], domain.upper[axis]) for axis in plane]
    halves = [(high - low) / (evaluation.shape[axis] - 1) / 2 for (low, high), axis in zip(ends, plane, strict=True)]
    extent = [end for (low, high), half in zip(ends, halves, strict=True) for end in (low - half, high + half)]
    for ax, heights in zip(panels, values, strict=True):
        grid = heights.reshape(evaluation.shape).transpose(plane).T
        image = ax.imshow(grid, origin="lower", extent=extent, aspect="auto", interpolation="bilinear", **style)
        ax.set(xlim=ends[0], ylim=ends[1])
        dress(ax, *(domain.coordinates[axis] for axis in plane))
        ax.label_outer()
    bar = panels[0].figure.colorbar(image, ax=list(panels), pad=0.02, aspect=14, ticks=few_ticks(), format=PLAIN)
    bar.set_label(name, fontsize=TEXT, parse_math=False)
    bar.ax.tick_params(labelsize=TEXT)


def _colours(values: list[np.ndarray], magnitude: str | None = None) -> dict[str, Any]:
    """A scale for all values: a map that starts at zero for a `magnitude`, two colours for what has both signs."""
    low, high = span_of(values)
    if magnitude:
        return {"cmap": magnitude, "vmin": 0.0, "vmax": high}
    if min(-low, high) > max(-low, high) / 3:
        return {"cmap": "RdBu_r", "vmin": -max(-low, high), "vmax": max(-low, high)}
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def _plane(domain: Box) -> list[int]:
    """Which coordinate runs across and which up; time goes up."""
    return [1, 0] if domain.coordinates[0] == TIME else [0, 1]


def _proportion(domain: Box) -> float:
    """Height over width of a map: true to scale in space, within reason."""
    sides = np.subtract(domain.upper, domain.lower)
    return 0.75 if TIME in domain.coordinates else float(np.clip(sides[1] / sides[0], 0.4, 1.5))


# Histograms.


def _histograms(evaluations: Sequence[Evaluation]) -> Figure:
    """What was inferred: one row per unknown, one column per method, the same scale for the same unknown."""
    names = list(evaluations[0].unknowns)
    figure, axes, width = panel_grid(len(names), len(evaluations))
    for panels, name in zip(axes, names, strict=True):
        exact = evaluations[0].unknowns_truth[name]
        draws = [_draws(e.unknowns[name]) for e in evaluations]
        marks = np.array([e.unknowns[name].mean for e in evaluations] + ([] if exact is None else [exact]), float)
        span = span_of([marks, *(np.quantile(d, [0.005, 0.995]) for d in draws if d.size)], margin=0.1)  # without stray draws
        for ax, evaluation in zip(panels, evaluations, strict=True):
            found = evaluation.unknowns[name]
            _histogram(ax, found, exact, span)
            dress(ax, name, "density")
            title(ax, evaluation.label, f"{name} = {plus_minus(float(found.mean), float(found.std))}", width)
            ax.set_yticks([])
    legend(figure, axes)
    return figure


def _histogram(ax: Axes, found: Prediction, exact: float | None, span: tuple[float, float]) -> None:
    """Draws of one unknown. Draws that are all the same, which is what dropout gives for a parameter, make one bar."""
    draws = _draws(found)
    seen = draws[(draws >= span[0]) & (draws <= span[1])]
    style: dict[str, Any] = {"color": BLUE, "alpha": 0.35, "linewidth": 0, "label": "draws"}
    if seen.size and np.ptp(seen) > 1e-6 * np.max(np.abs(seen)):
        ax.hist(seen, BINS, density=True, **style)
    elif seen.size:
        ax.bar(seen.mean(), 1.0, width=0.03 * (span[1] - span[0]), **style)
    ax.axvline(float(found.mean), color=BLUE, linewidth=1.5, label="mean")
    if exact is not None:
        ax.axvline(exact, linestyle="--", color=BLACK, linewidth=1.1, label="exact")
    ax.set_xlim(*span)


def _draws(found: Prediction) -> np.ndarray:
    """The single draws that were kept, or the mean if none were; finite ones only."""
    draws = np.ravel(found.mean if found.samples is None else found.samples).astype(float)
    return draws[np.isfinite(draws)]
