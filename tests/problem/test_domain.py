"""Boxes, faces and points in them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, qmc

from epinn.problem.domain import SAMPLINGS, Box, grid_counts, unit_points

pytestmark = pytest.mark.usefixtures("quick_compile")

BOX = Box(x=(-1, 3), y=(0, 0.5), t=(2, 4))
KEY = jax.random.key(0)


def test_a_box_knows_its_coordinates():
    assert BOX.coordinates == ("x", "y", "t")
    assert BOX.space == ("x", "y")
    assert BOX.dimension == 3
    assert (BOX.lower, BOX.upper) == ((-1, 0, 2), (3, 0.5, 4))
    assert BOX.axis("t") == 2


@pytest.mark.slow
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("box", [Box(x=(-0.7, 0.7)), BOX])
def test_points_lie_in_the_box_and_reach_into_its_corners(sampling, box):
    points = np.asarray(box.points(64, sampling, key=KEY))
    assert points.shape == (64, box.dimension)
    assert np.all(box.contains(points))
    relative = (points - np.array(box.lower)) / (np.array(box.upper) - np.array(box.lower))
    assert np.all(relative.min(axis=0) < 0.15)
    assert np.all(relative.max(axis=0) > 0.85)


@pytest.mark.parametrize("sampling", ["uniform", "latin", "sobol"])
def test_random_points_follow_the_key(sampling):
    first, same, other = (np.asarray(BOX.points(64, sampling, key=jax.random.key(seed))) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, same)
    assert not np.any(np.all(first == other, axis=1))


@pytest.mark.parametrize("sampling", ["uniform", "latin", "sobol"])
def test_every_point_of_a_random_sampling_is_uniform(sampling):
    """The first point over many keys, not the points of one set: a set is more even than chance."""
    first = np.asarray(jax.jit(jax.vmap(lambda key: unit_points(4, 2, sampling, key=key)[0]))(jax.random.split(KEY, 2000)))
    for column in first.T:
        assert kstest(column, "uniform").pvalue > 1e-4


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("n", [1, 23])
def test_a_latin_hypercube_has_one_point_in_every_stratum(n):
    points = np.asarray(unit_points(n, 3, "latin", key=KEY))
    for column in points.T:
        np.testing.assert_array_equal(np.sort(np.floor(column * n)), np.arange(n))


def test_the_columns_of_a_latin_hypercube_are_shuffled_apart():
    points = np.asarray(unit_points(64, 3, "latin", key=KEY))
    correlation = np.corrcoef(points.T)
    assert np.all(np.abs(correlation - np.eye(3)) < 0.5)


@pytest.mark.parametrize(("n", "dimension"), [(64, 3), (100, 2)])
def test_sobol_points_are_more_even_than_random_ones(n, dimension):
    def discrepancy(sampling, key):
        return qmc.discrepancy(np.clip(np.asarray(unit_points(n, dimension, sampling, key=key), float), 0, 1), method="CD")

    keys = jax.random.split(KEY, 10)
    assert max(discrepancy("sobol", key) for key in keys) < min(discrepancy("uniform", key) for key in keys)


@pytest.mark.parametrize(
    ("n", "dimension", "counts"),
    [(7, 1, (7,)), (1, 1, (1,)), (100, 2, (10, 10)), (12, 2, (3, 4)), (50, 2, (5, 10)), (27, 3, (3, 3, 3)), (24, 3, (2, 3, 4))],
)
def test_grid_counts_are_as_equal_as_they_can_be(n, dimension, counts):
    assert grid_counts(n, dimension) == counts


@pytest.mark.parametrize(("n", "dimension", "instead"), [(7, 2, "9"), (101, 2, "100"), (26, 3, "27")])
def test_a_number_that_makes_no_even_grid_is_refused_with_one_that_does(n, dimension, instead, rejects):
    with rejects(str(n), instead, "sobol"):
        unit_points(n, dimension, "grid", key=None)
    assert len(unit_points(int(instead), dimension, "grid", key=None)) == int(instead)


def test_a_grid_is_the_product_of_its_axes():
    points = np.asarray(Box(x=(0, 1), y=(-1, 1)).grid(3, 5))
    np.testing.assert_allclose(np.unique(points[:, 0]), [0, 0.5, 1])
    np.testing.assert_allclose(np.unique(points[:, 1]), [-1, -0.5, 0, 0.5, 1])
    assert len({tuple(point) for point in points.tolist()}) == 15
    np.testing.assert_allclose(points[:5, 0], 0)  # the last coordinate runs fastest


def test_one_count_serves_every_coordinate():
    np.testing.assert_array_equal(BOX.grid(4), BOX.grid(4, 4, 4))


@pytest.mark.parametrize("counts", [(2, 3), (2, 3, 4, 5), ()])
def test_a_grid_with_the_wrong_number_of_counts_is_refused(counts, rejects):
    with rejects("x", "y", "t"):
        BOX.grid(*counts)


def test_a_dense_grid_finds_the_sup_norm():
    box = Box(x=(-1, 1), y=(0, 2))
    x, y = np.asarray(box.grid(101)).T
    np.testing.assert_allclose(np.abs(np.sin(np.pi * x) * y).max(), 2, rtol=1e-5)


def test_interior_points_are_evenly_spaced_and_touch_no_face():
    box = Box(x=(0, 1), y=(0, 3))
    points = np.asarray(box.interior(6))
    assert len(points) == 6
    np.testing.assert_allclose(np.unique(points[:, 0]), np.arange(1, 3) / 3, rtol=1e-6)
    np.testing.assert_allclose(np.unique(points[:, 1]), 3 * np.arange(1, 4) / 4, rtol=1e-6)


def test_faces_are_included_and_the_outside_is_not():
    box = Box(x=(-0.7, 0.7), t=(0, 1))
    inside = np.array([[-0.7, 0.5], [0.7, 1.0], [0.0, 0.0], [np.float32(0.7), 0.1]])
    outside = np.array([[-0.71, 0.5], [0.0, 1.01], [0.0, -0.01], [5.0, 5.0]])
    assert box.contains(inside).all()
    assert not box.contains(outside).any()


@pytest.mark.parametrize(
    ("on", "names"),
    [
        (None, ["x=-1", "x=3", "y=0", "y=0.5"]),
        ("x", ["x=-1", "x=3"]),
        ("t", ["t=2", "t=4"]),
        ("y=0.5", ["y=0.5"]),
        (" y = 0 ", ["y=0"]),
        ("x=-1.0", ["x=-1"]),
        ("x=3, t=2", ["x=3", "t=2"]),
        ("y,x=3", ["y=0", "y=0.5", "x=3"]),
        ("x=min, t = max", ["x=-1", "t=4"]),
    ],
)
def test_faces_are_found_by_name(on, names):
    assert [face.name for face in BOX.faces(on)] == names


@pytest.mark.parametrize("on", ["x=3.14159265", "x=3.14159", "x=3.1415926535897931"])
def test_a_face_is_found_by_any_of_its_digits(on):
    assert Box(x=(0, np.pi)).faces(on)[0].at_upper


@pytest.mark.parametrize(
    ("ends", "on", "at_upper"),
    [
        ((0, 1e-9), "x=1e-09", True),
        ((0, 1e-30), "x=1e-30", True),
        ((1e6, 1e6 + 1), "x=1000001", True),
        ((1e-3, 1e3), "x=0.001", False),
        ((0.1 + 0.2 - 0.3, 1), "x=0", False),
    ],
)
def test_a_face_is_told_from_others_in_any_unit(ends, on, at_upper):
    assert [face.at_upper for face in Box(x=ends).faces(on)] == [at_upper]


@pytest.mark.parametrize(("ends", "on"), [((0, 1e-9), "x=2e-9"), ((1e-3, 1e3), "x=0"), ((1e6, 1e6 + 1), "x=1000000.5")])
def test_a_place_in_between_is_no_face_in_any_unit(ends, on, rejects):
    with rejects(on, "min", "max"):
        Box(x=ends).faces(on)


@pytest.mark.parametrize("end", [np.pi, np.pi / 2, 1 / 3, 1 / 6, 1 / 7, 0.1, 12345.678, 1e-5])
def test_the_name_of_a_face_leads_back_to_it(end):
    box = Box(x=(-2 * end, end))
    for face in box.faces():
        assert box.faces(face.name)[0].position == face.position


@pytest.mark.parametrize("on", [*BOX.faces("x"), *BOX.faces("y"), *BOX.faces("t")], ids=lambda face: face.name)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_points_on_a_face_lie_on_it_and_spread_over_it(on, sampling):
    points = np.asarray(on.points(25, sampling, key=KEY))
    assert points.shape == (25, 3)
    np.testing.assert_array_equal(points[:, on.axis], np.float32(on.position))
    assert BOX.contains(points).all()
    others = np.delete(points, on.axis, axis=1)
    assert np.all(np.ptp(others, axis=0) > 0.6 * np.delete(np.subtract(BOX.upper, BOX.lower), on.axis))


def test_a_face_of_an_interval_is_one_point():
    low, high = Box(x=(-1, 2)).faces()
    np.testing.assert_array_equal(low.points(10), [[-1.0]])
    np.testing.assert_array_equal(high.points(10), [[2.0]])


def test_normals_point_outward():
    assert [face.outward for face in BOX.faces("x")] == [-1, 1]


@pytest.mark.parametrize("ends", [(1, 0), (1, 1), (0, 2, 1), (0,), (0, np.inf), (np.nan, 1), 1, ("a", "b"), None], ids=repr)
def test_an_interval_that_is_none_is_refused(ends, rejects):
    with rejects("radius"):
        Box(x=(0, 1), radius=ends)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Box(), ("coordinate",)),
        (lambda: BOX.axis("z"), ("z", "x", "y")),
        (lambda: BOX.faces("z=0"), ("z", "x", "y")),
        (lambda: BOX.faces("x=0"), ("x=0", "x=-1", "x=3")),
        (lambda: BOX.faces("x=left"), ("x=left", "x=-1", "x=3")),
        (lambda: BOX.points(8, "sobl", key=KEY), ("sobl", "sobol")),
        (lambda: BOX.points(8, "latin"), ("latin", "key")),
        (lambda: BOX.points(0), ("0",)),
        (lambda: BOX.points(-3, "uniform", key=KEY), ("-3",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_are_named(call, words, rejects):
    with rejects(*words):
        call()


@pytest.mark.slow
def test_points_can_be_drawn_in_compiled_code():
    for sampling in ("uniform", "latin", "sobol"):
        drawn = jax.jit(lambda key, sampling=sampling: BOX.points(64, sampling, key=key))(KEY)
        np.testing.assert_allclose(drawn, BOX.points(64, sampling, key=KEY), rtol=1e-6)


def test_points_have_the_precision_in_use(x64):
    assert BOX.points(8, "uniform", key=KEY).dtype == jnp.float64
    assert BOX.grid(2).dtype == jnp.float64
    assert BOX.faces("y")[1].points(4).dtype == jnp.float64


def test_a_number_of_points_with_many_factors_is_split_at_once():
    assert grid_counts(9_261_000, 3) == (210, 210, 210)


@pytest.mark.parametrize("ends", [("0", "1"), (0, 1j), (0, None), 3, (0, 10**400), np.ones((2, 2))])
def test_ends_that_are_no_numbers_are_refused(ends, rejects):
    with rejects("interval", "x"):
        Box(x=ends)


@pytest.mark.usefixtures("types_unchecked")
@pytest.mark.parametrize("number", [0, 2.5, "3", 10**12])
def test_numbers_of_points_have_limits(number, rejects):
    with rejects("number", "points"):
        Box(x=(0, 1)).grid(number)
