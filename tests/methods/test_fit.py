"""Training from Python: what is refused before it, and what is said after it."""

import importlib
import warnings

import pytest

import epinn
from epinn.methods.method import Memory

pytestmark = pytest.mark.usefixtures("quick_compile")

MODULE = importlib.import_module("epinn.methods.fit")  # the package has the function under this name
HARDLY = epinn.Base(hidden=(8,), epochs=1, newton=0, restarts=0, tolerance=1e-3)


@pytest.mark.parametrize(
    ("method", "part"),
    [
        (epinn.LaplaceMethod(samples=10**8), "smaller laplace.samples"),
        (epinn.HmcMethod(chains=10**8), "smaller hmc.samples or hmc.chains"),
        ("conformal", "at least 19 held-out measurements"),
        ("laplas", "did you mean 'laplace'"),
    ],
)
def test_what_the_method_cannot_do_is_refused_before_the_training(monkeypatch, method, part):
    monkeypatch.setattr(MODULE, "fit_seeds", lambda *_, **__: pytest.fail("it was trained"))
    with pytest.raises(epinn.InputError, match=part):
        epinn.fit(epinn.problems.poisson1d(0.1), method=method)


def test_a_matrix_that_does_not_fit_is_refused_before_the_training(monkeypatch):
    monkeypatch.setattr(MODULE, "fit_seeds", lambda *_, **__: pytest.fail("it was trained"))
    with epinn.limited_to(1e-3), pytest.raises(epinn.InputError, match="laplace"):
        epinn.fit(epinn.problems.poisson1d(0.1), method="laplace")


def test_a_pinn_before_a_larger_problem_is_refused_before_anything_is_computed(monkeypatch):
    pinn = epinn.fit(epinn.problems.poisson1d(0.1), base=HARDLY)
    monkeypatch.setattr("epinn.solve.pinn.estimated_channels", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(epinn.InputError, match="held-out"):
        epinn.attach(pinn, epinn.problems.poisson1d(0.2), "conformal")


def test_memory_that_is_kept_of_every_seed_counts_for_every_seed():
    memory = Memory(rows=3, parameters=5, kept_rows=1, kept_parameters=2)
    assert memory.bytes(10, 100) == 10 * 4 + 100 * 7
    assert memory.bytes(10, 100, seeds=3) == 10 * 6 + 100 * 11


@pytest.mark.slow
def test_a_network_that_is_no_solution_is_a_warning_for_python():
    with pytest.warns(epinn.EpinnWarning, match=r"not found the solution.*another key, more Base\(epochs=...\)") as caught:
        pinn = epinn.fit(epinn.problems.poisson1d(0.1), base=HARDLY)
    assert [str(warning.message) for warning in caught] == pinn.warnings
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert epinn.attach(pinn, method="laplace", settings={"samples": 4}).warnings == ()  # it was said before


@pytest.mark.slow
def test_chains_that_have_not_mixed_are_a_warning_too():
    pinn = epinn.fit(epinn.problems.poisson1d(0.1), base=HARDLY)
    few = {"step_size": 1e-6, "leapfrog": 1, "burn_in": 0, "samples": 10, "chains": 2, "precondition": False, "adapt": False}
    with pytest.warns(epinn.EpinnWarning, match=r"not mixed.*HmcMethod\(samples=...\)"):
        epinn.attach(pinn, method="hmc", settings=few)


def test_laplace_draws_as_many_changes_as_fit_into_memory():
    """Rather than refusing, after a fit in many windows say: what is drawn fewer times is a little less certain."""
    laplace, said = epinn.LaplaceMethod(), []

    class Listener(epinn.Progress):
        def note(self, text):
            said.append(text)

    problem = epinn.problems.poisson1d(0.1)
    pinn = epinn.fit(problem, key=0, base=HARDLY)
    assert laplace.number([pinn]) == 2_000
    assert epinn.LaplaceMethod(samples=50).number([pinn]) == 50
    with epinn.limited_to(2_000_000 / 2**30):
        number = laplace.number([pinn])
        assert 256 < number < 2_000
        band = epinn.attach(pinn, problem, "laplace", key=1, progress=Listener())
    assert band.predict([0.0]).draws == number
    assert f"{number} changes" in said[0]
