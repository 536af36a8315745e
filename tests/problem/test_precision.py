"""The three cases of precision: what each says of its sigma, and what can be done with it."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from epinn.problem.boundary import Dirichlet
from epinn.problem.conditions import Data
from epinn.problem.domain import Box
from epinn.problem.precision import TOLERANCE, Exact, KnownNoise, UnknownNoise
from epinn.problem.problem import Problem

pytestmark = pytest.mark.usefixtures("quick_compile")


@pytest.mark.parametrize(
    ("condition", "precision", "origin", "is_settled"),
    [
        (Dirichlet(0.0), Exact.up_to(None), "what the network reaches", False),
        (Dirichlet(0.0, tolerance=0.5), Exact.up_to(0.5), "tolerance", True),
        (Dirichlet(0.0, sigma=0.2), KnownNoise(jnp.full(1, 0.2)), "given by the user", True),
        (Data([0.5], [1.0]), UnknownNoise(jnp.full(1, TOLERANCE)), "inferred", False),
        (Data([0.5], [1.0], tolerance=0.5), UnknownNoise(jnp.full(1, TOLERANCE)), "inferred", False),
        (Data([0.5, 0.7], [1.0, 2.0], sigma=[0.1, 0.2]), KnownNoise(jnp.asarray([0.1, 0.2])), "given by the user", True),
    ],
)
def test_a_condition_says_how_precisely_its_targets_are_known(condition, precision, origin, is_settled):
    (channel,) = Problem(Box(x=(0, 1)), equation=(), extra=condition).channels()
    assert type(channel.precision) is type(precision)
    np.testing.assert_allclose(channel.sigma, precision.sigma)
    assert channel.precision.origin == origin
    assert channel.precision.is_settled == is_settled


@pytest.mark.parametrize("precision", [Exact.up_to(None), KnownNoise(jnp.full(1, 0.2)), UnknownNoise.unseen()])
def test_another_sigma_leaves_the_case_as_it_is_and_settling_leaves_the_sigma(precision):
    other = precision.with_sigma(0.7)
    assert dataclasses.replace(other, sigma=precision.sigma) == precision
    np.testing.assert_allclose(other.sigma, [0.7])
    assert other.per_point(3).sigma.shape == (3,)
    settled = other.settled()
    assert settled.is_settled
    assert type(settled) is type(precision)
    assert settled.sigma is other.sigma


def test_noise_that_is_added_is_known_and_adds_to_known_noise_only():
    problem = Problem(Box(x=(0, 1)), equation=(), boundary=Dirichlet(0.0, tolerance=4.0), data=Data([0.5], [1.0], sigma=3.0))
    boundary, data = problem.disturbed({"boundary": 4.0, "data": 4.0}, key=0).channels()
    assert isinstance(boundary.precision, KnownNoise)
    assert isinstance(data.precision, KnownNoise)
    np.testing.assert_allclose([boundary.sigma[0], data.sigma[0]], [4.0, 5.0], rtol=1e-6)
