"""What `epinn check` says of a problem: what was written, how it holds, and what was found out."""

import pytest

from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.report.understanding import understood

pytestmark = pytest.mark.usefixtures("quick_compile")

AQUIFER = """
[domain]
x = [0, 1000]
[unknowns]
q = { guess = 1e-3, prior = "Normal(1e-3, 5e-4)", positive = true }
[[equation]]
expression = "(where(x < 400, 10, 1.2) * h.x).x + q = 0"
[[boundary]]
on = "x=0"
value = 10
[[boundary]]
kind = "neumann"
on = "x=1000"
value = 0
tolerance = 1e-3
[[data]]
value = "h"
held_out = true
columns = { x = [100, 500], h = [12, 14], s = [0.1, 0.3] }
sigma = "s"
[[data]]
value = "h"
columns = { x = [200, 700], h = [12, 14] }
"""

PLATE = """
import epinn
plate = epinn.Problem(
    domain=epinn.Box(x=(0, 1), y=(0, 1)),
    equation=lambda u, x: u.xx + u.yy + x,
    boundary=[epinn.Dirichlet(1.0, on="x"), epinn.Dirichlet(0.0, on="y")],
)
"""


def rows(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    spec = f"{path}:plate" if name.endswith(".py") else str(path)
    return understood(Plan(find(spec), ("laplace",), (None,), (0,), preset("fast", spec)))


def test_an_aquifer_in_two_zones_with_unknown_recharge(tmp_path):
    found = rows(tmp_path, "aquifer.toml", AQUIFER)
    told = dict(found)
    assert told["problem"].startswith("aquifer (")
    assert told["domain"] == "x from 0 to 1000, in zones that meet at 400, where the equation jumps"
    assert told["equation"] == "(where(x < 400, 10, 1.2) * h.x).x + q = 0; 128 points, exact"
    assert told["boundary"] == "h = 10 on x=0; 1 point, exact"
    assert told["neumann"] == "dh/dn = 0 on x=1000; 1 point, exact up to 0.0010"
    assert told["data"] == "h from 12.0 to 14.0; 2 readings, noise unknown, to be inferred"
    assert told["data, held out"] == "h from 12.0 to 14.0; 2 readings, sigma 0.10 to 0.30"
    assert told["unknown"] == "q, searched from 0.001, positive; known beforehand as 0.001 ± 0.0005"


def test_contradictions_in_corners_are_told_and_operators_in_python_by_what_they_ask_for(tmp_path):
    found = rows(tmp_path, "mine.py", PLATE)
    told = dict(found)
    assert told["equation"].startswith("an operator of u.xx, u.yy, x; 1024 points")
    assert "given values contradict each other, and it is solved up to there" in told["note"]
    assert [label for label, _ in found].count("domain") == 2


HEATED = """
[domain]
x = [0, 50]
t = [0, 1500]
[[equation]]
expression = "T.t = 0.8 * T.xx + where(t > 100, q, 0)"
[[initial]]
value = 293
[[boundary]]
on = "x=0"
value = "where(t < 600, 293, 393)"
[[boundary]]
on = "x=50"
value = 293
[constants]
q = 0
"""


@pytest.mark.parametrize(
    ("source", "places"), [("0", "(x = 0, t = 600)"), ("0.1", "(x = 0, t = 100) and (x = 0, t = 600) and (x = 50, t = 100)")]
)
def test_what_happens_later_is_told_with_its_place(tmp_path, source, places):
    told = dict(rows(tmp_path, "heated.toml", HEATED.replace("q = 0", f"q = {source}")))
    assert told["note"] == f"something is sudden at {places}, and it is solved up to there: the equation spreads that"


def test_many_times_are_told_without_the_places(tmp_path):
    pulses = HEATED.replace("where(t > 100, q, 0)", "where(sin(t / 100) > 0, 0.1, 0)")
    assert "sudden at t = 0, 314" in dict(rows(tmp_path, "heated.toml", pulses))["note"]


def test_where_an_equation_is_not_finite_is_told(tmp_path):
    ball = PLATE.replace("x=(0, 1), y=(0, 1)", "r=(0, 3)").replace("u, x: u.xx + u.yy + x", "u, r: u.rr + 2 / r * u.r + 1")
    ball = ball[: ball.index("    boundary")] + '    boundary=epinn.Dirichlet(0.0, on="r=3"),\n)\n'
    assert "'equation' is not finite at r=0 (1 of 128 points)" in dict(rows(tmp_path, "ball.py", ball))["note"]
