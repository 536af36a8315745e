"""Fields with a network of their own."""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.jet import Jet

pytestmark = pytest.mark.usefixtures("quick_compile")


def problem(k):
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 2)), fields=("u", k), equation=lambda u, k: u.t - (k * u.x).x, positive="k"
    )


def test_a_field_of_some_coordinates_is_the_same_along_the_others():
    network = epinn.Base(hidden=(8,)).network(problem(epinn.Field("k", of="x")), jax.random.key(0))
    here, later = (network(jnp.asarray([0.3, t])) for t in (-0.5, 0.9))
    assert here[1] == later[1]
    assert here[0] != later[0]
    jet = network(Jet.variable(jnp.asarray([0.3, 0.1]), ((0, 0), (0, 1), (1, 0))))
    assert jet[(0, 1)][1] == 0
    assert jet[(1, 0)][1] != 0


def test_it_has_the_size_and_activation_that_were_said():
    said = epinn.Field("k", of=("x",), hidden=(3, 5), activation="sin")
    own = epinn.Base(hidden=(8,)).network(problem(said), jax.random.key(0)).networks[1]
    assert own.hidden == (3, 5)
    assert own.activation.name == "sin"
    assert own.weights[0].shape == (3, 1)


def test_fields_keep_their_order():
    reordered = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), fields=(epinn.Field("k", hidden=(2,)), "u"), equation=lambda u, k: (k * u.x).x
    )
    network = epinn.Base(hidden=(8,)).network(reordered, jax.random.key(0))
    x = jnp.asarray([0.3])
    np.testing.assert_allclose(network(x), [network.networks[1](x)[0], network.networks[0](x)[0]], rtol=1e-6)


def test_it_is_a_name_that_survives_copies():
    field = epinn.Field("k", of="x", hidden=(3,))
    again = copy.deepcopy(field)
    assert again == "k"
    assert (again.of, again.hidden) == (("x",), (3,))


def test_problems_with_other_networks_are_other_problems():
    assert problem(epinn.Field("k", of="x")).same_as(problem(epinn.Field("k", of="x")))
    assert not problem(epinn.Field("k", of="x")).same_as(problem("k"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: epinn.Field("2k"), ("name",)),
        (lambda: epinn.Field("k", of=()), ("k", "unknown")),
        (lambda: epinn.Field("k", activation="relux"), ("relux",)),
        (lambda: problem(epinn.Field("k", of="z")), ("z", "k")),
    ],
)
def test_mistakes_are_named(make, words, rejects):
    with rejects(*words):
        make()
