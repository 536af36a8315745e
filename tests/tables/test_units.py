"""Units: offsets for values, none for differences, and a line for what cannot be converted."""

import sys

import numpy as np
import pytest

from epinn.tables import units
from epinn.tables.table import split
from epinn.tables.units import converted, factor


@pytest.mark.parametrize(
    ("own", "wanted", "before", "after"),
    [
        ("degC", "K", 20.0, 293.15),
        ("°C", "K", 0.0, 273.15),
        ("degF", "degC", 212.0, 100.0),
        ("mm", "m", 5.0, 0.005),
        ("min", "s", 1.5, 90.0),
        ("minutes since 2024-05-01 10:00", "s", 2.0, 120.0),
        ("W/(m K)", "mW/mm/K", 2.0, 2.0),
    ],
)
def test_values_have_offsets(own, wanted, before, after):
    np.testing.assert_allclose(converted(np.array([before]), own, wanted, "T"), [after])
    np.testing.assert_allclose(converted(np.array([after]), wanted, own, "T"), [before], atol=1e-12)


@pytest.mark.parametrize(("own", "wanted", "expected"), [("degC", "K", 1.0), ("degF", "K", 5 / 9), ("mK", "degC", 1e-3)])
def test_differences_have_none(own, wanted, expected):
    assert factor(own, wanted, "dT") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("own", "wanted", "words"),
    [
        ("mm", "s", ("T", "'mm'", "'s'", "[length]", "[time]")),
        ("C", "K", ("coulomb", "'degC'")),
        ("blah", "K", ("'blah'", "not a unit")),
        ("(((", "K", ("not a unit",)),
    ],
)
def test_what_cannot_be_converted_is_said(rejects, own, wanted, words):
    with rejects(*words):
        converted(np.zeros(1), own, wanted, "T")


def test_a_logarithmic_unit_has_no_factor(rejects):
    with rejects("dT", "differences"):
        factor("dBm", "mW", "dT")


def test_without_pint_the_extra_is_named(rejects, monkeypatch):
    monkeypatch.setitem(sys.modules, "pint", None)
    units._registry.cache_clear()
    with rejects("pint", "pip install 'epinn[data]'"):
        converted(np.zeros(1), "mm", "m", "x")
    assert converted(np.ones(1), "mm", "mm", "x") == [1]  # which needs no package


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("T", ("T", None)),
        ("T [degC]", ("T", "degC")),
        ("T(°C)", ("T", "°C")),
        ("q [W/(m K)]", ("q", "W/(m K)")),
        ("flux (left) [W]", ("flux (left)", "W")),
        ("[mm]", ("[mm]", None)),
    ],
)
def test_headers_have_names_and_units(header, expected):
    assert split(header) == expected
