"""Checks of residuals: how often sound measurements alarm, what is found, and in which words."""

from collections import Counter

import numpy as np
import pytest

from epinn.problem.student import GAUSSIAN
from epinn.solve.diagnosis import Readings, diagnose

N, SETS = 30, 400
T = np.linspace(0, 10, N)
SMOOTH = np.linalg.qr(np.cos(np.pi * np.outer(T / 10, np.arange(4))))[0]  # what a fit can follow


def readings(z, *, known=True, freedom=GAUSSIAN, unit=1.0, used=0.0):
    n = len(z)
    points = unit * np.linspace(0, 10, n)[:, None]
    return Readings("data", np.asarray(z), points, ("t",), np.full(n, 0.1), known, freedom, used)


def left(y):
    """What a fit of a smooth function leaves."""
    return y - SMOOTH @ (SMOOTH.T @ y)


def kinds(make, **how):
    random = np.random.default_rng(0)
    return Counter(finding.kind for _ in range(SETS) for finding in diagnose([readings(make(random), **how)]))


def outlying(random):
    return random.standard_normal(N) + 10 * np.isin(np.arange(N), random.choice(N, 3, replace=False))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("n", [8, 30, 100])
@pytest.mark.parametrize("freedom", [GAUSSIAN, 4.0])
def test_sound_measurements_hardly_ever_alarm(n, known, freedom):
    gaussian = freedom == GAUSSIAN
    found = kinds(lambda r: r.standard_normal(n) if gaussian else r.standard_t(freedom, n), known=known, freedom=freedom)
    assert sum(found.values()) <= 3  # 0.4 expected in 400: more than 3 once in a thousand times


def test_neither_do_those_that_a_fit_has_followed():
    assert sum(kinds(lambda r: left(r.standard_normal(N)), used=4.0).values()) <= 3


def test_what_is_smaller_than_the_noise_denies_nothing():
    """Readings that were computed, and have no noise at all, leave what the prior of a fit pulls at."""
    found = kinds(lambda r: 0.1 * np.cos(np.pi * T / 10) + 1e-3 * r.standard_normal(N))
    assert set(found) <= {"scatter less"}
    assert kinds(lambda r: 0.1 * np.cos(np.pi * T / 10) + 1e-3 * r.standard_normal(N), known=False)["pattern"] == SETS


@pytest.mark.parametrize("known", [True, False])
def test_what_few_of_them_follow_is_seen_beside_others_without_noise(known):
    """Nearly half of the readings follow something by one and a half sigma, and the others have no noise to speak of."""
    bump = 1.5 * np.sin(np.pi * np.clip((np.arange(100) / 100 - 0.55) / 0.45, 0, 1))
    assert kinds(lambda r: bump + 0.01 * r.standard_normal(100), known=known)["pattern"] > 0.95 * SETS


@pytest.mark.parametrize(
    ("kind", "make", "least"),
    [
        ("scatter more", lambda r: left(3 * r.standard_normal(N)), 0.9),
        ("scatter less", lambda r: left(r.standard_normal(N) / 3), 0.9),
        ("outliers", lambda r: left(outlying(r)), 0.7),
        ("pattern", lambda r: r.standard_normal(N) + 3 * np.cos(np.pi * T / 10), 0.9),  # a sensor that drifts
        ("pattern", lambda r: r.standard_normal(N) + 3 * np.sin(np.pi * T / 4), 0.9),  # a term that is missing
    ],
)
def test_what_is_wrong_is_found(kind, make, least):
    assert kinds(make, used=4.0)[kind] > least * SETS


@pytest.mark.parametrize("kind", ["outliers", "pattern"])
def test_without_a_sigma_too(kind):
    make = outlying if kind == "outliers" else lambda r: r.standard_normal(N) + 3 * np.cos(np.pi * T / 10)
    assert kinds(make, known=False)[kind] > 0.9 * SETS


def test_whatever_they_are_taken_for_outliers_are_never_sound():
    random = np.random.default_rng(0)
    assert all(diagnose([readings(left(outlying(random)))]) for _ in range(SETS))


def test_heavy_tails_have_no_outliers():
    assert kinds(outlying, freedom=4.0)["outliers"] == 0


def test_too_small_a_sigma_makes_no_outliers():
    assert kinds(lambda r: 3 * r.standard_normal(N))["outliers"] < 0.02 * SETS


def said(z, **how):
    (finding,) = diagnose([readings(z, **how)])
    return finding.said


def test_words_name_condition_and_place():
    random = np.random.default_rng(1)
    noise = random.standard_normal(N)
    wild = noise.copy()
    wild[[9, 20]] = [15, -12]
    assert said(wild) == "2 of 30 readings of 'data' are outliers (t = 3.1; 6.9, off by 15, 12 times sigma)"
    assert said(3 * noise).startswith("the readings of 'data' scatter 2.")
    assert said(3 * noise).endswith("times as much as sigma = 0.1 says")
    assert "times less than sigma = 0.1 says" in said(noise / 3)
    bent = said(noise + 4 * np.exp(-(((T - 3) / 1.5) ** 2)))
    assert bent.startswith("the measurements of 'data' deny the equation near t = ")
    assert bent.endswith("residuals have one sign")
    assert abs(float(bent.split("t = ")[1].split(",")[0]) - 3) < 1


def test_other_units_give_the_same_words():
    z = outlying(np.random.default_rng(2))
    assert said(z, unit=1e-9).split("(")[0] == said(z, unit=1e6).split("(")[0]
    pattern = np.random.default_rng(3).standard_normal(N) + 3 * np.cos(np.pi * T / 10)
    assert said(pattern, unit=1e-9).split(",")[1] == said(pattern, unit=1e6).split(",")[1]


def test_few_readings_say_nothing():
    assert diagnose([readings([20.0, -20.0, 20.0])]) == []


@pytest.mark.parametrize("place", [0, 20, 39])
@pytest.mark.parametrize("known", [True, False])
def test_in_the_plane_an_outlier_is_found_wherever_it_stands(place, known):
    """Also in a list whose first reading it is: the constants of both coordinates are one."""
    random = np.random.default_rng(3)
    z = random.standard_normal(40)
    z[place] = 30.0
    points = random.uniform(size=(40, 2))
    (found,) = diagnose([Readings("data", z, points, ("x", "y"), np.full(40, 0.1), known)])
    assert found.kind == "outliers"


def test_residuals_that_are_no_numbers_are_left_to_others():
    assert diagnose([readings(np.full(N, np.nan))]) == []


def test_of_very_many_readings_some_are_looked_at():
    z = 3 * np.random.default_rng(0).standard_normal(1_000_000)
    assert [finding.kind for finding in diagnose([readings(z)])] == ["scatter more"]
