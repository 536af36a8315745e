"""What is to be fitted, for several seeds at once."""

import jax

import epinn
from epinn.progress import Progress
from epinn.solve.optimise.adam import Weights
from epinn.solve.seeds import stack
from epinn.solve.task import Account, Task

PROBLEM = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx, boundary=epinn.Dirichlet(0.0))


def test_a_further_attempt_has_all_that_belongs_to_its_seeds_and_nothing_else():
    every = tuple(stack([PROBLEM.channels(seed) for seed in range(3)]))
    keys = jax.random.split(jax.random.key(0), 3)
    task = Task(epinn.Base(), [PROBLEM] * 3, every, every, None, keys, Weights(), Progress(), candidates=lambda number: every)
    again = task.again([0, 2], attempt=1)
    for channels in (again.channels, again.elsewhere, again.candidates(0)):
        assert {channel.points.shape[0] for channel in channels} == {2}
    assert len(again.keys) == len(again.problems) == 2


def test_all_attempts_have_one_account():
    every = tuple(stack([PROBLEM.channels(0)]))
    keys = jax.random.split(jax.random.key(0), 1)
    task = Task(epinn.Base(), [PROBLEM], every, every, None, keys, Weights(), Progress(), account=Account(1e9))
    task.again([0], attempt=1).account.spend(4e8)
    assert not task.account.is_empty
    task.again([0], attempt=2).account.spend(7e8)
    assert task.account.is_empty
