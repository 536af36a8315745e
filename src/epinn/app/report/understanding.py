"""What was understood of a problem, in lines of text, before anything is trained."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...derivatives.formula import Formula
from ...derivatives.operator import POINT, Operator
from ...judge.wording import significant
from ...problem.boundary import Boundary, Periodic, Robin
from ...problem.channel import Channel
from ...problem.condition import Condition
from ...problem.conditions import Constant, Data, Equation, Initial
from ...problem.corners import in_words as corners_in_words
from ...problem.corners import places_in_words
from ...problem.domain import Box
from ...problem.fans import places_of
from ...problem.precision import Exact, UnknownNoise
from ...problem.problem import Problem
from ...problem.region import TIME
from ...problem.scales import Scales
from ...problem.shorthand import Unknown
from ...problem.undefined import undefined
from ..plan.plan import Plan

Row = tuple[str, str]
MANY = 4  # places: more of them are told by their times
NOTHING = 0.01  # of a field's scale: an offset that is not worth telling


def understood(plan: Plan) -> list[Row]:
    """Domain, fields, conditions and how they hold, unknowns and measurements, one line each: what it is, and in words."""
    problem = plan.problems()[0]
    scales = plan.settings.base.scales(problem)
    where = "" if plan.source.spec == plan.source.name else f" ({plan.source.spec})"
    return [
        ("problem", f"{problem.name or plan.source.name}{where}"),
        *_domain(problem, scales),
        *_fields(problem, scales),
        *_conditions(problem, scales),
        *(("unknown", _unknown(name, unknown)) for name, unknown in problem.parameters.items()),
        *(("note", note) for note in plan.source.notes),
        *_notes(problem, scales),
    ]


def _domain(problem: Problem, scales: Scales | None) -> Iterator[Row]:
    domain = problem.domain
    if not isinstance(domain, Box):
        yield "domain", str(domain)
    for axis, name in enumerate(domain.coordinates):
        given = f", in zones that meet at {_listed(domain.breaks[axis])}" if domain.breaks[axis] else ""
        found = scales.breaks.get(name, ()) if scales is not None else ()
        jumps = f", in zones that meet at {_listed(found)}, where the equation jumps" if found else ""
        around = ", periodic" if name in problem.periodic else ""
        yield "domain", f"{name} from {domain.lower[axis]:g} to {domain.upper[axis]:g}{given}{jumps}{around}"


def _fields(problem: Problem, scales: Scales | None) -> Iterator[Row]:
    of = {str(own): own.of for own in problem.networks}
    for column, name in enumerate(problem.fields):
        coordinates = ", ".join(of.get(name) or problem.domain.coordinates)
        positive = ", positive" if name in problem.positive else ""
        scaled = ""
        if scales is not None:
            offset, scale = float(scales.units.offset[column]), float(scales.units.scale[column])
            around = "0" if abs(offset) < NOTHING * scale else significant(offset)
            scaled = "" if positive else f", expected within about {around} ± {significant(scale)}"
        yield "field", f"{name}({coordinates}){positive}{scaled}"


def _conditions(problem: Problem, scales: Scales | None) -> Iterator[Row]:
    """All conditions; those that are data with what was measured."""
    met = () if scales is None or scales.lift is None else scales.lift.met
    every = (*problem.equation, *problem.boundary, *problem.initial, *problem.data, *problem.extra)
    channels = {channel.name: channel for channel in (*problem.channels(0), *problem.held_out())}
    for condition in every:
        channel = channels[condition.label]
        held = "by construction" if condition.label in met else _precision(channel)
        number = len(channel.points)
        points = f"{number} {'reading' if isinstance(condition, Data) else 'point'}{'s' * (number > 1)}"
        yield condition.label, f"{_in_words(condition, problem, channel)}; {points}, {held}"


def _precision(channel: Channel) -> str:
    """How precisely a condition holds."""
    precision = channel.precision
    if isinstance(precision, Exact):
        return f"exact up to {significant(float(precision.sigma[0]))}" if precision.given else "exact"
    if isinstance(precision, UnknownNoise):
        return f"noise unknown, to be inferred{precision.distribution}"
    low, high = float(np.min(precision.sigma)), float(np.max(precision.sigma))
    spread = "" if low == high else f" to {significant(high)}"
    return f"sigma {significant(low)}{spread}{precision.distribution}"


def _in_words(condition: Condition, problem: Problem, channel: Channel) -> str:
    """What a condition says."""
    match condition:
        case Equation():
            return _operator(condition.operator, channel.operator) + _equals(condition.target)
        case Boundary():
            return f"{_operator(condition.operator, channel.operator)}{_equals(condition.target)} {_faces(condition.on)}"
        case Robin(a=a, b=b):
            u = problem.field_name(condition.field)
            slope = f"d{u}/dn"
            left = u if (a, b) == (1, 0) else slope if (a, b) == (0, 1) else f"{a:g} {u} + {b:g} {slope}"
            place = _faces(condition.on) if condition.points is None else "at your points"
            return f"{left} = {_target(condition.target)} {place}"
        case Initial():
            u = problem.field_name(condition.field) + ("." + TIME * condition.order if condition.order else "")
            begin = problem.domain.lower[problem.domain.axis(TIME)]
            return f"{u} = {_target(condition.target)} at {TIME} = {begin:g}"
        case Periodic():
            return f"{problem.field_name(condition.field)} is the same at both ends of {condition.along}"
        case Constant():
            return f"{condition.field} is the same everywhere"
        case Data():
            low, high = float(np.min(channel.target)), float(np.max(channel.target))
            of = problem.field_name(condition.field) if condition.operator is None else _operator(condition.operator, None)
            return f"{of} from {significant(low, 3)} to {significant(high, 3)}"
    return condition.label


def _operator(function: Any, recorded: Operator | None) -> str:
    """An operator as it was written; of a function in Python, what it depends on."""
    if isinstance(function, Formula):
        return function.text
    if recorded is None:
        return "an operator"
    coordinates = recorded.names.coordinates
    letters = [(field, "".join(n * k for n, k in zip(coordinates, order, strict=True))) for field, order in recorded.asked]
    asked = sorted(f"{field}.{along}" if along else field for field, along in letters)
    others = [name for name in recorded.arguments if name not in (*recorded.names.fields, *POINT)]
    return f"an operator of {', '.join([*asked, *others])}"


def _equals(target: Any) -> str:
    return "" if not callable(target) and np.ndim(target) == 0 and target == 0 else f" = {_target(target)}"


def _target(target: Any) -> str:
    if isinstance(target, Formula):
        return target.text
    if callable(target):
        return "a function"
    return f"{float(target):g}" if np.ndim(target) == 0 else f"{len(target)} values"


def _faces(on: str | None) -> str:
    return "on all faces in space" if on is None else f"on {on}"


def _unknown(name: str, unknown: Unknown) -> str:
    positive = ", positive" if unknown.positive else ""
    prior = unknown.prior
    known = "nothing else is known of it" if prior is None else f"known beforehand as {prior.mean:g} ± {prior.sd:g}"
    return f"{name}, searched from {unknown.guess:g}{positive}; {known}"


def _notes(problem: Problem, scales: Scales | None) -> Iterator[Row]:
    """What may surprise."""
    yield from () if scales is None else (("note", said) for said in _steep(problem, scales))
    for found in () if scales is None else undefined(problem, problem.channels(0), scales.units):
        yield "note", f"{found}, where a fit is likely to stop; multiply by what is zero there, or begin the domain beside it"
    if problem.unknowns and not problem.data:
        yield "note", "there are unknowns but no measurements; conditions alone have to tell them"


def _steep(problem: Problem, scales: Scales) -> Iterator[str]:
    """Where fields may be steep, and what is done about that."""
    at_corners = {frozenset(zip(corner.axes, corner.at, strict=True)) for corner in scales.corners}
    solved = "and it is solved up to there: the equation spreads that" if scales.fans else ""
    if at_corners:
        yield ", ".join(filter(None, [corners_in_words(scales.corners, problem.domain), solved]))
    others = [place for place in places_of(scales.fans) if frozenset(zip(*place, strict=True)) not in at_corners]
    if len(others) > MANY:
        times = _listed(sorted({time for _, (_, time) in others}))
        yield f"something is sudden at {TIME} = {times}, {solved}"
    elif others:
        yield f"something is sudden at {places_in_words(others, problem.domain)}, {solved}"
    if scales.events and not scales.fans:
        yield f"something is sudden at {TIME} = {_listed(scales.events)}: if time is solved in windows, one ends there"
    if scales.layers:
        names = dict.fromkeys(problem.domain.coordinates[layer.axes[0]] for layer in scales.layers)
        thinnest = min(layer.width * layer.half for layer in scales.layers)
        said = f"the equation may make layers as thin as {thinnest:.2g} at the walls along {', '.join(names)}"
        yield f"{said}; where nothing else finds the solution, a network is shown the distance from there"


def _listed(places: Sequence[float]) -> str:
    return ", ".join(f"{place:g}" for place in places)
