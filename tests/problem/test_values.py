"""Which targets of conditions are values of a field."""

import numpy as np
import pytest

import epinn
from epinn.problem.values import divisor, values_of

PROBLEM = epinn.Problem(
    epinn.Box(x=(0, 1), t=(0, 2)),
    lambda u, v: [u.t - u.xx, v.t - u],
    fields=("u", "v"),
    boundary=[
        epinn.Dirichlet(3.0, on="x=0", field="u"),
        epinn.Robin(2.0, 1.0, 5.0, on="x=1", field="u"),
        epinn.Periodic("x", field="v"),
    ],
    initial=[epinn.Initial(7.0, field="u"), epinn.Initial(0.5, field="v")],
    data=[
        epinn.Data([[0.5, 1.0]], [9.0], field="u"),
        epinn.Data([[0.5, 1.0]], [11.0], operator=lambda u: u.x),
        epinn.Data([[0.5, 1.0]], [13.0], field="u", held_out=True),
    ],
)


@pytest.mark.parametrize(
    ("field", "kinds", "values"),
    [("u", None, {3.0, 7.0, 9.0}), ("v", None, {0.5}), ("u", ("data",), {9.0}), ("v", ("data",), set())],
)
def test_values_are_told_from_slopes_sums_and_differences(field, kinds, values):
    found = values_of(field, PROBLEM.channels(0), **({} if kinds is None else {"kinds": kinds}))
    assert set(np.unique(found)) == values


def test_what_a_target_is_divided_by_is_zero_unless_it_is_a_value():
    channels = {channel.name: channel for channel in PROBLEM.channels(0)}
    assert {divisor(channel, "u") for channel in channels.values()} == {0.0, 1.0}
    assert all(divisor(channel, "v") == 0 for channel in channels.values() if channel.kind in ("equation", "data"))


def test_a_multiple_of_a_field_is_a_value_too():
    twice = epinn.Problem(epinn.Box(x=(0, 1)), lambda u: u.xx, boundary=epinn.Robin(2.0, 0.0, 5.0))
    assert set(values_of("u", twice.channels(0))) == {2.5}
