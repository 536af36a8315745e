"""The error of a network, estimated from its residuals alone, beside its true error."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import trainable
from epinn.posterior.own_error import Corrected, own_errors

pytestmark = pytest.mark.usefixtures("quick_compile")

POOR = epinn.Base(hidden=(16, 16), epochs=400, newton=0, restarts=0)
GRID = np.linspace(0, 2, 101)
KEYS = jax.random.split(jax.random.key(0), 1)


def beam(value=0.0, unit=1.0, **options):
    """u'' = -sin(3 x) with given ends, in any unit."""
    return epinn.Problem(
        domain=epinn.Box(x=(0, 2)),
        equation=lambda u, p: u.xx + unit * jnp.sin(3 * p.x),
        boundary=epinn.Dirichlet(value, **options),
        exact=lambda p: value + unit * (jnp.sin(3 * p.x) - p.x / 2 * jnp.sin(6.0)) / 9,
    )


def truth(problem):
    return np.asarray(problem.exact_at(GRID[:, None]))[:, 0]


@pytest.fixture(scope="module", params=[True, False], ids=["hard", "soft"])
def poor(request):
    """A network that was hardly trained, with ends by construction and without."""
    problem = beam(3.0, 10.0, hard=request.param)
    return problem, epinn.fit(problem, key=0, base=POOR)


def with_amplitude(pinn, error, amplitude):
    network = dataclasses.replace(error.network, amplitude=jnp.asarray(float(amplitude)))
    return np.asarray(dataclasses.replace(pinn.solution, network=network)(GRID[:, None]))[:, 0]


def test_the_estimate_is_the_true_error(poor):
    problem, pinn = poor
    (error,) = own_errors([pinn], KEYS)
    found = with_amplitude(pinn, error, 1) - with_amplitude(pinn, error, 0)
    missing = truth(problem) - np.asarray(pinn(GRID))[:, 0]
    assert float(error.extent.left) < 0.05
    assert np.corrcoef(found, missing)[0, 1] > 0.99
    assert np.std(missing - found) < 0.1 * np.std(missing)


def test_a_network_says_what_it_said_before_until_its_error_is_added(poor):
    _, pinn = poor
    (error,) = own_errors([pinn], KEYS)
    assert isinstance(error.network, Corrected)
    np.testing.assert_array_equal(with_amplitude(pinn, error, 0), np.asarray(pinn(GRID))[:, 0])


def test_given_values_stay(poor):
    _, pinn = poor
    if not pinn.by_construction:
        pytest.skip("a soft condition may be off, and the error says by how much")
    (error,) = own_errors([pinn], KEYS)
    change = with_amplitude(pinn, error, 1) - with_amplitude(pinn, error, 0)
    assert np.max(np.abs(change[[0, -1]])) < 1e-5 * np.max(np.abs(change))


def test_the_band_of_a_poor_network_is_as_wide_as_its_error(poor):
    problem, pinn = poor
    for method in ("laplace", "epinet"):
        seen = epinn.attach(pinn, problem, method, key=1).predict(GRID, draws=2000)
        error = np.sqrt(np.mean((seen.mean - truth(problem)) ** 2))
        assert 0.4 < error / np.sqrt(np.mean(seen.std**2)) < 1.2


def test_what_a_unit_is_does_not_matter():
    relative = []
    for unit in (1e-6, 1e6):
        problem = beam(0.0, unit)
        pinn = epinn.fit(problem, key=0, base=POOR)
        (error,) = own_errors([pinn], KEYS)
        relative.append((with_amplitude(pinn, error, 1) - with_amplitude(pinn, error, 0)) / unit)
    np.testing.assert_allclose(relative[0], relative[1], rtol=0.01, atol=1e-3 * np.max(np.abs(relative[0])))


def test_only_the_amplitude_is_a_further_parameter(poor):
    _, pinn = poor
    (error,) = own_errors([pinn], KEYS)
    before, after = (
        sum(leaf.size for leaf in jax.tree.leaves(trainable(tree)[0])) for tree in (pinn.solution.network, error.network)
    )
    assert after == before + 1


def test_the_error_of_a_network_lies_outside_what_its_weights_can_do():
    """Gauss-Newton has removed all that they can: its own step says nothing more, and yet there is an error, which is found."""
    problem = beam(0.0)
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(4,), epochs=200, newton=200, restarts=0, stages=1))
    (error,) = own_errors([pinn], KEYS)
    found = with_amplitude(pinn, error, 1) - with_amplitude(pinn, error, 0)
    missing = truth(problem) - np.asarray(pinn(GRID))[:, 0]
    assert np.corrcoef(found, missing)[0, 1] > 0.98
    without = epinn.attach(pinn, problem, "laplace", key=1, settings={"own_error": False}).predict(GRID, draws=500)
    with_it = epinn.attach(pinn, problem, "laplace", key=1).predict(GRID, draws=500)
    ratios = [np.sqrt(np.mean(missing**2) / np.mean(band.std**2)) for band in (without, with_it)]
    assert 0.4 < ratios[1] < 1.2
    assert abs(np.log(ratios[1])) < abs(np.log(ratios[0])) + 0.5


def test_noise_and_stated_tolerances_have_their_own_band():
    x = np.linspace(0.2, 1.8, 5)
    base = dataclasses.replace(POOR, epochs=1)
    noisy = dataclasses.replace(beam(), data=epinn.Data(x, np.zeros(5), sigma=0.1))
    stated = beam(tolerance=1e-3, hard=False)
    for problem in (noisy, stated):
        assert own_errors([epinn.fit(problem, key=0, base=base)], KEYS) is None


def test_a_saved_band_has_its_error(poor, tmp_path):
    problem, pinn = poor
    band = epinn.attach(pinn, problem, "laplace", key=1)
    band.save(tmp_path / "band.safetensors")
    again = epinn.load(tmp_path / "band.safetensors", problem)
    np.testing.assert_array_equal(again.predict(GRID, draws=100).std, band.predict(GRID, draws=100).std)
