"""What counts as a number, a whole number and a name; everything else is refused in one line."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from epinn import InputError
from epinn.arguments import is_number, is_whole, names, number, text, whole
from epinn.errors import one_line, shown, unknown_name
from epinn.problem.checks import as_columns

STEADY = settings(derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(), st.binary(),
    st.lists(st.integers() | st.text(), max_size=3), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


def refusal(check):
    """What was said to a user; nothing if all was fine."""
    try:
        check()
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("value", [0, -1.5, np.float32(2), np.int64(3), jnp.asarray(1.0), np.asarray(4.0), 10**30])
def test_numbers_of_all_kinds_are_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize(
    "value",
    [None, True, "1", b"1", 1j, float("nan"), float("inf"), 10**400, [1], np.ones(1), np.ones((2, 2)), np.datetime64("2024"),
     np.ma.masked, np.bool_(True), object(), len],
)  # fmt: skip
def test_nothing_else_is_a_number(value):
    assert not is_number(value)


def test_whole_numbers_have_limits(rejects):
    assert is_whole(np.int32(3), 3)
    assert not is_whole(2.0)
    whole(5, "the order", 0, 6)
    with rejects("order", "0", "6", "7"):
        whole(7, "the order", 0, 6)
    with rejects("order", "at least", "1"):
        whole("x", "the order", 1)


def test_names_are_identifiers(rejects):
    assert names("u", "fields", "('u',)") == ("u",)
    assert names(["u", "v"], "fields", "('u',)") == ("u", "v")
    for wrong in (3, ["u", 3], ["u v"], np.ones(2), None):
        with rejects("fields"):
            names(wrong, "fields", "fields=('u', 'v')")


@settings(STEADY)
@given(ANYTHING)
def test_whatever_is_no_number_is_told_in_one_short_line(value):
    for check in (lambda: number(value, "a"), lambda: whole(value, "a"), lambda: text(value, "a", "x")):
        said = refusal(check)
        assert "\n" not in said
        assert len(said) < 400
    assert "\n" not in shown(value)


@settings(STEADY)
@given(st.text(), st.lists(st.text(max_size=50), max_size=300))
def test_a_name_that_is_unknown_is_told_in_one_short_line(name, known):
    said = str(unknown_name("setting", name, {"a", *(one.replace("\n", "") for one in known)}))
    assert len(said) < 1500


@settings(STEADY)
@given(
    hnp.arrays(st.one_of(hnp.scalar_dtypes(), st.just(np.dtype(object))), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
)
def test_points_are_finite_rows_or_refused(array):
    found = []
    said = refusal(lambda: found.append(as_columns(array, "data", ("x", "t"))))
    assert "\n" not in said
    for points in found:
        assert points.shape == (len(array), 2)
        assert np.isfinite(points).all()


def test_what_another_package_says_is_one_line():
    assert one_line(ValueError("a\n  b\n")) == "a b"
    assert one_line(KeyError()) == "KeyError"
    assert len(one_line(ValueError("x" * 9999))) < 300
