"""The interactive view: what is in it, and that sliders, cursor and choices show it in a browser."""

import base64
import html
import json

import numpy as np
import pytest
from browser import outcome, with_script

import epinn
from epinn.app.report.page import HOW_TO_LOOK, Page, Section, View, render
from epinn.app.report.view import LIMIT, view_of
from epinn.judge.evaluation import Evaluation
from epinn.posterior.statistics import Prediction

RING = epinn.Disc(x=0, y=0, radius=2) - epinn.Disc(x=0, y=0, radius=1, name="hole")
HOSTILE = "</script><img src=x onerror=document.body.dataset.harm=1>"


def seen(domain, fields=("u",), count=11, label="epinet", samples=3, truth=True, data=()):
    """The first field is 300 and the last coordinate, every further one ten times as much."""
    problem = epinn.Problem(domain=domain, equation=lambda: 0.0, fields=fields, data=data)
    points = np.asarray(domain.mesh(count), float)
    places = np.flatnonzero(domain.contains(points))
    points = points[places]
    mean = (300 + points[:, -1:]) * 10.0 ** np.arange(len(fields))
    draws = None if not samples else mean + 1e-3 * np.arange(1, samples + 1)[:, None, None]
    found = Prediction(mean, np.full_like(mean, 1e-3), samples=draws)
    everywhere = None if len(places) == count**domain.dimension else places
    exact = mean + 1e-4 if truth else None
    return Evaluation(problem, label, points, (count,) * domain.dimension, found, exact, {}, {}, 0.0, everywhere)


def numbers(text, kind="<f4"):
    return np.frombuffer(base64.b64decode(text), kind)


def page(*evaluations):
    return render(Page("", "", (), (Section("Results", view=View(view_of(evaluations), HOW_TO_LOOK)),), {}))


# What is in it.


def test_small_bands_on_large_values_are_kept():
    view = view_of([seen(epinn.Box(x=(0, 1)))])
    assert view["across"] == [0]
    packed = view["values"][0][0]
    mean = packed["offset"] + numbers(packed["mean"]).astype(float)
    np.testing.assert_allclose(mean, 300 + np.linspace(0, 1, 11), atol=1e-6)
    np.testing.assert_allclose(numbers(packed["band"]), 2e-3, rtol=1e-5)
    np.testing.assert_allclose(numbers(packed["error"]), 1e-4, rtol=1e-3)
    draws = packed["unit"] * numbers(packed["draws"], "<i2").reshape(3, -1)
    np.testing.assert_allclose(draws, [[1e-3] * 11, [2e-3] * 11, [3e-3] * 11], rtol=1e-3)


@pytest.mark.parametrize(
    ("domain", "across"),
    [
        (epinn.Box(t=(0, 1)), [0]),
        (epinn.Box(t=(0, 1), x=(0, 1)), [1]),
        (epinn.Box(x=(0, 1), y=(0, 1), t=(0, 1)), [0, 1]),
        (epinn.Box(x=(0, 1), y=(0, 1), z=(0, 1)), [0, 1]),
    ],
)
def test_one_space_coordinate_is_a_curve_and_two_are_a_map(domain, across):
    assert view_of([seen(domain, count=3)])["across"] == across


def test_only_what_is_inside_a_shape_is_there():
    found = seen(RING)
    view = view_of([found])
    inside = np.unpackbits(numbers(view["inside"], "|u1"), bitorder="little")[: 11 * 11]
    assert np.flatnonzero(inside).tolist() == found.places.tolist()
    assert len(numbers(view["values"][0][0]["mean"])) == len(found.points)
    assert len(view["outlines"]) == 2


@pytest.mark.parametrize(("count", "methods", "draws"), [(11, 1, True), (101, 1, True), (101, 4, False), (301, 5, False)])
def test_a_view_has_a_few_hundred_kilobytes_at_most(count, methods, draws):
    some = seen(epinn.Box(x=(0, 1), y=(0, 1)), count=count, samples=12)
    view = view_of([some] * methods)
    assert len(json.dumps(view)) < 1.4 * LIMIT
    assert ("draws" in view["values"][0][0]) == draws
    coordinate = view["coordinates"][0]
    assert (coordinate["low"], coordinate["high"]) == (0, 1)


def test_what_is_not_finite_can_be_written():
    lost = seen(epinn.Box(x=(0, 1)))
    lost.prediction.mean[:] = np.nan
    json.dumps(view_of([lost]), allow_nan=False)


def test_sensors_are_shown_where_they_do_not_lie_beside():
    data = epinn.Data([0.5], [300.0], sigma=0.1)
    assert view_of([seen(epinn.Box(x=(0, 1)), data=data)])["sensors"] == [[[0.5, 300.0]]]
    assert view_of([seen(epinn.Box(x=(0, 1), t=(0, 1)), data=epinn.Data([[0.5, 0.5]], [300.0]))])["sensors"] == [[]]


def test_without_scripts_it_is_hidden():
    assert '<figure class="view" hidden>' in page(seen(epinn.Box(x=(0, 1))))


# In a browser.

ACT = """
const figure = document.querySelector(".view"), said = () => figure.querySelector(".readout").textContent;
const [stage, svg] = [figure.querySelector(".stage"), figure.querySelector("svg")];
const press = (key) => stage.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
const labels = [...figure.querySelectorAll("label")];
const named = (name) => labels.find((label) => label.textContent.startsWith(name))?.control;
const set = (control, value) => {
  control[control.type === "range" ? "value" : "selectedIndex"] = value;
  control.dispatchEvent(new Event(control.type === "range" ? "input" : "change"));
};
const look = (kind) => (svg.querySelector("image") ?? svg.querySelector(kind)).outerHTML;
const result = { shown: !figure.hidden, labels: labels.map((label) => label.textContent), start: said() };
press("Home");
result.home = said();
press("ArrowRight");
result.right = said();
const box = svg.getBoundingClientRect(), [x, y] = [box.left + 200, box.top + 120];
stage.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
result.pointed = said();
const before = look(".mean");
if (named("t")) {
  set(named("t"), 0);
  result.time = [said(), named("t").ariaValueText ?? named("t").getAttribute("aria-valuetext"), look(".mean") !== before];
}
set(named("single draw"), 2);
result.draw = [said(), svg.querySelectorAll(".single").length];
if (named("shown")) {
  const mean = look();
  set(named("shown"), 1);
  result.band = [look() !== mean, svg.textContent];
}
if (named("method")) {
  set(named("method"), 1);
  result.method = said();
}
result.width = document.documentElement.scrollWidth <= innerWidth;
result.reach = [stage.tabIndex, stage.ariaLabel];
result.images = svg.querySelectorAll("image").length;
result.harm = document.body.dataset.harm;
result.problems = window.problems;
document.body.dataset.result = JSON.stringify(result);
"""
WATCH = "<script>window.problems = []; addEventListener('error', (event) => problems.push(event.message));</script>"


def looked_at(chromium, *evaluations):
    made = with_script(page(*evaluations).replace("<header>", WATCH + "<header>"), ACT)
    return outcome(chromium(made, "--dump-dom"))


def test_a_curve_follows_the_slider_and_tells_mean_and_band_where_the_cursor_is(chromium):
    domain = epinn.Box(x=(0, 2), t=(0, 1))
    found = looked_at(chromium, seen(domain), seen(domain, label=HOSTILE))
    assert found["problems"] == []
    assert found["shown"]
    assert found["start"] == "x = 1.0, t = 0.5: u = 300.5000 ± 0.0020 (2σ), exact 300.5001"
    assert found["home"].startswith("x = 0, t = 0.5")
    assert found["right"].startswith("x = 0.2, t = 0.5")
    assert found["time"][0].endswith("t = 0: u = 300.0000 ± 0.0020 (2σ), exact 300.0001")
    assert found["time"][1:] == ["0", True]
    assert found["draw"][0].endswith("draw 2: 300.0020")
    assert found["draw"][1] == 2  # the line, and its mark in the legend
    assert found["method"] == found["draw"][0]
    assert found["reach"] == [0, "u over x: arrow keys move the cursor"]
    assert found["width"]
    assert "harm" not in found
    assert "magnified, around the mean" in found["labels"]


@pytest.mark.parametrize("domain", [epinn.Box(x=(-2, 2), y=(-2, 2), t=(0, 1)), RING.during(t=(0, 1))])
def test_a_map_has_a_slider_for_time_and_shows_mean_band_and_draws(chromium, domain):
    found = looked_at(chromium, seen(domain, truth=False, fields=("u", "v")))
    assert found["problems"] == []
    assert found["images"] == 1
    assert found["pointed"] != found["right"]
    assert found["time"][2]
    assert "draw 2" in found["draw"][0] or "outside" in found["draw"][0]
    assert found["band"][0]
    assert "± 2σ of u" in found["band"][1]
    assert found["width"]
    assert [label[:5] for label in found["labels"]] == ["field", "shown", "t0.5", "singl"]


def test_a_map_of_what_is_not_finite_is_empty(chromium):
    lost = seen(epinn.Box(x=(0, 1), y=(0, 1)), count=5)
    lost.prediction.mean[:] = lost.prediction.std[:] = np.nan
    found = looked_at(chromium, lost)
    assert found["problems"] == []
    assert "not a number" in found["start"]


def test_names_stay_text(chromium):
    found = seen(epinn.Box(x=(0, 1)), label=HOSTILE)
    made = page(found, found)
    assert HOSTILE not in made
    assert "harm" not in outcome(chromium(with_script(made, ACT), "--dump-dom"))
    assert html.escape(HOSTILE) not in made  # it is within JSON
