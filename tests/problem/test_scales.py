"""A problem in other units is the same problem: what is dimensionless does not change."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import MLP
from epinn.problem.channel import residuals
from epinn.problem.scales import Scales

T = np.linspace(0.1, 0.9, 9)
UNITS = [
    {"u": 1e6},
    {"u": 1e-6},
    {"x": 1e3},
    {"x": 1e-3},
    {"t": 1e3},
    {"t": 1e-3},
    {"offset": 1e3},
    {"offset": -300.0, "u": 10.0},
    {"u": 1e-3, "x": 25.4, "t": 60.0, "offset": 1.0},
]


def problem(u=1.0, x=1.0, t=1.0, offset=0.0):
    """A source heats a rod that loses heat to its surroundings, in units `u` of temperature above `offset`, `x` and `t`."""
    scale, length, time = u, x, t
    at = np.stack([0.5 * length + 0 * T, time * T], axis=1)

    def equation(u, x, k, loss):
        source = 3 * scale / time * jnp.sin(np.pi * x / length)
        return u.t - k * u.xx - source + loss * (u - offset)

    return epinn.Problem(
        domain=epinn.Box(x=(0, length), t=(0, time)),
        equation=equation,
        initial=epinn.Initial(offset),
        boundary=[epinn.Dirichlet(offset, on="x"), epinn.Neumann(0.0, on="x=0")],
        data=epinn.Data(at, offset + scale * np.sin(T), sigma=0.1 * scale),
        unknowns={"k": 0.3 * length**2 / time, "loss": epinn.Unknown(2.0 / time, positive=True)},
        points=epinn.Points(collocation=16, boundary=4),
    )


def solution(problem, scales):
    network = MLP.create(2, (8,), 1, key=jax.random.key(0), random_biases=True)
    return problem.solution(network, scales.units)


@pytest.mark.parametrize("units", UNITS, ids=str)
def test_channels_do_not_depend_on_the_units(units):
    (plain, other), rows = (problem(), problem(**units)), []
    both = [Scales.of(one) for one in (plain, other)]
    channels = [scales.channels(one, 0) for scales, one in zip(both, (plain, other), strict=True)]
    for a, b in zip(*channels, strict=True):
        np.testing.assert_allclose(b.points, a.points, atol=1e-5)
        np.testing.assert_allclose(b.target, a.target, rtol=1e-4, atol=2e-4)  # an offset itself is rounded
        np.testing.assert_allclose(b.sigma, a.sigma, rtol=1e-4)
    for one, scales, found in zip((plain, other), both, channels, strict=True):
        rows.append(residuals(found, solution(one, scales)))
    for a, b in zip(*rows, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-3 * abs(units.get("offset", 1.0)))  # of single precision


@pytest.mark.slow
def test_all_that_is_dimensionless_is_of_order_one():
    scales = Scales.of(one := problem(u=1e4, x=1e-3, t=3600.0, offset=300.0))
    for channel in scales.channels(one, 0):
        assert np.abs(channel.points).max() == pytest.approx(1, abs=0.5)
        assert np.abs(channel.target).max() < 10
    for rows in residuals(scales.channels(one, 0), solution(one, scales)):
        assert np.sqrt(np.mean(rows**2)) < 10


def test_unknowns_are_measured_by_what_a_residual_feels():
    plain, other = (Scales.of(problem(**units)).units.unknowns for units in ({}, {"x": 1e3, "t": 60.0}))
    assert float(other["k"] / plain["k"]) == pytest.approx(1e6 / 60, rel=1e-3)
    assert float(other["loss"] / plain["loss"]) == pytest.approx(1 / 60, rel=1e-6)
    assert 0.01 < float(plain["k"]) < 10


def test_a_field_without_values_is_measured_by_what_balances_the_equation():
    poisson = epinn.Problem(domain=epinn.Box(x=(0, 2e-3)), equation=lambda u: u.xx - 4e9, boundary=0.0)
    assert 300 < float(Scales.of(poisson).units.scale[0]) < 5000  # u = 2e9 x (x - 2e-3) goes down to -2000


@pytest.mark.parametrize("end", [0.0, 1e-3, 0.03, 1.0])
def test_small_values_at_the_ends_do_not_hide_what_a_source_makes_of_a_field(end):
    """u = -cos(6x) / 2 and a line, on [-1, 1]: source and ends disagree by decades, and each is balanced by itself."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(-1, 1)),
        equation=lambda u, x: 0.01 * u.xx - 0.18 * jnp.cos(6 * x),
        boundary=epinn.Dirichlet(lambda x: end * x),
    )
    assert 0.05 < float(Scales.of(problem).units.scale[0]) < 20


def test_fields_that_depend_on_each_other_are_measured_together():
    darcy = epinn.Problem(
        domain=epinn.Box(x=(0, 100.0)),
        fields=("h", "q"),
        equation=[lambda h, q: q + 1e-5 * h.x, lambda q: q.x],
        boundary=[epinn.Dirichlet(30.0, on="x=0", field="h"), epinn.Dirichlet(20.0, on="x=100", field="h")],
    )
    h, q = Scales.of(darcy).units.scale
    assert 4 < float(h) < 10
    assert 1e-7 < float(q) < 1e-5


def test_a_prior_is_what_the_user_states_and_otherwise_wide():
    base = epinn.Base(hidden=(4,), epochs=0, newton=0, restarts=0)
    one = problem()
    wide = epinn.fit(one, base=base).priors["k"]
    assert wide[0] == pytest.approx(0.3, rel=1e-5)
    assert wide[1] > 1.0
    stated = dataclasses.replace(one, unknowns=one.unknowns | {"k": epinn.Unknown(0.3, prior=epinn.Normal(0.5, 0.2))})
    assert epinn.fit(stated, base=base).priors["k"] == pytest.approx((0.5, 0.2), rel=1e-5)


@pytest.mark.slow
def test_predictions_keep_their_digits_beside_a_large_offset():
    one = problem(offset=1e6)
    base = epinn.Base(hidden=(4,), epochs=0, newton=0, restarts=0)
    band = epinn.attach(epinn.fit(one, base=base), method="dropout")
    found = band.predict(one.domain.grid(3), draws=50)
    assert found.mean.dtype == np.float64
    spread = found.std[found.std > 0]
    assert len({*np.round(spread / spread.max(), 6)}) > 3  # single precision would leave a few steps of 0.06


@functools.cache
def bands(u=1.0, x=1.0, t=1.0, offset=0.0):
    """Mean and std of the field, and those of the unknowns, by two methods for one fit, in the units of the plain problem."""
    one = problem(u, x, t, offset)
    pinn = epinn.fit(one, base=epinn.Base(hidden=(8,), epochs=300, newton=30, restarts=0))
    found = []
    for method in ("laplace", "epinet"):
        band = epinn.attach(pinn, method=method)
        field, unknowns = band.predict(one.domain.grid(7), draws=1000), band.unknowns(draws=1000)
        rates = [np.asarray([*unknowns[name]]) * unit for name, unit in {"k": t / x**2, "loss": t}.items()]
        found.append(((field.mean - offset) / u, field.std / u, *rates))
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compile")
@pytest.mark.parametrize("units", [{"u": 1e4, "x": 1e3, "t": 1e-3}, {"offset": 1e3}], ids=str)
def test_bands_do_not_depend_on_the_units(units):
    """Here numbers with units are part of the equation; all methods are compared in `tests/methods/test_units.py`."""
    for (mean, std, *rates), (other_mean, other_std, *other_rates) in zip(bands(), bands(**units), strict=True):
        assert np.abs(other_mean - mean).max() < 0.01 * min(np.ptp(mean), std.max())
        assert np.abs(other_std - std).max() < 0.01 * std.max()
        for (value, width), other in zip(rates, other_rates, strict=True):
            np.testing.assert_allclose(other, [value, width], rtol=0, atol=0.01 * width)
