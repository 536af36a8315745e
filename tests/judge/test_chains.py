"""What single chains have seen."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.judge.chains import chains_of
from epinn.posterior.posterior import Posterior
from epinn.posterior.sampler import Members

pytestmark = pytest.mark.usefixtures("quick_compile")
PROBLEM = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u, k: k * u.xx - 1, unknowns={"k": 1.0})


@pytest.fixture(scope="module")
def members():
    """Twelve untrained networks with unknowns 0, 1, 2 and so on."""
    base = epinn.Base(hidden=(4,), epochs=0, newton=0, restarts=0, stages=1)
    solution = epinn.fit(PROBLEM, key=0, base=base).solution
    repeated = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], 12, axis=0) if eqx.is_array(leaf) else leaf, solution)
    return Members(eqx.tree_at(lambda s: s.raw["k"], repeated, jnp.arange(12.0)))


def test_samples_stay_in_their_chains_and_in_order(members):
    posterior = Posterior(members, PROBLEM, "hmc", {"chains": 3})
    found = chains_of(posterior, jnp.linspace(0, 1, 5)[:, None])
    assert found.names[0].startswith("u at x = ")
    assert found.names[1] == "k"
    assert found.values.shape == (2, 3, 4)
    assert np.all(np.diff(found.values[1].ravel()) > 0)


@pytest.mark.parametrize("number", [None, 0, 5, 6])
def test_without_whole_chains_there_is_nothing(members, number):
    diagnostics = {} if number is None else {"chains": number}
    assert chains_of(Posterior(members, PROBLEM, "hmc", diagnostics), jnp.linspace(0, 1, 5)[:, None]) is None
