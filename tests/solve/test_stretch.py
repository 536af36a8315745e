"""Stretches of time: when a problem may be asked for in them, and what each of them asks."""

import dataclasses

import jax
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque
from epinn.solve import stretch


def oscillator(end=20.0, **more):
    return epinn.Problem(
        domain=epinn.Box(t=(0, end)),
        equation=lambda u: u.tt + u,
        initial=[epinn.Initial(1.0), epinn.Initial(0.0, order=1)],
        **more,
    )


def begun_on(face):
    """An equation of which a value is known at one end of time."""
    return epinn.Problem(domain=epinn.Box(t=(0, 2)), equation=lambda u: u.t + u, boundary=epinn.Dirichlet(1.0, on=face))


MARCHES = {
    "begins": (oscillator(), True),
    "unknown": (dataclasses.replace(oscillator(), equation=lambda u, k: u.tt + k * u, unknowns={"k": 1.0}), False),
    "measured": (oscillator(data=epinn.Data([1.0, 2.0], [0.5, -0.4], sigma=0.1)), False),
    "says how it ends": (oscillator(boundary=epinn.Dirichlet(0.4, on="t=20")), False),
    "says so by a face": (begun_on("t=0"), True),
    "says so by the first end": (begun_on("t=min"), True),
    "says how it ends, by the last end": (begun_on("t=max"), False),
    "repeats itself": (oscillator(extra=epinn.Periodic("t")), False),
    "no time": (epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx, boundary=epinn.Dirichlet(0.0)), False),
    "broken": (epinn.Problem(domain=epinn.Box(t=(0, 1, 2)), equation=lambda u: u.t, initial=epinn.Initial(0.0)), False),
}


@pytest.mark.parametrize("name", MARCHES)
def test_only_what_begins_and_is_exact_is_marched(name):
    problem, expected = MARCHES[name]
    assert stretch.can_march(problem, {}) is expected


def test_a_jump_in_time_is_where_a_window_ends_and_one_in_space_needs_zones():
    problem = oscillator()
    assert stretch.can_march(problem, {"t": (10.0,)})
    assert not stretch.can_march(problem, {"x": (0.5,)})


def test_what_begins_on_a_face_begins_there_in_the_first_window_alone():
    problem = begun_on("t=min")
    scales = epinn.Base(hidden=(4,)).scales(problem).soft()
    second = stretch.Stretch([problem], [scales], 1.0, 2.0, jax.random.split(jax.random.key(0), 1))
    before = problem.solution(Opaque(lambda x: 0 * x[:1] + 0.25), scales.units)
    channels = second.channels(jax.tree.map(lambda leaf: leaf[None], before))
    (handed,) = [channel for channel in channels if channel.kind == "initial"]
    assert handed.name == "boundary"
    value = handed.target * handed.size + scales.units.offset
    assert float(value[0, 0, 0]) == pytest.approx(float(before(np.ones((1, 1)))[0, 0]))
