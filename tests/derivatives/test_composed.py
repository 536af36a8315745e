"""Networks made of networks: which of them answers where, and how they are told."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.composed import Parts, Pieces, in_words
from epinn.derivatives.directions import Directions
from epinn.derivatives.network import MLP, Encoding, Frozen

pytestmark = pytest.mark.usefixtures("quick_compile")


def linear(key, inputs=1):
    return MLP.create(inputs, (), 1, key=jax.random.key(key), random_biases=True)


def test_parts_see_their_coordinates_and_give_their_fields():
    first, second = linear(0), linear(1)
    whole = Parts((first, second), ((1,), (0,)), ((1,), (0,)))
    x = jnp.asarray([0.3, -0.8])
    np.testing.assert_allclose(whole(x), [*second(x[:1]), *first(x[1:])], rtol=1e-6)


def test_the_piece_whose_box_a_point_is_in_answers_and_the_later_one_on_a_shared_face():
    left, right = linear(0), linear(1)
    whole = Pieces.of([left, right], [[-0.5], [0.5]], [[0.5], [0.5]])
    for x, network, inside in [(-0.75, left, -0.5), (0.5, right, 0.0), (0.0, right, -1.0)]:
        np.testing.assert_allclose(whole(jnp.asarray([x])), network(jnp.asarray([inside])), rtol=1e-6)


def test_a_network_is_told_in_words():
    dense = MLP.create(2, (8, 4), 1, key=jax.random.key(0), encoding=Encoding(periodic=(0,)))
    assert in_words(dense) == "3-8-4-1, tanh, periodic"
    assert in_words(Parts((dense, dense), ((0, 1), (0, 1)), ((0,), (1,)))) == f"{in_words(dense)} and {in_words(dense)}"
    corner = Directions(((0, 1),), ((-1.0, -1.0),), (True,), Frozen(jnp.ones((1, 2))))
    shown = MLP.create(2, (8,), 1, key=jax.random.key(0), encoding=Encoding(directions=corner))
    assert in_words(shown) == "5-8-1, tanh, shown directions from 1 corner"
    pieces = Pieces.of([dense, dense], np.zeros((2, 2)), np.ones((2, 2)), (0.5,))
    assert in_words(pieces) == f"2 windows, each {in_words(dense)}"
