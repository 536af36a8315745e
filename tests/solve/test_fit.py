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
