"""What a fit leaves of its conditions, against what their noise allows."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque
from epinn.solve import stages as fitting
from epinn.solve.misfit import Misfit
from epinn.solve.seeds import stack

pytestmark = pytest.mark.usefixtures("quick_compile")

QUICK = epinn.Base(hidden=(8, 8), epochs=300, learning_rate=1e-2, newton=40, restarts=0)


def wave(sigma=0.1, values=None, **changes):
    """u'' = -u between known ends, with measurements."""
    x = np.linspace(0.2, 2.8, 12)
    defaults = {
        "domain": epinn.Box(x=(0, 3)),
        "equation": lambda u: u.xx + u,
        "boundary": epinn.Dirichlet(jnp.sin),
        "data": epinn.Data(x, np.sin(x) if values is None else values, sigma=sigma),
        "points": epinn.Points(30),
    }
    return epinn.Problem(**defaults | changes)


def look(problem, function):
    solution = problem.solution(Opaque(function))
    channels = stack([problem.channels(0)])
    return Misfit.of(channels, stack([solution])), channels


def test_the_exact_solution_has_no_misfit():
    misfit, channels = look(wave(), jnp.sin)
    assert misfit.complaints(0, channels) == []
    np.testing.assert_allclose(misfit.rms, 0, atol=1e-5)
    np.testing.assert_allclose(misfit.allowed[0], [0.01, 0.01, 0.1], rtol=1e-5)


def test_root_mean_squares_are_those_of_the_residuals():
    misfit, _ = look(wave(), lambda x: x)  # u'' + u = x
    x = np.linspace(0, 3, 30)
    assert misfit.rms[0, 0] == pytest.approx(np.sqrt(np.mean(x**2)), rel=1e-4)
    assert misfit.rms_of_zero[0, 2] == pytest.approx(np.sqrt(np.mean(np.sin(np.linspace(0.2, 2.8, 12)) ** 2)), rel=1e-4)


@pytest.mark.parametrize(("missed", "says"), [(0.01, 0), (0.03, 1)])
def test_a_boundary_that_is_missed_by_a_few_percent_is_not_met(missed, says):
    """Seen with networks for Allen-Cahn and for a reaction: an initial value missed by 3% was made 50% of by the equation."""
    misfit, channels = look(wave(equation=()), lambda x: (1 + missed) * jnp.sin(x) + missed * jnp.cos(x))
    assert len(misfit.complaints(0, channels)) == says


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: 1.1 * jnp.sin(x), True),
        (lambda x: 0.1 * jnp.sin(x), False),  # a plateau, where the equation holds
        (lambda x: jnp.sin(x) + 0.3 * jnp.sin(5 * x) ** 2, False),  # near the measurements, and no solution
    ],
)
def test_a_fit_is_on_its_way_when_all_conditions_are_met_better_than_on_a_plateau(function, expected):
    assert look(wave(), function)[0].is_on_its_way(0) is expected


def test_a_condition_that_is_missed_is_named_with_what_it_allows():
    misfit, channels = look(wave(), lambda x: 0 * x + 3)
    text = misfit.complaints(0, channels)
    assert len(text) == 3
    assert "'boundary'" in text[1]
    assert "tolerance (0.01)" in text[1]
    assert "'data'" in text[2]
    assert "noise (0.1)" in text[2]
    assert "Base(restarts=...)" in text[2]


def test_measurements_within_their_noise_are_no_misfit():
    noise = 0.1 * np.random.default_rng(0).normal(size=12)
    x = np.linspace(0.2, 2.8, 12)
    misfit, channels = look(wave(values=np.sin(x) + noise), jnp.sin)
    assert misfit.complaints(0, channels) == []


def test_measurements_twice_as_far_as_their_noise_are_one():
    x = np.linspace(0.2, 2.8, 12)
    misfit, channels = look(wave(values=np.sin(x) + 0.2 * (-1.0) ** np.arange(12)), jnp.sin)
    (text,) = misfit.complaints(0, channels)
    assert "'data'" in text


def test_unknown_noise_allows_everything():
    x = np.linspace(0.2, 2.8, 12)
    misfit, channels = look(wave(sigma="unknown", values=np.sin(x) + 0.2 * (-1.0) ** np.arange(12)), jnp.sin)
    assert np.isinf(misfit.allowed[0, 2])
    assert misfit.complaints(0, channels) == []


def test_points_with_noise_of_their_own_count_in_its_units():
    x, sigma = np.linspace(0.2, 2.8, 12), np.r_[5.0, np.full(11, 0.01)]
    noise = sigma * np.random.default_rng(0).normal(size=12)
    misfit, channels = look(wave(sigma=sigma, values=np.sin(x) + noise), jnp.sin)
    assert misfit.complaints(0, channels) == []
    misfit, channels = look(wave(sigma=sigma, values=np.sin(x) + noise), lambda x: 0 * x)
    assert "'data'" in misfit.complaints(0, channels)[-1]


def test_what_is_not_a_number_is_a_misfit():
    misfit, channels = look(wave(), lambda x: x / 0)
    assert len(misfit.complaints(0, channels)) == 3


@pytest.mark.slow
def test_noise_that_nobody_knows_is_found_while_fitting():
    x = np.linspace(0.1, 2.9, 40)
    values = np.sin(4 * x) + 0.05 * np.random.default_rng(0).normal(size=40)
    problem = epinn.Problem(domain=epinn.Box(x=(0, 3)), equation=(), data=epinn.Data(x, values))
    pinn = epinn.fit(problem, base=dataclasses.replace(QUICK, hidden=(16, 16), epochs=200, newton=60))
    left = np.asarray(pinn(x))[:, 0] - values
    assert np.sqrt(np.mean(left**2)) < 0.1


def test_a_good_fit_has_no_warnings():
    assert epinn.fit(wave(), base=QUICK).warnings == []


@pytest.mark.slow
def test_a_fit_that_cannot_succeed_says_so():
    warnings = epinn.fit(wave(values=np.full(12, 5.0), sigma=0.01), base=QUICK).warnings
    assert warnings
    assert all("has not found the solution" in text for text in warnings)


@pytest.mark.slow
def test_a_seed_that_got_stuck_is_trained_anew_and_the_others_are_left_alone(monkeypatch):
    """The first attempt of seed 1 is ruined: only it is repeated, from other weights, and then it is well."""
    ruined = []
    fit = fitting.fit_once

    def sabotage(task, solution):
        fits = fit(task, solution)
        if not ruined:
            fits[1] = dataclasses.replace(fits[1], complaints=["stuck"], misfit=1e9)
        ruined.append((len(task.problems), bool(np.any(np.asarray(solution.network.biases[0])))))
        return fits

    base = dataclasses.replace(QUICK, restarts=3)
    alone = epinn.fit(wave(), key=0, base=base)
    monkeypatch.setattr(fitting, "fit_once", sabotage)
    both = epinn.fit_seeds([wave(), wave()], keys=[0, 1], base=base)
    assert ruined == [(2, False), (1, True)]  # the second from weights and biases drawn from the prior
    np.testing.assert_allclose(both[0]([[1.0]]), alone([[1.0]]), rtol=1e-4)
    assert both[1].warnings == []
    assert float(both[1]([[1.0]])[0, 0]) == pytest.approx(np.sin(1.0), abs=1e-2)


@pytest.mark.slow
def test_the_better_of_two_failures_is_kept():
    base = dataclasses.replace(QUICK, epochs=20, newton=0, restarts=1)
    problem = wave(values=np.full(12, 5.0), sigma=0.01)
    first = epinn.fit(problem, base=dataclasses.replace(base, restarts=0))
    best = epinn.fit(problem, base=base)
    totals = [Misfit.of(stack([p.channels]), stack([p.solution])).total[0] for p in (first, best)]
    assert totals[1] <= totals[0]
    assert best.warnings
