"""Ours beside theirs: what counts as inside, and the reason given for the rest."""

import dataclasses

import pytest

from epinn.app.paper import reasons
from epinn.app.paper.reasons import reason
from epinn.app.paper.tables import Comparison, counts
from epinn.app.plan.published import rows

EPINET, DROPOUT, HMC = (
    next(row for row in rows("poisson1d") if row.method == m and row.noise) for m in ("epinet", "dropout", "hmc")
)


def spread(low, high):
    return {"median": (low + high) / 2, "min": low, "max": high}


def compared(row=EPINET, diagnostics=None, **ours):
    return Comparison(row, {name: spread(*ends) for name, ends in ours.items()}, diagnostics or {}, 10, 0)


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [(0.2, 0.3, True), (0.234, 0.5, True), (0.236, 0.5, False), (0.1, 0.2249, False), (0.1, 0.2251, True)],
)
def test_inside_is_judged_at_the_printed_precision(low, high, inside):
    assert EPINET.values["sharpness"] == 0.23
    assert compared(sharpness=(low, high)).inside("sharpness") is inside


def test_a_metric_without_a_value_is_not_inside():
    assert not compared().inside("rmse")
    assert reason(compared(), "rmse") is reasons.MISSING


def test_counts_are_by_method_and_metric():
    found = [
        compared(sharpness=(0.2, 0.3), coverage=(0.9, 1.0), rmse=(1, 2)),
        compared(DROPOUT, sharpness=(0, 9), coverage=(0, 1), rmse=(0, 1)),
    ]
    assert counts(found) == {
        "epinet": {"sharpness": (1, 1), "coverage": (1, 1), "rmse": (0, 1)},
        "dropout": {"sharpness": (1, 1), "coverage": (1, 1), "rmse": (1, 1)},
    }


def test_a_record_keeps_the_contract():
    record = compared(sharpness=(0.2, 0.3), coverage=(0.9, 1.0), rmse=(1, 2)).record()
    assert {"table", "setting", "method", "noise", "published", "ours", "seeds"} <= set(record)
    assert record["published"] == dict(EPINET.values)
    assert set(record["ours"]["rmse"]) == {"median", "min", "max"}
    assert record["inside"] == {"sharpness": True, "coverage": True, "rmse": False}
    assert record["seeds"] == 10


def row_of(table, **setting):
    return next(
        row for row in rows(table) if all(row.setting.get(name.replace("__", ".")) == value for name, value in setting.items())
    )


@pytest.mark.parametrize(
    ("one", "metric", "expected"),
    [
        (compared(sharpness=(0.25, 0.5)), "sharpness", reasons.NEAR),
        (compared(sharpness=(0.1, 0.2)), "sharpness", reasons.NEAR),
        (compared(sharpness=(0.5, 0.9)), "sharpness", reasons.UNKNOWN),
        (compared(DROPOUT, sharpness=(0.5, 0.9)), "sharpness", reasons.DROPOUT),
        (compared(HMC, {"acceptance": spread(0, 0.02)}, rmse=(0.3, 0.4)), "rmse", reasons.STUCK_CHAIN),
        (compared(HMC, {"acceptance": spread(0.4, 0.6)}, rmse=(0.3, 0.4)), "rmse", reasons.UNMIXED_CHAIN),
        (compared(row_of("burgers-epinet-epochs", epinet__epochs=10**6), rmse=(0.1, 0.2)), "rmse", reasons.FLOOR),
        (compared(row_of("burgers-noise"), rmse=(0.1, 0.2)), "rmse", reasons.BLIND_BASE),
        (compared(row_of("heat1d-inverse"), kappa_std=(0.1, 0.2)), "kappa_std", reasons.HEAD),
        (compared(row_of("heat1d-inverse", dropout__rate=0.1), kappa_mean=(0.3, 0.4)), "kappa_mean", reasons.POSITIVE),
    ],
)
def test_the_reason_is_the_one_that_applies(one, metric, expected):
    assert reason(one, metric) is expected


def test_labels_name_the_method_as_the_paper_does():
    assert compared().label == "E-PINN"
    assert compared(DROPOUT).label == "Dropout-PINN 5%"
    assert compared(dataclasses.replace(DROPOUT, setting={"dropout.rate": 0.1})).label == "Dropout-PINN 10%"
