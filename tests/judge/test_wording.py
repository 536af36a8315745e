"""Numbers and warnings in words."""

import math

import pytest

from epinn.judge.wording import fixed, fixed_range, median_and_range, metric, notes, plus_minus, significant, split_advice


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0034, "0.0034"),
        (0.00341, "0.0034"),
        (3.14e-5, "3.1e-05"),
        (1.0, "1.0"),
        (9.96, "10"),
        (0.0996, "0.10"),
        (341.2, "341"),
        (-0.5, "-0.50"),
        (12345.6, "12346"),
        (2.5e7, "2.5e+07"),
        (0.0, "0"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_numbers_have_significant_digits(value, text):
    assert significant(value) == text


def test_a_number_that_is_not_zero_never_reads_as_zero():
    assert fixed(0.0034, 2) == "0.003"
    assert fixed(0.0034, 4) == "0.0034"
    assert fixed(0.0, 2) == "0.00"
    assert fixed(-0.001, 2) == "-0.001"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("sharpness", 0.00341, "0.00341"),
        ("rmse", 3.1e-5, "3.10e-05"),
        ("coverage", 0.96, "0.96"),
        ("coverage", 1.0, "1.00"),
        ("coverage", 0.002, "0.002"),
        ("rhat", 1.004, "1.004"),
        ("rhat", 31.4, "31"),
        ("ess", 250.4, "250"),
        ("time_s", 1234.5, "1234"),
    ],
)
def test_metrics_are_told_as_fits_them(name, value, text):
    assert metric(name, value) == text


def test_a_range_has_the_digits_of_its_median():
    spread = {"median": 0.003, "min": 0.0001234, "max": 12.0}
    assert median_and_range("rmse", spread) == "0.00300 (0.000123 to 12.0)"
    assert fixed_range(spread, 2) == "0.003 (0.0001 to 12.00)"
    same = {"median": 0.5, "min": 0.5, "max": 0.5}
    assert median_and_range("rmse", same) == "0.500"
    assert median_and_range("rmse", None) == fixed_range(None, 2) == "-"


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [
        (0.10123, 0.00421, "0.1012 ± 0.0042"),
        (1234.5, 250.0, "1234 ± 250"),
        (1.0e-4, 2.0e-6, "(1.000 ± 0.020)e-4"),
        (0.105, 0.0, "0.105 ± 0"),
        (0.0, 0.0, "0 ± 0"),
        (float("nan"), float("nan"), "nan ± nan"),
    ],
)
def test_a_mean_is_told_to_the_digits_of_its_spread(mean, std, text):
    assert plus_minus(mean, std) == text


@pytest.mark.parametrize(
    ("warning", "parts"),
    [
        ("the bound still rises (by 3): try more vi.steps.", ("the bound still rises (by 3)", "try more vi.steps.")),
        ("it is far above (0.1): no solution. Try more.", ("it is far above (0.1)", "no solution. Try more.")),
        ("it hardly moved; try less.", ("it hardly moved", "try less.")),
        ("nothing to do about it.", ("nothing to do about it", "")),
    ],
)
def test_a_warning_is_what_it_says_and_what_it_advises(warning, parts):
    assert split_advice(warning) == parts


def record(seed, *warnings):
    return {"method": "hmc", "seed": seed, "warnings": list(warnings)}


def test_warnings_that_differ_in_their_numbers_are_told_once():
    found = notes([record(0), record(1, "not mixed (R-hat 2.0): try x."), record(2, "not mixed (R-hat 3.0): try x.")])
    assert found == [("hmc, 2 of 3 seeds, such as seed 1", "not mixed (R-hat 2.0): try x.")]


def test_what_the_verdict_has_said_is_not_said_again():
    records = [record(0, "not mixed (R-hat 2.0): try x.", "something else.")]
    assert notes(records, ["not mixed (R-hat 2.0)"]) == [("hmc", "something else.")]
