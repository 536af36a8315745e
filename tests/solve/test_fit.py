"""What a fit is made of, beyond what its parts are tested for."""

import dataclasses

import jax
import numpy as np
import pytest

import epinn
from epinn.solve.config import create_solutions
from epinn.solve.fit import _with_corners
from epinn.solve.seeds import unstack
from epinn.solve.task import Fit

pytestmark = pytest.mark.usefixtures("quick_compile")


@pytest.mark.parametrize("windows", [(), (20.0,)])
def test_values_next_to_a_corner_count_whatever_a_fit_is_made_of(windows):
    """In windows nothing holds by construction, and there are joints: conditions that all of time at once does not have."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 0.05), t=(0, 60)),
        equation=lambda u: u.t - 12e-6 * u.xx,
        boundary=[epinn.Dirichlet(473.0, on="x=0"), epinn.Dirichlet(293.0, on="x=max")],
        initial=epinn.Initial(293.0),
    )
    base, scales = epinn.Base(hidden=(4,)), epinn.Base(hidden=(4,)).scales(problem)
    own = dataclasses.replace(scales.soft(), breaks={"t": windows}) if windows else scales
    keys = jax.random.split(jax.random.key(0), 1)
    (solution,) = unstack(create_solutions(base, [problem], keys, [own]), 1)
    channels = base.channels(problem, keys[0], own)
    found = Fit(solution, channels, [], np.zeros((0, len(channels))), 0.0, None, [], 0.0, 0.0, False)
    everywhere = _with_corners(found, base, problem, keys[0], scales).channels
    assert [channel.name for channel in everywhere] == [channel.name for channel in channels]
    given = [channel for channel in everywhere if channel.kind in ("boundary", "initial")]
    assert given
    before = {channel.name: float(np.max(channel.sigma)) for channel in channels}
    assert all(float(np.max(channel.sigma)) > 2 * before[channel.name] for channel in given)  # four units are no solution


def heated(x, t, diffusivity):
    """A rod of 100 mm at 20 degrees, one end of which is at 100 degrees from time 0 on."""
    n = np.arange(1, 200)[:, None]
    waves = np.sin(n * np.pi * x / 100) * np.exp(-diffusivity * (n * np.pi / 100) ** 2 * t)
    return 100 - 0.8 * x - np.sum(160 / (n * np.pi) * waves, axis=0)


@pytest.mark.slow
def test_the_diffusivity_of_a_rod_that_is_suddenly_heated_is_found_as_well_as_least_squares_find_it():
    places = np.array([[x, t] for x in (10.0, 30.0, 60.0) for t in np.linspace(6, 120, 20)])
    sigma, truth = 0.5, 12.0
    values = heated(*places.T, truth) + sigma * np.random.default_rng(7).normal(size=len(places))
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 100), t=(0, 120)),
        equation=lambda T, a: T.t - a * T.xx,
        boundary=[epinn.Dirichlet(100.0, on="x=0"), epinn.Dirichlet(20.0, on="x=100")],
        initial=epinn.Initial(20.0),
        data=epinn.Data(places, values, sigma=sigma),
        unknowns={"a": epinn.Unknown(guess=5.0, positive=True)},
        fields="T",
        points=epinn.Points(collocation=300, boundary=24),
    )
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(12, 12), epochs=300, newton=100, starts=0, restarts=0))
    assert pinn.warnings == []
    found = epinn.attach(pinn, problem, method="laplace", key=1).unknowns()["a"]
    slope = (heated(*places.T, truth + 1e-3) - heated(*places.T, truth)) / 1e-3
    best = sigma / np.linalg.norm(slope)
    step = slope @ (values - heated(*places.T, truth)) / np.sum(slope**2)
    assert found.std == pytest.approx(best, rel=0.25)
    assert abs(found.mean - truth - step) < 0.5 * best
