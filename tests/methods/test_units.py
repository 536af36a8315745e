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

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_compile")]

UNITS = [
    {"u": 1e3},
    {"u": 1e-3},
    {"x": 1e3},
    {"x": 1e-3},
    {"offset": 300.0},
    {"offset": 1e3},
    {"u": 1e6, "x": 1e-3},
    {"u": 1e-6, "x": 1e3},
]
WITHIN = 0.01

X = np.linspace(-0.9, 0.9, 21)
MEASURED = np.sin(3 * X) + 0.1 * np.random.default_rng(0).normal(size=X.size)
COLLOCATION = np.linspace(-1, 1, 34)[1:-1]
GRID = np.linspace(-1, 1, 21)
BASE = epinn.Base(hidden=(8, 8), epochs=200, newton=60, restarts=0)
CHAINS = {"burn_in": 0, "samples": 20, "chains": 2, "adapt": False}
SMALL = {
    "epinet": {"index_dim": 32},
    "laplace": {"samples": 50},
    "ensemble": {"members": 3},
    "conformal": {"level": 0.8},
    "dropout": {},
    "hmc": {"leapfrog": 5} | CHAINS,
    "nuts": {"doublings": 3} | CHAINS,
    "vi": {"steps": 300},
    "epinet of the paper": {"objective": "paper", "epochs": 200},
    "dropout in training": {"during": "training"},
}


def problem(u=1.0, x=1.0, offset=0.0, known=True):
    """The README's example in units `u` of the field above `offset`, and `x`, with the strength of its source unknown.

    What has a unit is given as values and not written into functions: all units then share their compiled programs.
    """
    scale, length = u, x
    at, values, sigma = length * X, offset + scale * MEASURED, 0.1 * scale
    some, others, held_out = (slice(start, None, 3) for start in range(3))
    return epinn.Problem(
        domain=epinn.Box(x=(-length, length)),
        equation=epinn.Equation(
            lambda u, strength, wave: u.xx + strength * wave, points=length * COLLOCATION, given={"wave": np.sin(3 * COLLOCATION)}
        ),
        boundary=epinn.Dirichlet(lambda x: offset + scale * jnp.sin(3 * x / length)),
        data={
            "first": epinn.Data(at[some], values[some], sigma=sigma),
            "second": epinn.Data(at[others], values[others], sigma=sigma if known else "unknown"),
            "kept": epinn.Data(at[held_out], values[held_out], sigma=sigma, held_out=True),
        },
        unknowns={"strength": 8 * scale / length**2},
    )


def dimensionless(band, u=1.0, x=1.0, offset=0.0):
    """Mean and std of the field, and the interval of the unknown, in the units that the problem was written in."""
    field = band.predict(x * GRID, draws=300)
    strength = band.unknowns(draws=300, quantiles=(0.025, 0.975))["strength"]
    interval = np.asarray([strength.mean, strength.mean - 2 * strength.std, *strength.quantiles.values()])
    return (field.mean - offset) / u, field.std / u, interval * x**2 / u


def check_same(found, plain):
    """What is found agrees within 1%: of the variation of the mean, of the widest std, of the width of an interval.

    Within its own band the mean moves no further than that either, since a user judges a change by the band.
    """
    (mean, std, interval), (plain_mean, plain_std, plain_interval) = found, plain
    assert np.abs(mean - plain_mean).max() < WITHIN * min(np.ptp(plain_mean), plain_std.max())
    assert np.abs(std - plain_std).max() < WITHIN * plain_std.max()
    width = max(np.ptp(plain_interval), 1e-3 * abs(plain_interval[0]))
    assert np.abs(interval - plain_interval).max() < WITHIN * width


@functools.cache
def fitted(**units):
    return epinn.fit(problem(**units, known=False), base=BASE)


@functools.cache
def band(name, **units):
    attached = epinn.attach(fitted(**units), method=name.split()[0], settings=SMALL[name])
    return dimensionless(attached, **units)


def test_all_methods_are_here():
    assert {name.split()[0] for name in SMALL} == set(METHODS)


def test_the_fit_is_one():
    """Otherwise bands would be compared around nothing."""
    assert not fitted().warnings
    assert float(fitted().solution.unknowns["strength"]) == pytest.approx(9, rel=0.2)


@pytest.mark.parametrize("units", UNITS, ids=str)
@pytest.mark.parametrize("name", SMALL)
def test_no_method_depends_on_the_units(name, units):
    """Chains are chaotic: where their steps are adapted, a last bit decides how many there are, and a few samples later nothing
    is the same. Here steps are as large as they are, and few, so that chains in all units stay together, draw by draw: the
    log density and the coordinates that they move in are the same. Adaptation sees acceptance only, which has no unit."""
    check_same(band(name, **units), band(name))
