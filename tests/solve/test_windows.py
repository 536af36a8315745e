"""Time in windows: when, how they join, and that what could not be solved at once is."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.composed import Pieces
from epinn.derivatives.network import Opaque
from epinn.progress import Progress
from epinn.solve import windows
from epinn.solve.config import create_solutions
from epinn.solve.fit import fit_seeds
from epinn.solve.optimise.adam import Weights
from epinn.solve.pinn import scales_for
from epinn.solve.task import Account, Fit, Task

SMALL = epinn.Base(hidden=(16, 16), epochs=200, newton=30, stages=1)


def oscillator(end=20.0, **more):
    return epinn.Problem(
        domain=epinn.Box(t=(0, end)),
        equation=lambda u: u.tt + u,
        initial=[epinn.Initial(1.0), epinn.Initial(0.0, order=1)],
        **more,
    )


def fit_with(misfit, complaints=(), failure=None):
    nothing = oscillator().solution(Opaque(lambda x: x))
    return Fit(nothing, (), [], np.zeros((0, 0)), 1.0, failure, list(complaints), misfit, 0.02, False)


def test_windows_that_lead_nowhere_may_be_worse_than_all_time_at_once():
    at_once, whole, stuck = fit_with(1.0), fit_with(0.1), fit_with(5.0, ["no stretch of time was solved"])
    assert windows.nearer(at_once, whole).misfit == 0.1
    assert windows.nearer(at_once, whole).seconds == at_once.seconds + whole.seconds
    kept = windows.nearer(at_once, stuck)
    assert kept.misfit == 1.0
    assert "windows did not help" in kept.complaints[0]  # it has not found the solution either
    assert windows.nearer(fit_with(9.0), stuck).misfit == 5.0
    assert windows.nearer(fit_with(1.0, failure="diverged"), stuck).misfit == 5.0


@pytest.mark.slow
def test_a_force_that_is_switched_on_is_solved_in_windows():
    """The network is too small for all of it at once."""
    pushed = dataclasses.replace(oscillator(), equation=lambda u, t: u.tt + u - jnp.where(t > 7.3, 1.0, 0.0))
    (pinn,) = fit_seeds([pushed], keys=[0], base=SMALL)
    assert not pinn.warnings
    assert 7.3 in pinn.solution.network.windows
    t = np.linspace(0, 20, 400)
    exact = np.cos(t) + np.where(t > 7.3, 1 - np.cos(t - 7.3), 0.0)
    np.testing.assert_allclose(np.asarray(pinn(t))[:, 0], exact, atol=0.04)


@pytest.fixture(scope="module")
def marched():
    """Two seeds over several periods, more than the small network can do at once."""
    return fit_seeds([oscillator(), oscillator()], keys=[0, 1], base=SMALL)


@pytest.mark.slow
def test_many_periods_are_solved(marched):
    t = np.linspace(0, 20, 400)
    for pinn in marched:
        assert isinstance(pinn.solution.network, Pieces)
        assert not pinn.warnings
        np.testing.assert_allclose(np.asarray(pinn(t))[:, 0], np.cos(t), atol=0.02)


@pytest.mark.slow
def test_windows_are_joined_by_conditions(marched):
    pinn = marched[0]
    joints = [channel for channel in pinn.channels if channel.name.startswith("joint at t=")]
    assert len(joints) == len(pinn.solution.network.windows) > 0
    assert all(channel.target.shape[1] == 2 for channel in joints)  # u and u.t


@pytest.mark.slow
def test_a_band_covers_all_windows(marched):
    band = epinn.attach(marched[0], method="laplace", settings={"samples": 200}, key=1)
    t = np.linspace(0, 20, 50)
    found = band.predict(t)
    assert np.all(np.isfinite(found.std))
    assert np.mean(np.abs(np.ravel(found.mean) - np.cos(t)) < 3 * np.ravel(found.std)) > 0.9


@pytest.mark.slow
def test_untrained_networks_can_be_made_like_windowed_ones(marched):
    pinn = marched[0]
    scales = scales_for(pinn.solution, pinn.problem)
    fresh = create_solutions(pinn.base, [pinn.problem], jax.random.split(jax.random.key(0), 1), [scales])
    shapes = lambda tree: [leaf.shape for leaf in jax.tree.leaves(tree)]  # noqa: E731
    assert shapes(jax.tree.map(lambda leaf: leaf[0], fresh.network)) == shapes(pinn.solution.network)


@pytest.mark.slow
def test_a_windowed_network_comes_back_from_its_file(marched, tmp_path):
    from epinn.app.store.trees import load_tree, save_tree

    save_tree(marched[0].solution, tmp_path / "solution.safetensors")
    again = load_tree(tmp_path / "solution.safetensors")
    t = jnp.linspace(0, 20, 30)[:, None]
    np.testing.assert_array_equal(again(t), marched[0].solution(t))
    assert windows.windows_of(again) == windows.windows_of(marched[0].solution)


@pytest.mark.slow
def test_a_march_that_ends_early_says_how_far_it_came():
    """u = 1 / (1 - t) cannot be followed beyond t = 1."""
    blow_up = epinn.Problem(domain=epinn.Box(t=(0, 2)), equation=lambda u: u.t - u**2, initial=epinn.Initial(1.0))
    pinn = epinn.fit(blow_up, key=0, base=SMALL)
    assert any("time was solved to t = " in text for text in pinn.warnings)


@pytest.mark.parametrize("reached", [0.0, 5.0])
def test_work_that_is_used_up_is_told_with_how_to_have_more_done(reached):
    base, keys = dataclasses.replace(SMALL, newton_work=3e7), jax.random.split(jax.random.key(0), 1)
    task = Task(base, [oscillator()], (), (), None, keys, Weights(), Progress(), account=Account(-1.0))
    (said,) = windows._unfinished([windows.Window(0.0, 5.0, fit_with(1.0).solution)], reached, task)
    assert "Base(newton_work=3e+08)" in said
    assert f"t = {reached:.3g}" in said
    assert "however short" not in said  # nobody knows
