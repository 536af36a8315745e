"""Chunks: the same result in less memory."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import epinn
from epinn.derivatives import memory
from epinn.derivatives.network import MLP, trainable
from epinn.problem.channel import mean_square, residuals
from epinn.solve.seeds import over_seeds

POINTS = 3001  # no multiple of anything


def loss_of(points=POINTS):
    """A loss with second derivatives at many points, and parameters to take it at."""
    problem = dataclasses.replace(epinn.problems.poisson1d(), points=epinn.Points(points))
    channels = problem.channels(0)
    parameters, rest = trainable(problem.solution(MLP.create(1, (16, 16), 1, key=jax.random.key(0))))
    vector, unravel = ravel_pytree(parameters)

    def loss(vector):
        return sum(mean_square(row) for row in residuals(channels, eqx.combine(unravel(vector), rest)))

    return loss, vector


def compiled(gibibytes, points=POINTS):
    loss, vector = loss_of(points)
    with memory.limited_to(gibibytes):
        return jax.jit(jax.value_and_grad(loss)).lower(vector).compile(), vector


def test_chunks_change_nothing_but_the_memory():
    whole, vector = compiled(4)
    chunked, _ = compiled(1e-3)
    for a, b in zip(whole(vector), chunked(vector), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert chunked.memory_analysis().temp_size_in_bytes < 0.5 * whole.memory_analysis().temp_size_in_bytes


@pytest.mark.parametrize("points", [1000, 10_000, 30_000])
def test_memory_stays_below_the_limit(points):
    program, _ = compiled(2e-3, points)
    kept = 4 * points * 40  # targets, points, and the derivatives that the equation asked for
    assert program.memory_analysis().temp_size_in_bytes < 2e-3 * 2**30 + kept


def test_seeds_share_the_memory():
    seen = []

    def note(x):
        seen.append(memory.available())
        return x

    with memory.limited_to(1):
        over_seeds(note, jnp.zeros((4, 2)))
    assert seen == [2**28]


def test_the_limit_ends_with_its_block():
    before = memory.available()
    with memory.limited_to(1), memory.shared_by(2):
        assert memory.available() == 2**29
    assert memory.available() == before


def test_what_a_function_needs_is_counted_through_inner_programs():
    inner = jax.jit(lambda x: jnp.sin(x) * 2)
    assert memory.bytes_for(lambda x: inner(x) + 1, jnp.zeros(10, jnp.float32)) == 3 * 40


def test_values_on_many_points_are_chunked_too():
    solution = epinn.problems.poisson1d().solution(MLP.create(1, (16, 16), 1, key=jax.random.key(0)))
    x = jnp.linspace(-1, 1, 4001)[:, None]
    with memory.limited_to(1e-4):
        few = jax.jit(lambda x: solution(x))(x)
    np.testing.assert_allclose(few, solution(x), atol=1e-6)
