"""Advice that names the cause."""

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque
from epinn.solve.advice import cures
from epinn.solve.misfit import Misfit
from epinn.solve.seeds import stack

pytestmark = pytest.mark.usefixtures("quick_compile")


def advice(problem, function, fitted_at=None, longer=""):
    """What is said of a solution, the first condition first; `fitted_at` are the points that it was trained at."""
    solution, channels = problem.solution(Opaque(function)), problem.channels(0)
    left = Misfit.of(stack([channels]), stack([solution]))
    at_points = left if fitted_at is None else Misfit.of(stack([fitted_at.channels(0)]), stack([solution]))
    return cures(problem, channels, solution, left, at_points, 0, longer)


def test_a_kink_is_named_with_its_place_and_its_cure():
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1000)), equation=lambda u: u.xx, boundary=epinn.Dirichlet(0.0))
    kink = lambda x: jnp.sqrt((x - 400) ** 2 + 25)  # noqa: E731  # a bend within a few metres
    text = advice(problem, kink)[0]
    assert "near x = 40" in text or "near x = 39" in text
    assert "Box(x=(0, " in text


def test_a_coefficient_that_jumps_is_found_where_it_does():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1000), y=(0, 1)),
        equation=lambda u, x: (u.x * jnp.where(x < 400, 8.6, 1.2)).x + u.yy,
        boundary=epinn.Dirichlet(0.0),
    )
    text = advice(problem, lambda x: jnp.sin(x[:1] / 200) * (1 + x[1:]))[0]
    assert "jumps at x = 400" in text
    assert "Box(x=(0, 400, 1000), y=(0, 1))" in text


def test_points_that_were_learned_by_heart_are_recognised():
    coarse = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x, points=epinn.Points(collocation=11))
    wiggles = lambda x: 0.01 * jnp.cos(10 * jnp.pi * x)  # noqa: E731  # flat at all points of the grid, and steep between them
    assert "between them" in advice(coarse.with_points(collocation=200), wiggles, coarse)[0]


def test_measurements_that_contradict_the_equation_are_told_so():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x, data=epinn.Data(np.linspace(0, 1, 20), np.full(20, 3.0), sigma=0.1)
    )
    assert "deny the equation all along x, where 20 of 20 residuals have one sign" in advice(problem, lambda x: 0 * x)[1]


def test_a_long_time_is_suspected_where_nothing_else_is():
    problem = epinn.Problem(domain=epinn.Box(t=(0, 100)), equation=lambda u: u.t + u, initial=epinn.Initial(1.0))
    assert "too long a time" in advice(problem, lambda t: 1 + 0 * t)[0]


def test_a_fit_that_was_cut_short_is_told_to_go_on_rather_than_that_the_data_are_wrong():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x, data=epinn.Data(np.linspace(0, 1, 20), np.full(20, 3.0), sigma=0.1)
    )
    text = advice(problem, lambda x: 0 * x, longer="Base(newton=3000)")[1]
    assert "still getting better" in text
    assert "contradict" not in text


def test_how_long_that_takes_is_said():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.xx + 400 * jnp.sin(20 * u) + u**3,
        boundary=epinn.Dirichlet(lambda x: 1 + 2 * x),
        points=epinn.Points(collocation=40),
    )
    with pytest.warns(epinn.EpinnWarning, match=r"take more, Base\(newton=30, newton_work=.*\), which may take \d+ s"):
        epinn.fit(problem, base=epinn.Base(hidden=(8,), epochs=1, newton=3, restarts=0))
