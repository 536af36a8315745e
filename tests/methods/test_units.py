"""A problem in other units is the same problem: what users get of it, by every method and for a network trained elsewhere.

That all numbers inside are the same is checked in `tests/problem/test_scales.py`.
"""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.interop import adopt
from epinn.methods import METHODS

pytestmark = pytest.mark.usefixtures("quick_compile")

UNITS = [{"u": 1e6}, {"u": 1e-6}, {"x": 1e3}, {"x": 1e-3}, {"offset": 1e3}]  # the ends of what is promised
TOGETHER = [{"u": 1e6, "x": 1e-3}, {"u": 1e-6, "x": 1e3}, {"offset": 300.0}, {"offset": 1e3}]
WITHIN = 0.01

X = np.linspace(-0.9, 0.9, 21)
MEASURED = np.sin(3 * X) + 0.1 * np.random.default_rng(0).normal(size=X.size)
COLLOCATION = np.linspace(-1, 1, 34)[1:-1]
GRID = np.linspace(-1, 1, 21)
BASE = epinn.Base(hidden=(8, 8), epochs=0, newton=100, restarts=0)  # to the mode, where weights are the same in all units too
CHAINS = {"burn_in": 0, "samples": 20, "chains": 2, "adapt": False}
SMALL = {
    "epinet": {"index_dim": 32},
    "epinet of the paper": {"objective": "paper", "epochs": 200},
    "laplace": {"samples": 50},
    "ensemble": {"members": 3},
    "conformal": {"of": "laplace", "level": 0.8},
    "dropout": {},
    "hmc": {"leapfrog": 5} | CHAINS,
    "nuts": {"doublings": 3} | CHAINS,
    "vi": {"steps": 100},
}


def poisson(u, strength, wave):
    """One function without numbers that have a unit: compiled programs are then the same in all units."""
    return u.xx + strength * wave


def problem(u=1.0, x=1.0, offset=0.0, noise_is_known=True):
    """The README's example in units `u` of the field above `offset`, and `x`, with the strength of its source unknown."""
    scale, length = u, x
    at, values, sigma = length * X, offset + scale * MEASURED, 0.1 * scale
    some, others, held_out = (slice(start, None, 3) for start in range(3))
    return epinn.Problem(
        domain=epinn.Box(x=(-length, length)),
        equation=epinn.Equation(poisson, points=length * COLLOCATION, given={"wave": np.sin(3 * COLLOCATION)}),
        boundary=epinn.Dirichlet(lambda x: offset + scale * jnp.sin(3 * x / length)),
        data={
            "some": epinn.Data(at[some], values[some], sigma=sigma),
            "others": epinn.Data(at[others], values[others], sigma=sigma if noise_is_known else "unknown"),
            "held out": epinn.Data(at[held_out], values[held_out], sigma=sigma, held_out=True),
        },
        unknowns={"strength": 8 * scale / length**2},
    )


def dimensionless(band, u=1.0, x=1.0, offset=0.0):
    """Mean and std of the field, and mean and 95% interval of the unknown, in the units that the problem was written in."""
    field = band.predict(x * GRID, draws=300)
    strength = band.unknowns(draws=300, quantiles=(0.025, 0.975))["strength"]
    return (field.mean - offset) / u, field.std / u, np.asarray([strength.mean, *strength.quantiles.values()]) * x**2 / u


def check_same(found, plain):
    """The mean within 1% of its variation, the std of the widest one, and mean and interval of the unknown of the interval's
    width (dropout leaves unknowns alone: theirs is none, and the value itself counts)."""
    (mean, std, strength), (plain_mean, plain_std, plain_strength) = found, plain
    assert np.abs(mean - plain_mean).max() < WITHIN * np.ptp(plain_mean)
    assert np.abs(std - plain_std).max() < WITHIN * plain_std.max()
    _, low, high = plain_strength
    width = high - low if high - low > 1e-3 * abs(high) else abs(high)
    assert np.abs(strength - plain_strength).max() < WITHIN * width


@functools.cache
def fitted(noise_is_known=True, **units):
    return epinn.fit(problem(**units, noise_is_known=noise_is_known), base=BASE)


@functools.cache
def of_fitted(name, noise_is_known=True, **units):
    band = epinn.attach(fitted(noise_is_known, **units), method=name.split()[0], settings=SMALL[name])
    return dimensionless(band, **units)


def test_every_method_is_here():
    assert {name.split()[0] for name in SMALL} == set(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("noise_is_known", [True, False])
def test_what_is_compared_is_a_solution(noise_is_known):
    assert not fitted(noise_is_known).warnings
    assert float(fitted(noise_is_known).solution.unknowns["strength"]) == pytest.approx(9, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("units", UNITS, ids=str)
@pytest.mark.parametrize("name", SMALL)
def test_no_method_depends_on_the_units(name, units):
    """Chains are chaotic: while their steps are adapted, the last bit of an acceptance decides how many steps there are, and a
    few samples later all draws are others. So they are not adapted here, and few: chains in all units then stay together, draw
    by draw, which they only do if the log density and the coordinates that they move in are the same. What adaptation sees,
    the acceptance, has no unit."""
    check_same(of_fitted(name, **units), of_fitted(name))


@pytest.mark.slow
@pytest.mark.parametrize("units", TOGETHER, ids=str)
@pytest.mark.parametrize("name", ["laplace", "conformal", "vi"])
def test_nor_does_noise_that_is_found(name, units):
    """By evidence (laplace), or as part of the posterior (vi, whose log density is also that of hmc and nuts)."""
    check_same(of_fitted(name, noise_is_known=False, **units), of_fitted(name, noise_is_known=False))


def trained_elsewhere(units=8):
    """Parameters of a network of one hidden layer, fitted to sin(3x) by least squares: off by 0.004 with 8 units."""
    random = np.random.default_rng(1)
    weights, biases = 2 * random.normal(size=units), random.normal(size=units)
    x = np.linspace(-1, 1, 101)
    outer = np.linalg.lstsq(np.tanh(np.outer(x, weights) + biases), np.sin(3 * x), rcond=None)[0]
    return {name: jnp.asarray(value) for name, value in {"weights": weights, "biases": biases, "outer": outer}.items()}


def adopted(u=1.0, x=1.0, offset=0.0, noise_is_known=True, off_by=0.0):
    """The network of somebody who works in these units, and scales what goes into it and comes out of it."""
    scale, length = u, x

    def network(parameters, x):
        hidden = jnp.tanh(x / length * parameters["weights"] + parameters["biases"])
        return jnp.stack([offset + scale * (off_by + hidden @ parameters["outer"])])

    one = problem(u, x, offset, noise_is_known)
    return adopt((network, trained_elsewhere()), one, unknowns={"strength": 9 * scale / length**2})


def adopted_whole(u=1.0, x=1.0, offset=0.0):
    """The network of somebody who trained it in these units: they are in its weights."""

    def network(parameters, x):
        hidden = jnp.tanh(x * parameters["weights"] + parameters["biases"])
        return jnp.stack([parameters["level"] + hidden @ parameters["outer"]])

    inside = trained_elsewhere()
    weights = {"weights": inside["weights"] / x, "biases": inside["biases"], "outer": u * inside["outer"], "level": offset}
    trained = {name: jnp.asarray(value, jnp.float32) for name, value in weights.items()}
    return adopt((network, trained), problem(u, x, offset), unknowns={"strength": 9 * u / x**2})


@functools.cache
def of_adopted(name, whole=False, **units):
    pinn = (adopted_whole if whole else adopted)(**units)
    return dimensionless(epinn.attach(pinn, method=name, settings=SMALL[name]), **units)


@pytest.mark.slow
@pytest.mark.parametrize("units", TOGETHER, ids=str)
@pytest.mark.parametrize("name", ["laplace", "epinet"])
def test_nor_does_the_band_of_a_network_trained_elsewhere(name, units):
    check_same(of_adopted(name, **units), of_adopted(name))


@pytest.mark.slow
@pytest.mark.parametrize("units", TOGETHER[:3], ids=str)
@pytest.mark.parametrize("name", ["laplace", "epinet", "hmc", "vi"])
def test_nor_does_that_of_one_whose_weights_have_units(name, units):
    check_same(of_adopted(name, whole=True, **units), of_adopted(name, whole=True))


@pytest.mark.slow
@pytest.mark.parametrize("units", [TOGETHER[0], {"offset": 1e3}], ids=str)
def test_nor_does_the_noise_around_it(units):
    found, plain = (
        [float(channel.sigma[0]) for channel in adopted(**own, noise_is_known=False).channels] for own in (units, {})
    )
    np.testing.assert_allclose(found, plain, rtol=WITHIN)


@pytest.mark.slow
@pytest.mark.parametrize("units", [TOGETHER[0], {"offset": 1e3}], ids=str)
def test_nor_does_what_is_said_of_one_that_is_wrong(units):
    """One complaint about the boundary, and one about each set of measurements."""
    assert len(adopted(**units, off_by=0.2).warnings) == len(adopted(off_by=0.2).warnings) == 3
