"""Pictures in time: maps at a few times, and animations."""

import io
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

import epinn
from epinn.app.report.pictures import figures
from epinn.app.report.pictures.animation import animation
from epinn.judge.evaluation import Evaluation
from epinn.posterior.statistics import Prediction


def seen(domain, fields=("u",), shape=6):
    """A field that grows with the last coordinate."""
    problem = epinn.Problem(domain=domain, equation=lambda: 0.0, fields=fields)
    points = np.asarray(domain.mesh(shape))
    places = np.flatnonzero(domain.contains(points))
    mean = points[places, -1:] * np.ones(len(fields))
    found = Prediction(mean, np.full_like(mean, 0.1))
    everywhere = len(places) == len(points)
    grid = (shape,) * domain.dimension
    return Evaluation(problem, "band", points[places], grid, found, None, {}, {}, 0.0, None if everywhere else places)


def frames(gif):
    """Every frame as pixels, and how long it is shown."""
    image = Image.open(io.BytesIO(gif))
    for number in range(image.n_frames):
        image.seek(number)
        yield np.asarray(image.convert("RGB")), image.info["duration"]


RING = epinn.Disc(x=0, y=0, radius=2) - epinn.Disc(x=0, y=0, radius=1, name="hole")


@pytest.mark.parametrize("domain", [epinn.Box(x=(0, 1), y=(0, 2), t=(0, 4)), RING.during(t=(0, 4))])
def test_a_plane_is_shown_at_four_times_on_the_same_colours(domain):
    made = figures([seen(domain)])["times"]
    images = [ax.images[0] for ax in made.axes if ax.images]
    assert len(images) == 8
    assert len({image.get_clim() for image in images[:4]}) == 1
    assert [np.nanmean(image.get_array()) for image in images[:4]] == pytest.approx([0, 1.6, 2.4, 4])
    assert [text.get_text() for text in made.axes[1].texts] == ["t = 1.6"]


def test_space_without_time_has_no_times():
    assert "times" not in figures([seen(epinn.Box(x=(0, 1), y=(0, 1), z=(0, 1)))])


@pytest.mark.parametrize(
    ("domain", "fields"),
    [
        (epinn.Box(x=(0, 1), t=(0, 4)), ("u", "v")),
        (epinn.Box(t=(0, 4), x=(0, 1)), ("u",)),
        (RING.during(t=(0, 4)), ("u",)),
    ],
)
def test_an_animation_moves_and_stays_on_white(domain, fields):
    gif = animation([seen(domain, fields)])
    shown = list(frames(gif))
    assert len(shown) == 6
    assert all(np.any(one != other) for (one, _), (other, _) in pairwise(shown))
    assert all(np.all(pixels[-1, 0] == 255) for pixels, _ in shown)
    assert shown[-1][1] > shown[0][1]  # it rests at the end
    assert len(gif) < 300_000


@pytest.mark.parametrize("domain", [epinn.Box(x=(0, 1)), epinn.Box(t=(0, 1)), epinn.Box(x=(0, 1), y=(0, 1))])
def test_what_has_no_time_and_space_is_not_animated(domain):
    assert animation([seen(domain)]) is None


def test_a_field_that_is_nowhere_finite_can_be_animated():
    lost = seen(epinn.Box(x=(0, 1), t=(0, 4)))
    lost.prediction.mean[:] = np.nan
    assert animation([lost]).startswith(b"GIF89a")
