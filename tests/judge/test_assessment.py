"""What is gathered about a band before it is judged."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.judge.assessment import implied_errors, is_zero, where_nothing_is_asked
from epinn.judge.evaluation import Evaluation
from epinn.posterior.statistics import Prediction
from epinn.solve.config import create_solutions
from epinn.solve.pinn import Pinn
from epinn.solve.seeds import unstack

pytestmark = pytest.mark.usefixtures("quick_compile")

N = 50


def flow(**more):
    """Two fields of which the second is zero."""
    return epinn.Problem(
        domain=epinn.Box(x=(0, 2)),
        fields=("u", "v"),
        equation=[lambda u: u.xx + 2.0, lambda v: v.xx],
        boundary=[epinn.Dirichlet(0.0, field="u"), epinn.Dirichlet(0.0, field="v")],
        **more,
    )


def implied(problem, std, *, keeps_units=False, **settings):
    base = epinn.Base(hidden=(4,), **settings)
    scales = None if keeps_units else base.scales(problem)
    (solution,) = unstack(create_solutions(base, [problem], jax.random.split(jax.random.key(0), 1), [scales]), 1)
    pinn = Pinn(solution, problem, base.channels(problem, 0, scales))
    x = np.linspace(0, 2, N)
    mean = np.stack([x * (2 - x), 0 * x], axis=1)
    seen = Evaluation(problem, "m", x[:, None], (N,), Prediction(mean, np.full((N, 2), std)), None, {}, {}, 0.0)
    return implied_errors(pinn, seen)


@pytest.mark.parametrize("keeps_units", [False, True])
def test_an_error_counts_in_parts_of_how_much_a_field_varies(keeps_units):
    found = implied(flow(), 1e-4, keeps_units=keeps_units)
    assert found["u"] == pytest.approx(1e-4 / 0.3, rel=0.8)
    assert found["v"] < 0.1  # a field that is zero is not lost


def test_where_there_is_noise_a_wide_band_is_what_it_should_be():
    data = epinn.Data(np.linspace(0.1, 1.9, 5), np.zeros(5), sigma=0.1, field="u")
    assert implied(flow(data=data), 0.3) == {}


def test_a_tolerance_that_the_user_gave_may_make_a_band_wide():
    assert implied(flow(), 0.3)["u"] > 0.1
    assert implied(flow(), 0.3, tolerance=0.2) == {}


def test_corners_at_which_values_contradict_each_other_are_named():
    def plate(sides):
        return epinn.Problem(
            domain=epinn.Box(x=(0, 2), y=(0, 1)),
            equation=lambda u: u.xx + u.yy,
            boundary=[epinn.Dirichlet(373.0, on="y=1"), epinn.Dirichlet(sides, on="x, y=0")],
        )

    base = epinn.Base(hidden=(4,))
    for sides, said in ((293.0, "next to (x = 0, y = 1) and (x = 2, y = 1) given values"), (373.0, "")):
        problem = plate(sides)
        scales = base.scales(problem)
        (solution,) = unstack(create_solutions(base, [problem], jax.random.split(jax.random.key(0), 1), [scales]), 1)
        found = where_nothing_is_asked(Pinn(solution, problem, base.channels(problem, 0, scales)))
        assert found.startswith(said)
        assert bool(found) == bool(said)
    scales = base.scales(plate(293.0)).with_directions()
    (solution,) = unstack(create_solutions(base, [plate(293.0)], jax.random.split(jax.random.key(0), 1), [scales]), 1)
    assert not where_nothing_is_asked(Pinn(solution, plate(293.0), base.channels(plate(293.0), 0, scales)))  # it is asked there


def called_zero(problem, value):
    base = epinn.Base(hidden=(4,))
    scales = base.scales(problem)
    (solution,) = unstack(create_solutions(base, [problem], jax.random.split(jax.random.key(0), 1), [scales]), 1)
    pinn = Pinn(solution, problem, base.channels(problem, 0, scales))
    mean = np.full((N, 1), value) * float(solution.units.scale[0])
    grid = np.linspace(0, 1, N)[:, None]
    return is_zero(pinn, Evaluation(problem, "m", grid, (N,), Prediction(mean, 0 * mean), None, {}, {}, 0.0))


def test_only_what_meets_the_equations_is_called_zero():
    """A column may buckle or not. What a source makes that oscillates is small, and is not zero."""
    column = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx + 20 * jnp.sin(u), boundary=epinn.Dirichlet(0.0, hard=False)
    )
    source = epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u, x: u.xx + (20 * np.pi) ** 2 * jnp.sin(20 * np.pi * x),
        boundary=epinn.Dirichlet(0.0, hard=False),
    )
    assert called_zero(column, 1e-6)
    assert not called_zero(column, 0.5)
    assert not called_zero(source, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "word"), [(2, "not checked"), (12, "trustworthy")])
def test_two_readings_do_not_settle_two_unknowns_and_a_beginning(number, word):
    """What decides then is that a network prefers fields that change little, and the rate was said to be 9 standard deviations
    below the true one."""
    times = np.linspace(1, 4, number)
    noise = 0.02 * np.random.default_rng(0).normal(size=number)
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 6)),
        equation=lambda u, k, c: u.t + k * (u - c),
        unknowns={"k": 1.0, "c": 1.0},
        data=epinn.Data(times, 2 + 5 * np.exp(-0.5 * times) + noise, sigma=0.02),
    )
    band = epinn.attach(epinn.fit(problem, key=0), method="laplace", key=1)
    assert band.verdict.word == word
    assert ("rests on" in str(band.verdict)) == (word == "not checked")
