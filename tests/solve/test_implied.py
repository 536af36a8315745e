"""What the residuals of a fit imply for its fields."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque, Solution
from epinn.progress import Progress
from epinn.solve import stages
from epinn.solve.fit import fit_seeds
from epinn.solve.implied import implied_error
from epinn.solve.optimise.adam import Weights
from epinn.solve.stages import go_on
from epinn.solve.task import Fit, Task

pytestmark = pytest.mark.usefixtures("quick_compile")

RATE = 3.0
QUICK = epinn.Base(hidden=(16, 16), epochs=300, learning_rate=1e-2, newton=40, restarts=0)


@pytest.fixture(scope="module")
def growing():
    """u' = 3 u from 1 on, whose solution makes e^3 times as much of what is left of its initial value."""
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 1)),
        equation=lambda u: u.t - RATE * u,
        initial=epinn.Initial(1.0, hard=False),
        points=epinn.Points(40),
    )
    return epinn.fit(problem, key=0, base=QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("missed", [1e-3, 1e-2])
def test_an_initial_value_is_missed_by_as_much_as_the_equation_makes_of_it(growing, missed):
    tight = [channel.with_sigma(missed * (1e-3 if channel.kind == "equation" else 1.0)) for channel in growing.channels]
    t = np.linspace(0, 1, 201)
    initial = next(channel for channel in growing.channels if channel.kind == "initial")
    units = growing.solution.units
    sigma = missed * float(np.ravel(initial.size)[0])
    varies = max(float(np.std(np.exp(RATE * t))), float(units.scale[0]))
    expected = sigma * np.sqrt(np.mean(np.exp(2 * RATE * t))) / varies
    assert implied_error(tuple(tight), growing.solution, 100.0) == pytest.approx(expected, rel=0.1)


@pytest.mark.slow
def test_residuals_that_are_nothing_imply_nothing(growing):
    tight = tuple(channel.with_sigma(1e-7) for channel in growing.channels)
    assert implied_error(tight, growing.solution, 1.0) < 1e-3


def fit(**changes):
    solution = Solution(Opaque(jnp.sin))
    found = Fit(solution, (), [], np.zeros((0, 0)), 1.0, None, [], 1.0, 1e-4, regularised=False, stalled=False)
    return dataclasses.replace(found, **changes)


@pytest.fixture
def asked(monkeypatch):
    """What fits were asked to go on with; each leaves a tenth of the one before."""
    tightnesses = []

    def fit_once(task, solution):
        tightnesses.append(task.tightness)
        return [fit(misfit=0.1 ** len(tightnesses), seconds=2.0) for _ in task.problems]

    monkeypatch.setattr(stages, "fit_once", fit_once)
    return tightnesses


def task():
    problem = epinn.Problem(domain=epinn.Box(t=(0, 1)), equation=lambda u: u.t)
    return Task(epinn.Base(), [problem], (), (), None, jax.random.split(jax.random.key(0), 1), Weights(), Progress())


@pytest.mark.parametrize(
    ("found", "implied", "tightnesses"),
    [
        (fit(), 0.5, [0.1, 0.01]),  # it stays too much
        (fit(), 0.001, []),  # it is little enough
        (fit(stalled=True), 0.5, []),  # steps bring nothing any more
        (fit(largest=0.1), 0.5, []),  # conditions are not even met to some extent
    ],
)
def test_a_fit_goes_on_while_a_field_is_off_and_steps_bring_something(monkeypatch, asked, found, implied, tightnesses):
    monkeypatch.setattr(stages, "implied_error", lambda *_: implied)
    (after,) = go_on(task(), [found])
    np.testing.assert_allclose(asked, tightnesses)
    assert after.seconds == 1.0 + 2.0 * len(tightnesses)
    assert after.misfit == pytest.approx(0.1 ** len(tightnesses))


@pytest.mark.slow
def test_what_becomes_worse_is_not_kept(monkeypatch, asked):
    monkeypatch.setattr(stages, "implied_error", lambda *_: 0.5)
    (after,) = go_on(task(), [fit(misfit=1e-9)])
    assert after.misfit == 1e-9


@pytest.mark.slow
def test_an_equation_that_amplifies_is_solved_tighter_than_one_that_does_not():
    """u' = 8 (u - cos t) - sin t from 1 on, whose solution is cos t: an error of 1e-4 would grow to 0.3."""
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 1)),
        equation=lambda u, t: u.t - 8 * (u - jnp.cos(t)) + jnp.sin(t),
        initial=epinn.Initial(1.0, hard=False),
    )
    (pinn,) = fit_seeds([problem], keys=[0])
    t = np.linspace(0, 1, 101)
    np.testing.assert_allclose(pinn(t)[:, 0], np.cos(t), atol=2e-2)
