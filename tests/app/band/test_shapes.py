"""A band on a domain that is no box: judged and shown inside it only, saved and loaded, reported."""

import jax.numpy as jnp
import matplotlib.image
import numpy as np
import pytest

import epinn
from epinn.app.report.pictures import figures
from epinn.judge.evaluation import Evaluation, grid_in
from epinn.posterior.statistics import Prediction

pytestmark = pytest.mark.usefixtures("quick_compile")

TINY = epinn.Base(hidden=(8, 8), epochs=20, newton=0, restarts=0)


def exact(x, y):
    return 300 + 20 * jnp.log(jnp.hypot(x - 100, y - 50) / 10)


def wall():
    ring = epinn.Disc(x=100, y=50, radius=40, name="outer") - epinn.Disc(x=100, y=50, radius=10, name="inner")
    return epinn.Problem(
        domain=ring,
        equation=lambda T: T.xx + T.yy,
        boundary=[epinn.Dirichlet(300.0, on="inner"), epinn.Dirichlet(exact, on="outer")],
        fields="T",
        exact=exact,
        name="pipe wall",
    )


@pytest.fixture(scope="module")
def band():
    problem = wall().with_points(collocation=64, boundary=16)
    return epinn.attach(epinn.fit(problem, base=TINY), method="laplace", settings={"samples": 10})


def test_it_is_judged_inside_only(band):
    seen = band.evaluation
    assert len(seen.points) < np.prod(seen.shape)
    radius = np.hypot(seen.points[:, 0] - 100, seen.points[:, 1] - 50)
    assert np.all((radius > 10 - 1e-3) & (radius < 40 + 1e-3))
    assert np.isfinite(seen.truth).all()
    assert band.record()["coverage"] is not None
    whole = seen.on_grid(seen.prediction.mean)
    assert len(whole) == np.prod(seen.shape)
    assert np.sum(np.isfinite(whole)) == len(seen.points)


def test_pictures_show_nothing_outside(band, tmp_path):
    figure = band.plot()
    maps = [ax for ax in figure.axes if ax.images]
    assert maps
    figure.savefig(tmp_path / "maps.png")
    pixels = matplotlib.image.imread(tmp_path / "maps.png")
    for ax in maps:
        for x, y in ((100, 50), (62, 12)):  # in the hole, and in a corner of the box around the ring
            across, up = ax.transData.transform((x, y))
            assert np.all(pixels[int(pixels.shape[0] - up), int(across), :3] > 0.99)


def test_it_is_reported_saved_and_loaded(band, tmp_path):
    band.report(tmp_path / "wall.html")
    assert "Disc(x=100" in (tmp_path / "wall.html").read_text(encoding="utf-8")
    band.save(tmp_path / "wall.safetensors")
    again = epinn.load(tmp_path / "wall.safetensors", wall().with_points(collocation=64, boundary=16))
    assert np.allclose(again.evaluation.prediction.mean, band.evaluation.prediction.mean)


def test_lines_through_a_shape_and_time_cross_it():
    """The centre of the ring is a hole: curves go through the point of the ring that is next to it."""
    ring = epinn.Disc(x=0, y=0, radius=2) - epinn.Disc(x=0, y=0, radius=1, name="hole")
    problem = epinn.Problem(domain=ring.during(t=(0, 1)), equation=lambda u: u.t - u.xx - u.yy, boundary=0.0)
    points, shape, places = grid_in(problem.domain)
    found = Prediction(np.asarray(points)[:, :1], np.ones((len(points), 1)))
    made = figures([Evaluation(problem, "band", np.asarray(points), shape, found, None, {}, {}, 0.0, places)])["field"]
    along_time = [line for ax in made.axes if ax.get_xlabel() == "t" for line in ax.lines]
    assert along_time
    assert np.isfinite(along_time[0].get_ydata()).all()


@pytest.mark.slow
def test_a_loaded_membrane_with_default_settings():
    """-(u.xx + u.yy) = 1 in a disc with u = 0 around it is (R^2 - r^2) / 4."""
    problem = epinn.Problem(
        domain=epinn.Disc(x=0, y=0, radius=3),
        equation=lambda u: u.xx + u.yy + 1,
        boundary=0.0,
        exact=lambda x, y: (9 - x**2 - y**2) / 4,
    )
    band = epinn.attach(epinn.fit(problem, key=0), method="laplace", key=1)
    seen = band.evaluation
    error = np.linalg.norm(seen.prediction.mean - seen.truth) / np.linalg.norm(seen.truth)
    assert error < 1e-3
    assert band.verdict.word == "trustworthy"
    assert band.record()["coverage"] > 0.9
