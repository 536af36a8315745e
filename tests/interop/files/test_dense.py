"""Which layer comes after which: as the file says, as the names are numbered, as the shapes allow, or not at all."""

from pathlib import Path

import numpy as np
import pytest

from epinn.interop.files.dense import dense_layers

PATH = Path("weights.pt")


def state(*names, sizes=(2, 4, 4, 4, 1), weight="weight", bias="bias"):
    """Layers in this order from input to output; each weight is filled with its place."""
    found = {}
    for i, name in enumerate(names):
        found[f"{name}.{weight}"] = np.full((sizes[i + 1], sizes[i]), i, np.float32)
        found[f"{name}.{bias}"] = np.full(sizes[i + 1], i, np.float32)
    return found


def order(arrays, sizes="2x4x4x4x1", in_order=True):
    layers = dense_layers(arrays, sizes, PATH, in_order)
    assert [float(bias[0]) for bias in layers.biases] == [float(weight[0, 0]) for weight in layers.weights]
    return [int(weight[0, 0]) for weight in layers.weights]


def by_name(arrays):
    """As safetensors stores them."""
    return dict(sorted(arrays.items()))


NAMED = ("enc", "mid_up", "mid_down", "out")


def test_the_order_of_the_file_is_kept():
    assert order(state(*NAMED)) == [0, 1, 2, 3]


def test_layers_of_equal_shape_without_an_order_are_refused(rejects):
    with rejects("ambiguous", "mid_up.weight", "mid_down.weight", "architecture"):
        order(by_name(state(*NAMED)), in_order=False)


def test_shapes_tell_the_order_where_they_can():
    sizes = (2, 4, 3, 5, 1)
    for in_order in (False, True):
        assert order(by_name(state(*NAMED, sizes=sizes)), "2x4x3x5x1", in_order) == [0, 1, 2, 3]


def test_a_last_layer_that_was_defined_first():
    arrays = state("in", "hidden", "out", sizes=(2, 4, 4, 1))
    moved = {name: arrays[name] for name in sorted(arrays, key=lambda name: not name.startswith("out"))}
    assert order(moved, "2x4x4x1") == [0, 1, 2]


def test_an_order_that_the_shapes_contradict_is_not_trusted_for_the_rest(rejects):
    arrays = state(*NAMED)
    moved = {name: arrays[name] for name in sorted(arrays, key=lambda name: not name.startswith("out"))}
    with rejects("ambiguous"):
        order(moved)


def test_numbers_in_names_are_an_order():
    numbered = state(*(f"layers.{i}" for i in (0, 2, 10, 12)))
    assert order(by_name(numbered), in_order=False) == [0, 1, 2, 3]
    mixed = state("input", "hidden.2", "hidden.10", "output")
    assert order(by_name(mixed), in_order=False) == [0, 1, 2, 3]


def test_numbers_and_file_that_disagree_are_refused(rejects):
    with rejects("ambiguous", "layers.2.weight"):
        order(state(*(f"layers.{i}" for i in (0, 10, 2, 12))))


@pytest.mark.parametrize(
    ("weight", "bias"),
    [("w{}", "b{}"), ("weights.{}", "biases.{}"), ("fc{}.weight", "fc{}.bias"), ("D_{}/w", "D_{}/b")],
)
def test_a_bias_belongs_to_the_weight_of_its_layer(weight, bias):
    arrays = {weight.format(i): np.full((4, 4), i, np.float32) for i in range(3)}
    arrays |= {bias.format(i): np.full(4, i, np.float32) for i in reversed(range(3))}
    assert order(by_name(arrays), "4x4x4x4", in_order=False) == [0, 1, 2]


def test_a_layer_may_have_no_bias():
    arrays = state("0", "2", "4", sizes=(2, 4, 4, 1))
    del arrays["4.bias"]
    layers = dense_layers(arrays, "2x4x4x1", PATH, in_order=True)
    assert layers.biases[2].tolist() == [0.0]
