"""Sums of random units at the points of conditions: what they say is what a network with them says."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.lifted import Lifted
from epinn.derivatives.network import Frozen
from epinn.derivatives.random_units import RandomUnits
from epinn.derivatives.staged import Stage, Staged
from epinn.problem.channel import residuals
from epinn.solve.config import create_solutions
from epinn.solve.seeds import unstack
from epinn.solve.sums import Probes, Sums

pytestmark = pytest.mark.usefixtures("quick_compile")

UNITS = 6


@pytest.fixture(params=["soft", "hard"])
def parts(request):
    """A nonlinear equation with periodic sides, whose initial values hold by construction or do not."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(-1, 1), t=(0, 2)),
        equation=lambda u: u.t + u * u.x - 0.1 * u.xx,
        boundary=epinn.Periodic("x"),
        initial=epinn.Initial(lambda x: jnp.sin(np.pi * x), hard=request.param == "hard"),
        points=epinn.Points(collocation=20),
    )
    base = epinn.Base(hidden=(4,))
    scales = base.scales(problem)
    (solution,) = unstack(create_solutions(base, [problem], jax.random.split(jax.random.key(0), 1), [scales]), 1)
    with jax.enable_x64(True):
        as_double = lambda leaf: jnp.asarray(np.asarray(leaf), float) if jnp.issubdtype(leaf.dtype, jnp.inexact) else leaf  # noqa: E731
        solution, channels = jax.tree.map(as_double, (solution, base.channels(problem, 0, scales)))
        units = RandomUnits.drawn(solution.network, 2, UNITS, jax.random.key(1)).around(solution.network, channels[0].points)
        yield solution, channels, units


def test_residuals_are_those_of_the_network_with_the_sums(parts):
    solution, channels, units = parts
    outer = 0.3 * np.random.default_rng(0).normal(size=(1, UNITS))
    network = solution.network
    inner = network.network if isinstance(network, Lifted) else network
    stage = Stage(inner, units, jnp.asarray(outer), jnp.zeros_like(outer), jnp.zeros(()), jnp.zeros(1))
    staged = Staged(inner, Frozen(stage))
    whole = dataclasses.replace(network, network=staged) if isinstance(network, Lifted) else staged
    expected = residuals(channels, dataclasses.replace(solution, network=whole))
    rows = Sums.of(channels, solution, units).rows(jnp.asarray(outer.ravel()))
    together = jnp.concatenate([c.whitened(row).ravel() for c, row in zip(channels, expected, strict=True)])
    np.testing.assert_allclose(rows, together, rtol=1e-9, atol=1e-9)


def test_the_jacobian_is_that_of_finite_differences(parts):
    solution, channels, units = parts
    sums, at = Sums.of(channels, solution, units), jnp.asarray(np.random.default_rng(1).normal(size=UNITS))
    step = 1e-6
    columns = [(sums.rows(at.at[i].add(step)) - sums.rows(at.at[i].add(-step))) / (2 * step) for i in range(UNITS)]
    np.testing.assert_allclose(sums.jacobian(at), jnp.stack(columns, axis=1), rtol=1e-5, atol=1e-4)


def test_sizes_are_root_mean_squares_of_what_is_added(parts):
    solution, channels, units = parts
    probes = Probes.of(solution, units, channels[0].points)
    assert float(probes.size(jnp.zeros(UNITS))[0]) == 0.0
    one = probes.size(jnp.ones(UNITS))
    np.testing.assert_allclose(probes.size(-2 * jnp.ones(UNITS)), 2 * one, rtol=1e-12)
