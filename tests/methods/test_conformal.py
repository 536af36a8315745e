"""Conformal bands: the guarantee, and what it needs."""

import numpy as np
import pytest

import epinn
from epinn.methods import attach_seeds, configured
from epinn.problem.precision import Exact
from epinn.solve.fit import fit_seeds

pytestmark = pytest.mark.usefixtures("quick_compile")

BASE = epinn.Base(hidden=(8,), epochs=50, newton=30, restarts=0)


def measured(rng, n, sigma=0.1, said=0.1, **options):
    """A line measured with noise `sigma`, of which the user says that it is `said`."""
    x = rng.uniform(0, 1, n)
    return epinn.Data(x, x + sigma * rng.normal(size=n), sigma=said, **options)


def line(*data, boundary=()):
    points = epinn.Points(collocation=8)
    return epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx, boundary=boundary, data=data, points=points)


def noisy(seed, said=0.1, held=39):
    rng = np.random.default_rng(seed)
    return line(measured(rng, 12, said=said), measured(rng, held, said=said, held_out=True))


@pytest.mark.slow
def test_it_takes_conditions_as_the_method_does_whose_band_it_is():
    pinn = epinn.fit(noisy(0), base=BASE)
    exact = next(channel for channel in pinn.channels if isinstance(channel.precision, Exact))
    plain, of_chains = (configured("conformal", {"of": name}).traits.reads(exact) for name in ("laplace", "hmc"))
    assert plain is exact
    assert float(of_chains.sigma[0]) == pytest.approx(max(float(exact.sigma[0]), 0.01))


@pytest.mark.slow
@pytest.mark.parametrize("said", [0.1, 0.02])
def test_new_measurements_are_inside_as_often_as_promised_even_if_the_noise_is_misjudged(said):
    problems = [noisy(seed, said=said) for seed in range(12)]
    pinns = fit_seeds(problems, keys=list(range(12)), base=BASE)
    inside = []
    for seed, posterior in enumerate(attach_seeds(pinns, "conformal", keys=list(range(12)))):
        rng = np.random.default_rng(100 + seed)
        x = rng.uniform(0, 1, 200)
        found = posterior.predict_measurement(x, draws=500)
        inside.append(np.mean(np.abs(x + 0.1 * rng.normal(size=200) - found.mean) <= 1.96 * found.std))
    assert 0.92 < np.mean(inside) < 0.99
    factors = posterior.diagnostics["factor"]
    assert factors == pytest.approx(0.1 / said, rel=0.4)


@pytest.mark.slow
def test_it_keeps_the_base_as_its_mean_and_scales_the_spread():
    pinn = epinn.fit(noisy(0, said=0.02), base=BASE)
    x = np.linspace(0, 1, 7)
    plain, scaled = (epinn.attach(pinn, method=name, key=1).predict(x, draws=20_000) for name in ("epinet", "conformal"))
    factor = epinn.attach(pinn, method="conformal", key=1).diagnostics["factor"]
    assert factor > 2
    np.testing.assert_allclose(scaled.std / plain.std, factor, rtol=0.05)
    np.testing.assert_allclose(scaled.mean, pinn(x)[:, 0], atol=0.1 * scaled.std.max())


@pytest.mark.slow
def test_too_few_measurements_are_refused_before_training():
    problem = noisy(0, held=18)
    with pytest.raises(epinn.InputError, match=r"at least 19 held-out measurements .* not 18.*held_out"):
        epinn.attach(epinn.fit(problem, base=BASE), method="conformal")


@pytest.mark.parametrize(("setting", "part"), [({"level": 0.2}, "level"), ({"of": "conformal"}, "another method")])
def test_settings_that_make_no_sense_are_refused(setting, part):
    with pytest.raises(epinn.InputError, match=part):
        epinn.methods.configured("conformal", setting)


def share_inside(posterior, rng, sigma):
    """How many new measurements with this noise are in the band."""
    x = rng.uniform(0, 1, 200)
    found = posterior.predict_measurement(x, draws=500)
    return np.mean(np.abs(x + sigma * rng.normal(size=200) - found.mean) <= 1.96 * found.std)


@pytest.mark.slow
def test_the_promise_is_about_the_noise_of_the_held_out_measurements_not_of_the_others():
    rng = np.random.default_rng(0)
    problem = line(measured(rng, 12, sigma=0.01, said=0.01), measured(rng, 39, sigma=0.2, said=0.2, held_out=True))
    posterior = epinn.attach(epinn.fit(problem, base=BASE), method="conformal", key=1)
    assert posterior.diagnostics["factor"] == pytest.approx(1, rel=0.4)
    assert posterior.noise["u"] == pytest.approx(0.2, rel=0.4)
    assert 0.88 < share_inside(posterior, rng, sigma=0.2) < 1


@pytest.mark.slow
def test_a_measurement_can_be_predicted_where_all_data_are_held_out():
    rng = np.random.default_rng(0)
    problem = line(measured(rng, 39, held_out=True), boundary=epinn.Dirichlet(lambda p: p.x))
    posterior = epinn.attach(epinn.fit(problem, base=BASE), method="conformal", key=1)
    assert 0.88 < share_inside(posterior, rng, sigma=0.1) < 1


@pytest.mark.parametrize("inner", ["ensemble", epinn.HmcMethod(start="prior"), epinn.DropoutMethod(during="training")])
def test_around_a_method_without_use_for_the_network_it_is_refused_for_one_trained_elsewhere(inner):
    with pytest.raises(epinn.InputError, match="trained elsewhere"):
        epinn.attach(lambda x: x, noisy(0), epinn.ConformalMethod(of=inner))
