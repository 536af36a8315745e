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


@pytest.mark.slow
def test_chunks_change_nothing_but_the_memory():
    whole, vector = compiled(4)
    chunked, _ = compiled(1e-3)
    for a, b in zip(whole(vector), chunked(vector), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert chunked.memory_analysis().temp_size_in_bytes < 0.5 * whole.memory_analysis().temp_size_in_bytes


@pytest.mark.slow
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


def test_a_smaller_limit_counts_for_what_was_compiled_with_a_larger_one():
    sizes = []

    def square(points):
        sizes.append(len(points))
        return points**2

    @eqx.filter_jit
    def squares(points):
        return memory.in_chunks(square, points)

    points = jnp.arange(1000.0)[:, None]
    for gibibytes, most in [(4, 1000), (1000 / 2**30, 250)]:
        with memory.limited_to(gibibytes):
            np.testing.assert_allclose(squares(points), points**2)
        assert sizes[-1] == most


def test_what_was_compiled_is_used_again_under_the_same_limit():
    traced = []

    @jax.jit
    def function(x):
        traced.append(memory.available())
        return x

    for gibibytes in (1, 2, 1, 2):
        with memory.limited_to(gibibytes):
            function(1.0)
    assert traced == [2**30, 2**31]


ONE = jnp.zeros(10, jnp.float32)  # 40 bytes


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda x: jax.jit(lambda y: jnp.sin(y) * 2)(x) + 1, 3),
        # a loop of fixed length keeps every step for its gradient,
        (lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c) * 2, None), x, length=7)[0], 2 * 7),
        (lambda x: jax.lax.fori_loop(0, 7, lambda _, c: jnp.sin(c) * 2, x), 2 * 7 + 0.7),  # with its counter
        # one that ends when it likes has no such gradient: one step at a time, and the result
        (lambda x: jax.lax.while_loop(lambda c: True, lambda c: jnp.sin(c) * 2, x), 3),
        # of several branches the one that keeps most
        (lambda x: jax.lax.cond(True, lambda y: jnp.sin(y) * 2 + 1, lambda y: y * 2, x), 3),
        (lambda x: jax.lax.switch(1, [jnp.sin, lambda y: jnp.sin(y) * 2, jnp.cos], x), 2),
        # what is computed again needs memory once, what comes out of it is kept
        (lambda x: jax.checkpoint(lambda y: jnp.sin(y) * 2 + 1)(x), 1 + 3),
        (lambda x: jax.lax.scan(jax.checkpoint(lambda c, _: (jnp.sin(c) * 2 + 1, None)), x, length=7)[0], 7 + 3),
        # functions with derivatives of their own are looked into
        (lambda x: custom_jvp(x) + 1, 4),
        (lambda x: custom_vjp(x) + 1, 4),
    ],
    ids=["jit", "scan", "fori", "while", "cond", "switch", "checkpoint", "scan of checkpoint", "custom_jvp", "custom_vjp"],
)
def test_what_a_gradient_keeps_is_counted_through_inner_programs(function, values):
    assert memory.bytes_for(function, ONE) == pytest.approx(40 * values, abs=8)  # with a predicate beside


@jax.custom_jvp
def custom_jvp(x):
    return jnp.sin(x) * 2 + 1


custom_jvp.defjvp(lambda primals, tangents: (custom_jvp(*primals), tangents[0]))


@jax.custom_vjp
def custom_vjp(x):
    return jnp.sin(x) * 2 + 1


custom_vjp.defvjp(lambda x: (custom_vjp(x), None), lambda _, g: (g,))


def test_values_on_many_points_are_chunked_too():
    solution = epinn.problems.poisson1d().solution(MLP.create(1, (16, 16), 1, key=jax.random.key(0)))
    x = jnp.linspace(-1, 1, 4001)[:, None]
    with memory.limited_to(1e-4):
        few = jax.jit(lambda x: solution(x))(x)
    np.testing.assert_allclose(few, solution(x), atol=1e-6)
