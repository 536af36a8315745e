"""Step sizes: found in burn-in by dual averaging, and never changed after it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.methods.mcmc.run import ACCEPTED, Schedule, _adapted, _begin_averaging, _State, _step, _updated

SCHEDULE = Schedule(burn_in=40, samples=10, chains=2, thin=1, step_size=0.1, adapt=True, precondition=True)


FIXED = dataclasses.replace(SCHEDULE, adapt=False)
YES, NO = jnp.asarray(True), jnp.asarray(False)


@pytest.mark.parametrize(("accepted", "grows"), [(0.2, False), (0.99, True)])
def test_it_grows_where_more_is_accepted_than_it_aims_at_and_shrinks_where_less_is(accepted, grows):
    averaging = jax.tree.map(lambda leaf: leaf[0, 0], _begin_averaging(jnp.full((1, 1), 0.1)))
    for _ in range(50):
        averaging = _updated(SCHEDULE, YES, averaging, jnp.asarray(accepted))
    assert (float(jnp.exp(averaging.log_step_size_avg)) > 0.1) is grows


def test_it_settles_where_so_many_are_accepted():
    """Acceptance falls with the step: exp(-size) is ACCEPTED at one size only."""
    averaging = jax.tree.map(lambda leaf: leaf[0, 0], _begin_averaging(jnp.full((1, 1), 10.0)))
    for _ in range(300):
        averaging = _updated(SCHEDULE, YES, averaging, jnp.exp(-jnp.exp(averaging.log_step_size)))
    assert float(jnp.exp(averaging.log_step_size_avg)) == pytest.approx(-np.log(ACCEPTED), rel=0.1)


@pytest.mark.parametrize(("burning", "schedule"), [(NO, SCHEDULE), (YES, FIXED)])
def test_it_stays_after_burn_in_and_where_it_is_not_adapted(burning, schedule):
    before = jax.tree.map(lambda leaf: leaf[0, 0], _begin_averaging(jnp.full((1, 1), 0.1)))
    after = _updated(schedule, burning, before, jnp.asarray(0.2))
    assert jax.tree.all(jax.tree.map(lambda a, b: a == b, before, after))
    assert float(_step(schedule, burning, jnp.asarray(0.3), after)) == pytest.approx(0.3)


def test_what_was_found_is_taken_over_and_the_search_begins_again():
    sizes = jnp.full((1, 2), 0.1)
    averaging = _begin_averaging(sizes)._replace(log_step_size_avg=jnp.log(jnp.asarray([[0.2, 0.4]])))
    blank = jnp.zeros((1, 2, 3))
    found = _adapted(SCHEDULE, _State(blank, blank, sizes, averaging))
    np.testing.assert_allclose(found.step_size, [[0.2, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(jnp.exp(found.averaging.log_step_size), [[0.2, 0.4]], rtol=1e-6)
    assert np.array_equal(_adapted(FIXED, _State(blank, blank, sizes, averaging)).step_size, sizes)


def test_calls_are_whole_so_that_there_are_at_least_as_many_samples_as_asked_for():
    schedule = Schedule(burn_in=45, samples=91, chains=2, thin=3, step_size=0.1, adapt=True, precondition=True)
    assert (schedule.per_call, schedule.burn_calls, schedule.calls) == (30, 2, 6)
