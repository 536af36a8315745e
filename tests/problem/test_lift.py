"""What can hold by construction, does: exactly, whatever the network is; and what cannot is left to the fit."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque
from epinn.problem.channel import residuals
from epinn.problem.lift import Lift
from epinn.problem.scales import Scales, alike
from epinn.solve.config import create_solutions

heat = epinn.Problem(
    domain=epinn.Box(x=(0, 1), t=(0, 1)),
    equation=lambda u: u.t - 0.1 * u.xx,
    boundary=epinn.Dirichlet(0.0),
    initial=epinn.Initial(lambda x: jnp.sin(np.pi * x)),
)
wave = dataclasses.replace(
    heat,
    domain=epinn.Box(x=(0, 2), t=(1, 4)),
    equation=lambda u: u.tt - u.xx,
    boundary=[
        epinn.Dirichlet(lambda t: 300 + 2 * jnp.cos(t - 1), on="x=0", name="left"),
        epinn.Dirichlet(302.0, on="x=2", name="right"),
    ],
    initial=[epinn.Initial(302.0), epinn.Initial(lambda x: x * (2 - x), order=1)],
)
plate = epinn.Problem(
    domain=epinn.Box(x=(0, 1), y=(-1, 1)),
    equation=lambda u: u.xx + u.yy,
    boundary=epinn.Dirichlet(lambda x, y: 5 + x**2 - y**2),
)
system = epinn.Problem(
    domain=epinn.Box(t=(0, 3)),
    fields=("a", "b"),
    equation=[lambda a, b: a.t - b, lambda a, b: b.t + a],
    initial=[epinn.Initial(2.0, field="a"), epinn.Initial(-1.0, field="b")],
)
robin = epinn.Problem(
    domain=epinn.Box(x=(0, 10)),
    equation=lambda u: u.xx - 1,
    boundary=[epinn.Robin(2.0, 0.0, 30.0, on="x=0"), epinn.Neumann(0.0, on="x=10")],
)
periodic = epinn.Problem(
    domain=epinn.Box(x=(-1, 1), t=(0, 1)),
    equation=lambda u: u.t + u.x,
    boundary=epinn.Periodic("x"),
    initial=epinn.Initial(lambda x: jnp.cos(np.pi * x)),
)

CASES = {
    "heat": (heat, {"boundary", "initial"}),
    "wave": (wave, {"left", "right", "initial", "initial of u.t"}),
    "plate": (plate, {"boundary"}),
    "system": (system, {"initial of a", "initial of b"}),
    "robin": (robin, {"boundary"}),
    "periodic": (periodic, {"periodic", "initial"}),
}


def met(problem, **options):
    scales = Scales.of(problem, **options)
    return set() if scales.lift is None else set(scales.lift.met)


@pytest.mark.parametrize("name", CASES)
def test_values_hold_whatever_the_network_is(name):
    problem, expected = CASES[name]
    scales = Scales.of(problem)
    assert set(scales.lift.met) == expected
    solution = jax.tree.map(
        lambda leaf: leaf[0], create_solutions(epinn.Base(), [problem], jax.random.split(jax.random.key(0), 1), [scales])
    )
    every = scales.soft().channels(problem, 0, elsewhere=True)
    left = {c.name: float(np.abs(row).max()) for c, row in zip(every, residuals(every, solution), strict=True)}
    assert all(left[name] < 3e-5 for name in expected)  # in parts of the size of their terms, in single precision
    assert all(left[name] > 1e-3 for name in set(left) - expected)
    assert {c.name for c in scales.channels(problem, 0)} == set(left) - expected


def with_initial(function):
    return dataclasses.replace(heat, initial=epinn.Initial(function))


TABLE = jnp.linspace(0, 1, 9)

KEPT = {
    "a kink": (with_initial(lambda x: jnp.minimum(x, 1 - x)), {"boundary"}),
    "a jump": (with_initial(lambda x: jnp.where(jnp.abs(x - 0.4) < 0.2, 1.0, 0.0)), {"boundary"}),
    "a table": (with_initial(lambda x: jnp.interp(x, TABLE, jnp.sin(np.pi * TABLE))), {"boundary"}),
    "corners that disagree": (with_initial(lambda x: 1 + x), {"boundary"}),
    "a slope that disagrees": (
        dataclasses.replace(wave, initial=[epinn.Initial(302.0), epinn.Initial(5.0, order=1)]),
        {"left", "right", "initial"},
    ),
    "ends that do not meet": (
        dataclasses.replace(periodic, initial=epinn.Initial(lambda x: x**2 * jnp.cos(np.pi * x))),
        {"periodic"},
    ),
    "a lid": (
        dataclasses.replace(plate, boundary=[epinn.Dirichlet(1.0, on="y=1"), epinn.Dirichlet(0.0, on="x, y=-1")]),
        set(),
    ),
    "a face with two values": (
        dataclasses.replace(plate, boundary=[epinn.Dirichlet(1.0, on="y=1", name="lid"), epinn.Dirichlet(0.0, name="all")]),
        set(),
    ),
    "noise": (dataclasses.replace(heat, data=epinn.Data([[0.5, 0.5]], [0.6], sigma=0.1)), set()),
    "a tolerance": (dataclasses.replace(heat, boundary=epinn.Dirichlet(0.0, tolerance=0.1)), {"initial"}),
    "refused": (dataclasses.replace(heat, boundary=epinn.Dirichlet(0.0, hard=False)), {"initial"}),
    "a narrow peak": (with_initial(lambda x: jnp.sin(np.pi * x) + jnp.exp(-(((x - 0.7123) / 5e-4) ** 2))), {"boundary"}),
    "a field that is positive": (dataclasses.replace(heat, positive="u"), set()),
    "too fast for one network": (dataclasses.replace(heat, equation=lambda u: u.t + 500 * u.x), {"boundary"}),
    "points of one's own": (
        dataclasses.replace(heat, boundary=epinn.Dirichlet([0.0, 0.0], points=[[0.0, 0.5], [1.0, 0.5]])),
        {"initial"},
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_cannot_hold_by_construction_is_left_to_the_fit(name):
    problem, expected = KEPT[name]
    assert met(problem) == expected


def test_nothing_is_hard_where_the_user_does_not_want_it():
    assert met(heat, hard=False) == set()
    assert epinn.Base(hard=False).scales(heat).lift is None


def test_units_do_not_matter():
    length, unit, offset = 1e-3, 1e4, 1e6
    rescaled = epinn.Problem(
        domain=epinn.Box(x=(0, length), t=(0, 1)),
        equation=lambda u: u.t - 0.1 * length**2 * u.xx,
        boundary=epinn.Dirichlet(offset),
        initial=epinn.Initial(lambda x: offset + unit * jnp.sin(np.pi * x / length)),
    )
    one, other = Scales.of(heat).lift, Scales.of(rescaled).lift
    assert one.met == other.met
    sizes = tuple(slice(n) for n in np.minimum(one.lift.shape, other.lift.shape))  # rounding decides what is left out
    assert np.allclose(one.lift[sizes], other.lift[sizes], atol=1e-5)


def test_a_network_meets_another_problem_only_if_its_values_are_the_same():
    scales = Scales.of(heat)
    network = scales.around(Opaque(lambda x: x[:1]))
    other = dataclasses.replace(
        heat, boundary=epinn.Dirichlet(1.0), initial=epinn.Initial(lambda x: 1 + jnp.sin(2 * np.pi * x))
    )
    assert Lift.of(network, scales.lift).met == scales.lift.met
    assert Lift.of(network, Scales.of(other).lift).met == ()
    assert Lift.of(network, None).met == ()


def test_seeds_share_sizes_or_have_nothing_by_construction():
    cases = [with_initial(lambda x: jnp.sin(np.pi * x)), with_initial(lambda x: jnp.sin(3 * np.pi * x))]
    one, other = alike([Scales.of(problem) for problem in cases])
    assert one.lift.lift.shape == other.lift.lift.shape
    softened = alike([Scales.of(cases[0]), Scales.of(KEPT["a kink"][0])])
    assert [scales.lift for scales in softened] == [None, None]
    assert alike([None]) == [None]


@pytest.mark.parametrize("hard", ["no", None, 2])
def test_hard_is_true_or_false(hard):
    condition = epinn.Dirichlet(0.0)
    object.__setattr__(condition, "hard", hard)  # as if it had been said: tests check types before that
    problem = dataclasses.replace(heat, boundary=condition)
    with pytest.raises(epinn.EpinnError, match="hard= of boundary must be True or False"):
        problem.channels(0)
