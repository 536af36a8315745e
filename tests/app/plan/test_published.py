"""The published values: complete, as printed, and found by the settings of a run."""

import subprocess
import sys
from collections import Counter

import pytest

from epinn.app.plan.published import Published, lookup, rows
from epinn.errors import InputError

COUNTS = {
    "poisson1d": 11,
    "poisson1d-nonlinear": 11,
    "porous1d": 11,
    "poisson2d-nonlinear": 11,
    "heat1d-inverse": 8,
    "burgers-collocation": 4,
    "burgers-epinet-width": 5,
    "burgers-epinet-epochs": 3,
    "burgers-base-epochs": 3,
    "burgers-noise": 3,
}
SETTINGS = {
    "dropout.rate": 0.05,
    "epinet.hidden": (32, 32, 32),
    "epinet.epochs": 10_000,
    "base.epochs": 100_000,
    "points.collocation": 100,
}


def test_every_row_of_every_table_is_there():
    assert Counter(row.table for row in rows()) == COUNTS
    assert list(dict.fromkeys(row.table for row in rows())) == list(COUNTS)
    assert all(len(rows(table)) == count for table, count in COUNTS.items())


def test_the_times_add_up():
    assert sum(row.values["time_s"] for row in rows()) == pytest.approx(135_133.68)


def test_no_two_rows_of_a_table_are_the_same_run():
    runs = [(row.table, row.method, row.noise, str(row.setting)) for row in rows()]
    assert len(set(runs)) == len(runs)


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.table}-{row.method}-{row.noise}-{row.setting}")
def test_values_make_sense(row):
    assert row.method in ("epinet", "dropout", "hmc")
    assert row.noise in (0.0, 0.1, 0.3)
    assert row.method != "hmc" or row.noise > 0
    assert row.problem in (row.table, "burgers")
    quality = {"kappa_mean", "kappa_std"} if row.problem == "heat1d-inverse" else {"sharpness", "coverage", "rmse"}
    timing = {"time_s", "time_uq_s"} if row.method == "epinet" else {"time_s"}
    assert set(row.values) == quality | timing
    assert 0 <= row.values.get("coverage", 0) <= 1
    assert all(value > 0 for value in row.values.values())
    assert row.values.get("time_uq_s", 0) < row.values["time_s"]


@pytest.mark.parametrize(
    ("problem", "method", "noise", "setting", "values"),
    [
        (
            "poisson1d",
            "epinet",
            0.0,
            {},
            {"sharpness": 0.33, "coverage": 1.0, "rmse": 0.0074, "time_s": 510.75, "time_uq_s": 113.83},
        ),
        ("poisson1d", "hmc", 0.1, {}, {"sharpness": 0.97, "coverage": 1.0, "rmse": 0.0996, "time_s": 1672.45}),
        ("poisson1d-nonlinear", "hmc", 0.3, {}, {"sharpness": 1.26, "coverage": 0.51, "rmse": 0.7618, "time_s": 1763.16}),
        (
            "porous1d",
            "dropout",
            0.3,
            {"dropout.rate": 0.1},
            {"sharpness": 3.05, "coverage": 1.0, "rmse": 0.0663, "time_s": 358.4},
        ),
        (
            "poisson2d-nonlinear",
            "hmc",
            0.1,
            {},
            {"sharpness": 0.26, "coverage": 0.99, "rmse": 0.0428, "time_s": 2623.84},
        ),
        ("heat1d-inverse", "hmc", 0.3, {}, {"kappa_mean": 0.078, "kappa_std": 0.019, "time_s": 2583.11}),
        (
            "heat1d-inverse",
            "epinet",
            0.1,
            {},
            {"kappa_mean": 0.099, "kappa_std": 0.012, "time_s": 4258.5, "time_uq_s": 1068.63},
        ),
    ],
)
def test_lookup_finds_the_printed_values(problem, method, noise, setting, values):
    found = lookup(problem, method, noise, SETTINGS | setting)
    assert found is not None
    assert (found.table, found.problem, found.method, found.noise) == (problem, problem, method, noise)
    assert found.values == values


@pytest.mark.parametrize(
    ("table", "setting", "noise", "values"),
    [
        ("burgers-collocation", {"points.collocation": 20}, 0.0, (0.09, 0.35, 0.2208)),
        ("burgers-epinet-width", {"epinet.hidden": [64, 64]}, 0.0, (1.09, 1.0, 0.0308)),
        ("burgers-epinet-epochs", {"epinet.epochs": 1_000_000}, 0.0, (0.01, 1.0, 0.0003)),
        ("burgers-base-epochs", {"base.epochs": 10_000}, 0.0, (0.07, 1.0, 0.0027)),
        ("burgers-noise", {}, 0.3, (1.16, 1.0, 0.0220)),
    ],
)
def test_ablations_are_as_printed(table, setting, noise, values):
    (row,) = (row for row in rows(table) if (row.setting, row.noise) == (setting, noise))
    assert (row.values["sharpness"], row.values["coverage"], row.values["rmse"]) == values


@pytest.mark.parametrize(
    ("problem", "method", "noise", "setting"),
    [
        ("poisson1d", "hmc", 0.0, {}),  # not run on physics alone
        ("poisson1d", "dropout", 0.1, {"dropout.rate": 0.2}),  # another rate
        ("poisson1d", "epinet", 0.2, {}),  # another noise
        ("heat1d-inverse", "epinet", 0.0, {}),
        ("burgers", "epinet", 0.0, {"points.collocation": 1000}),  # only in ablations
        ("burgers-noise", "epinet", 0.0, {}),  # a table, not a problem
        ("poisson1d", "laplace", 0.0, {}),
        ("mine", "epinet", 0.0, {}),
    ],
)
def test_lookup_misses(problem, method, noise, setting):
    assert lookup(problem, method, noise, SETTINGS | setting) is None


def test_a_row_does_not_match_settings_that_lack_its_names():
    assert lookup("poisson1d", "dropout", 0.1, {}) is None
    assert lookup("poisson1d", "epinet", 0.1, {}) is not None


def test_lists_and_tuples_are_the_same_setting():
    row = Published("t", "p", "epinet", 0.0, {"epinet.hidden": [4, 4]}, {}, 1)
    assert row.matches({"epinet.hidden": (4, 4)})
    assert row.matches({"epinet.hidden": [4, 4]})
    assert not row.matches({"epinet.hidden": (4, 4, 4)})


def test_an_unknown_table_suggests_the_nearest():
    with pytest.raises(InputError, match="burgers-noise"):
        rows("burger-noise")


def test_reading_them_does_not_load_jax():
    code = "import sys, epinn.app.plan.published as p; p.rows(); assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
