"""How long a fit will take. The figure is rough; that it grows with what is to be done is not."""

import pytest

import epinn
from epinn.solve import estimate
from epinn.solve.estimate import estimated_bytes, estimated_seconds, in_words

pytestmark = pytest.mark.usefixtures("quick_compile")

LINE = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx, boundary=epinn.Dirichlet(0.0))


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """One that makes 1e10 operations a second."""
    monkeypatch.setattr(estimate, "_speed", lambda: 1e10)


def test_an_easy_fit_is_shorter_than_a_hard_one():
    soon, at_last = estimated_seconds(epinn.Base(), LINE)
    assert 5 < soon < at_last < 600


@pytest.mark.parametrize("more", [{"epochs": 100_000}, {"newton": 3000, "newton_work": 1e14}, {"restarts": 20}])
def test_more_of_anything_takes_longer(more):
    assert estimated_seconds(epinn.Base(**more), LINE)[1] > 1.5 * estimated_seconds(epinn.Base(), LINE)[1]


def test_more_points_and_seeds_take_longer():
    many = LINE.with_points(collocation=4000)
    assert estimated_seconds(epinn.Base(), many)[0] > estimated_seconds(epinn.Base(), LINE)[0]
    assert estimated_seconds(epinn.Base(), LINE, seeds=50)[0] > estimated_seconds(epinn.Base(), LINE)[0]


def test_no_more_work_is_counted_than_is_allowed():
    """1e12 operations at this speed are 100 s, whatever the steps."""
    limited = epinn.Base(newton=10**9, newton_work=1e12, restarts=0, epochs=0)
    assert estimated_seconds(limited, LINE.with_points(collocation=4000))[1] < 300


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        ((21.0, 24.0), "about 20 s"),
        ((7.2, 130.0), "about 7 s, or 2 min if it is hard"),
        ((100.0, 7300.0), "about 2 min, or 2 h if it is hard"),
    ],
)
def test_it_is_said_in_round_numbers(seconds, text):
    assert in_words(seconds) == text


def test_memory_grows_with_rows_times_parameters_until_the_matrix_is_not_formed():
    small, large = (estimated_bytes(epinn.Base(hidden=(width, width)), LINE) for width in (8, 16))
    assert 2 < large / small < 5
    without = estimated_bytes(epinn.Base(hidden=(8, 8), newton=0), LINE)
    assert without < small / 10
