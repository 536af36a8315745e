"""What to do about a fit that has not found the solution, from what was seen of it."""

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..derivatives.network import Solution
from ..problem.channel import Channel, residuals
from ..problem.domain import Box
from ..problem.precision import Exact
from ..problem.problem import Problem
from ..problem.region import Domain
from .diagnosis import Readings, diagnose
from .misfit import LOST, NOT_FOUND, SOLVED, Misfit

FEW = 0.05  # of the points,
MUCH = 0.6  # with so much of the squared residuals, are a place
NARROW = 0.05  # of the domain: where they lie that close together along a coordinate, it is named
LINE = 1025  # points along which a jump is looked for
STEEP = 30.0  # times the usual step from one to the next
HALVINGS = 10  # of the distance, after which a step that is still there is a jump
DOUBT = " Measurements that contradict the equations look like that too: check sigma, units and signs."
SMOOTHER = "let it rise over a few percent of the domain"
BETWEEN = 3.0  # times the residuals at the points of the fit: it has learned its points, not the equation


def cures(
    problem: Problem,
    channels: Sequence[Channel],
    solution: Solution,
    left: Misfit,
    at_points: Misfit,
    seed: int,
    longer: str = "",
) -> list[str]:
    """The most likely cause for each condition that is far from being met, and its cure: of one seed, at fresh points.

    `longer` says how to fit for longer, where the fit was still getting better when it had to end. Outliers are no reason to
    fit again: it met whatever can be met, and the verdict on a band names them.
    """
    rows = residuals(channels, solution)
    exact_hold = left.largest(seed) <= SOLVED
    doubt = DOUBT if any(channel.kind == "data" for channel in channels) else ""
    found = []
    for i, (channel, row) in enumerate(zip(channels, rows, strict=True)):
        is_exact = isinstance(channel.precision, Exact)
        place = _place(np.asarray(solution.outside(channel.points)), np.sum(np.asarray(row) ** 2, axis=1), problem.domain)
        if longer and (exact_hold or not place):
            found.append(f"{LOST}. It was still getting better when its steps were used up: take more, {longer}.")
        elif not is_exact and exact_hold:
            found.append(_of_measurements(channel, row, solution, problem, place))
        elif channel.kind == "equation" and (jump := _jump(channel, solution, problem.domain)):
            found.append(
                f"{LOST}. A coefficient or a source jumps at {jump}, where a smooth network cannot bend: "
                f"{_cure_of_a_jump(problem.domain, jump)}."
            )
        elif is_exact and left.rms[seed, i] > BETWEEN * at_points.rms[seed, i]:
            near = f", above all near {place}" if place else ""
            found.append(
                f"{LOST}. It holds at the points of the fit and not between them{near}: take more, Points(collocation=...)."
            )
        elif place and channel.kind == "equation":
            found.append(
                f"{LOST}. Most of it is missed near {place}: if something jumps there, {_at_a_jump(problem.domain, place)}."
            )
        elif problem.initial:
            found.append(
                f"{LOST}. It may be too long a time: try a shorter one first, or a larger network, Base(hidden=...).{doubt}"
            )
        else:
            found.append(f"{NOT_FOUND}{doubt}")
    return found


def _of_measurements(channel: Channel, row: Array, solution: Solution, problem: Problem, place: str) -> str:
    """Why measurements are missed although all else holds; nothing if it is because of outliers."""
    points = solution.outside(channel.points)
    for finding in diagnose([Readings.of(channel, row, points, problem.domain.coordinates)]):
        if finding.kind == "outliers":
            return ""
        return f"all else holds, and {finding.said}. {finding.advice} Wrong units or signs do so too."
    return (
        f"{LOST}. All else holds, so the measurements contradict the equations: look at sigma, at units and signs, and "
        f"for outliers{f' near {place}' if place else ''}."
    )


def _place(points: np.ndarray, squares: np.ndarray, domain: Domain) -> str:
    """Where most of the squared residuals are, if that is one place: "x = 400"."""
    number = max(2, int(np.ceil(FEW * len(points))))
    if len(points) < 4 * number or not np.sum(squares) > 0:
        return ""
    worst = np.argsort(squares)[-number:]
    if np.sum(squares[worst]) < MUCH * np.sum(squares):
        return ""
    extent = np.subtract(domain.upper, domain.lower)
    center, spread = np.median(points[worst], axis=0), np.std(points[worst], axis=0) / extent
    named = [
        f"{name} = {value:.3g}" for name, value, wide in zip(domain.coordinates, center, spread, strict=True) if wide < NARROW
    ]
    return ", ".join(named)


def _jump(channel: Channel, solution: Solution, domain: Domain) -> str:
    """Where an equation jumps although the fields are smooth: "x = 400".

    Its residual is followed along each coordinate, through the middle of the domain; a step that stays as large when the points
    come closer and closer is a jump.
    """
    elsewhere = channel.partner is not None or channel.over is not None
    if channel.given or elsewhere or not isinstance(domain, Box):  # lines would leave a shape
        return ""
    middle = np.median(np.asarray(channel.points), axis=0)

    def along(axis: int, places: np.ndarray) -> np.ndarray:
        points = np.tile(middle, (len(places), 1))
        points[:, axis] = places
        moved = dataclasses.replace(
            channel,
            points=jnp.asarray(points),
            target=jnp.zeros((len(places), channel.target.shape[1])),
            size=None if channel.size is None else jnp.tile(channel.size[:1], (len(places), 1)),
        )
        return np.asarray(residuals((moved,), solution)[0])

    for axis, name in enumerate(domain.coordinates):
        ends = np.asarray(channel.points)[:, axis]
        places = np.linspace(ends.min(), ends.max(), LINE)
        steps = np.linalg.norm(np.diff(along(axis, places), axis=0), axis=1)
        at = int(np.argmax(steps))
        if not steps[at] > STEEP * (np.median(steps) + 1e-30):
            continue
        low, high = places[at], places[at + 1]
        for _ in range(HALVINGS):
            half = (low + high) / 2
            left, right = np.linalg.norm(np.diff(along(axis, np.asarray([low, half, high])), axis=0), axis=1)
            low, high = (low, half) if left > right else (half, high)
        if max(left, right) > steps[at] / 2:
            outside = np.tile(middle, (1, 1))
            outside[0, axis] = (low + high) / 2
            return f"{name} = {float(np.asarray(solution.outside(jnp.asarray(outside)))[0, axis]):.4g}"
    return ""


def _cure_of_a_jump(domain: Domain, place: str) -> str:
    """What to do about a jump that was not dealt with: along no straight edge, or one of too many."""
    said = f"say so, {_broken(domain, place)}, and write fluxes as (h.x * K).x"
    return said if domain.dimension == 1 else f"{said}; if the edge is curved, {SMOOTHER}"


def _at_a_jump(domain: Domain, place: str) -> str:
    """What to do about one that is only a guess."""
    return f"say so, {_broken(domain, place)}" if isinstance(domain, Box) else SMOOTHER


def _broken(domain: Domain, place: str) -> str:
    """How to write the domain with a break at a place."""
    name, value = place.split(", ", maxsplit=1)[0].split(" = ")
    return repr(domain.broken({name: (float(value),)}))
