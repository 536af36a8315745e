"""Whether other values of the unknowns explain the measurements as well is found by further starts."""

import dataclasses
import math

import numpy as np
import pytest

import epinn
from epinn.solve.evidence import spread_of_unknowns
from epinn.solve.explanations import Explanation, Modes
from epinn.solve.prior import bayesian_prior
from epinn.solve.seeds import stack
from epinn.solve.starts import FACTOR, _begin, _mirrored

SMALL = epinn.Base(hidden=(8, 8), epochs=300, newton=150, restarts=0)
T = np.linspace(0.1, 2, 12)
DECAY = np.exp(-T) + 0.02 * np.random.default_rng(0).normal(size=T.size)
POSITIVE = epinn.Unknown(guess=0.5, positive=True)


def decaying(equation, **changed):
    given = {
        "domain": epinn.Box(t=(0, 2)),
        "equation": equation,
        "initial": 1.0,
        "data": epinn.Data(T, DECAY, sigma=0.02),
        "unknowns": {"k": epinn.Unknown(guess=0.5)},
    }
    return epinn.Problem(**given | changed)


def squared(u, k):
    return u.t + k**2 * u


def test_a_rate_that_is_a_square_has_two_signs():
    problem = decaying(squared)
    pinn = epinn.fit(problem, base=SMALL, key=0)
    (other,) = pinn.modes.others
    found = float(pinn.solution.unknowns["k"])
    assert found == pytest.approx(1, abs=0.05)
    assert other.unknowns["k"] == pytest.approx(-found, abs=0.02)
    assert abs(other.worse_by) < 1
    assert pinn.modes.starts == pinn.modes.same + other.starts
    verdict = epinn.attach(pinn, problem).verdict
    assert verdict.word == "ambiguous"
    assert "k = -" in verdict.why[0]
    assert "prior=epinn.Normal" in verdict.advice[0]


@pytest.mark.slow
def test_what_the_user_states_tells_explanations_apart():
    problem = decaying(squared, unknowns={"k": epinn.Unknown(guess=0.5, prior=epinn.Normal(1.0, 0.2))})
    pinn = epinn.fit(problem, base=SMALL, key=0)
    assert pinn.modes.starts
    assert not pinn.modes.others


@pytest.mark.slow
def test_what_explains_clearly_better_takes_the_place_of_the_fit():
    """The search begins at a sign that the prior makes unlikely, and stays there."""
    unlikely = {"k": epinn.Unknown(guess=-0.8, prior=epinn.Normal(1.0, 0.2))}
    first = epinn.fit(decaying(squared, unknowns=unlikely), base=dataclasses.replace(SMALL, starts=0), key=0)
    pinn = epinn.fit(decaying(squared, unknowns=unlikely), base=dataclasses.replace(SMALL, starts=1), key=0)
    assert float(first.solution.unknowns["k"]) == pytest.approx(-1, abs=0.1)
    assert float(pinn.solution.unknowns["k"]) == pytest.approx(1, abs=0.1)
    assert pinn.modes == Modes(1, 1)
    assert not pinn.warnings


@pytest.mark.slow
def test_one_explanation_is_found_again_by_all_starts():
    problem = decaying(lambda u, k: u.t + k * u, unknowns={"k": POSITIVE})
    pinn = epinn.fit(problem, base=dataclasses.replace(SMALL, starts=3), key=0)
    assert pinn.modes == Modes(3, 3)
    verdict = epinn.attach(pinn, problem).verdict
    assert verdict.word == "trustworthy"
    assert "the same unknowns from 3 further starts" in verdict.why


@pytest.mark.slow
def test_two_rates_may_change_places():
    """Flip-flop kinetics: of what is swallowed only its concentration in the blood is measured."""
    ka, ke, volume, dose = 1.1, 0.17, 35.0, 300.0
    t = np.array([0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24])
    exact = dose / volume * ka / (ka - ke) * (np.exp(-ke * t) - np.exp(-ka * t))
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 24)),
        fields=("G", "C"),
        equation={"gut": lambda G, ka: G.t + ka * G, "blood": lambda G, C, ka, ke, V: C.t - ka * G / V + ke * C},
        initial=[epinn.Initial(dose, field="G"), epinn.Initial(0.0, field="C")],
        data=epinn.Data(t, exact + 0.2 * np.random.default_rng(2).normal(size=t.size), sigma=0.2, field="C"),
        unknowns={"ka": POSITIVE, "ke": POSITIVE, "V": epinn.Unknown(guess=10.0, positive=True)},
    )
    pinn = epinn.fit(problem, key=0)
    (other,) = pinn.modes.others
    found = {name: float(value) for name, value in pinn.solution.unknowns.items()}
    assert list(other.unknowns) == ["ka", "ke", "V"]
    assert other.unknowns["ka"] == pytest.approx(found["ke"], rel=0.05)
    assert other.unknowns["ke"] == pytest.approx(found["ka"], rel=0.05)


@pytest.mark.slow
def test_seeds_look_together():
    problem = decaying(squared)
    pinns = epinn.fit_seeds([problem, problem], keys=[0, 1], base=dataclasses.replace(SMALL, starts=1))
    assert [pinn.modes.starts for pinn in pinns] == [1, 1]
    assert [len(pinn.modes.others) for pinn in pinns] == [1, 1]


@pytest.mark.parametrize("changed", [{"starts": 0}, {"newton": 20}, {"newton": 0}])
def test_nothing_is_looked_for_where_that_is_not_wanted_or_too_little_is_done(changed):
    assert epinn.fit(decaying(squared), base=dataclasses.replace(SMALL, epochs=20, **changed)).modes is None


def test_where_starts_begin():
    """First at what symmetries make of what was found, then around the guess and that in turn, or where the prior is."""
    unknowns = {
        "k": epinn.Unknown(guess=2.0),
        "a": epinn.Unknown(guess=0.5, positive=True),
        "b": epinn.Unknown(guess=0.6, positive=True),
        "c": epinn.Unknown(guess=50.0, positive=True, prior=epinn.Normal(40.0, 4.0)),
    }
    problem = decaying(lambda u, k, a, b, c: u.t + k * u, unknowns=unknowns)
    solution = epinn.fit(problem, base=epinn.Base(epochs=0, newton=0)).solution
    size = {name: float(solution.units.unknowns[name]) for name in unknowns}
    signs, swapped = _mirrored(problem, solution)
    assert signs == {"k": pytest.approx(-2.0 / size["k"])}
    assert {name: math.exp(raw) * size[name] for name, raw in swapped.items()} == pytest.approx({"a": 0.6, "b": 0.5}, rel=1e-5)
    begun = _begin(problem, solution, 2, dict.fromkeys(unknowns, 1.0))
    assert math.exp(begun["a"]) * size["a"] == pytest.approx(FACTOR * 0.5, rel=1e-5)
    assert math.exp(begun["c"]) * size["c"] == pytest.approx(44, rel=0.01)
    assert begun["k"] * size["k"] == pytest.approx(4.0, rel=1e-5)
    opposite = _begin(problem, solution, 3, dict.fromkeys(unknowns, 1.0))
    assert math.exp(opposite["a"]) * size["a"] == pytest.approx(0.5 / FACTOR, rel=1e-5)
    assert opposite["k"] * size["k"] == pytest.approx(0.0, abs=1e-5)


def test_the_spread_of_an_unknown_is_that_of_a_gaussian():
    """A straight line whose slope is the unknown."""
    x = np.linspace(-1, 1, 5)
    problem = epinn.Problem(
        domain=epinn.Box(x=(-1, 1)),
        equation=lambda u, k: u.x - k,
        data=epinn.Data(x, 0.5 * x, sigma=0.1),
        unknowns={"k": 0.3},
    ).with_points(collocation=4)
    base = epinn.Base(hidden=(), epochs=0, newton=0, dimensionless=False, tolerance=0.05)
    pinn = epinn.fit(problem, base=base)
    data = np.stack([x, np.ones(5), np.zeros(5)], axis=1) / 0.1
    equation = np.tile([1.0, 0.0, -1.0], (4, 1)) / 0.05
    precision = data.T @ data + equation.T @ equation + np.eye(3)
    prior = bayesian_prior([problem], stack([pinn.solution]), 1.0)
    found = spread_of_unknowns(pinn.channels, pinn.solution, prior)
    assert found == {"k": pytest.approx(np.linalg.inv(precision)[2, 2] ** 0.5, rel=1e-4)}


def test_what_was_found_is_plain_data():
    modes = Modes(3, 2, (Explanation({"k": -1.0}, 1, 0.5),))
    assert Modes.read(modes.plain()) == modes
    assert Modes.read(None) is None
