"""A band on a solid: judged and shown inside it only, written for other programs; a void in a block with default settings."""

from dataclasses import replace

import meshio
import numpy as np
import pytest
import trimesh

import epinn
from epinn.app.report.pictures import figures
from epinn.app.report.pictures.domain import domain_picture
from epinn.app.report.pictures.panels import as_png
from epinn.judge.evaluation import Evaluation, grid_in
from epinn.posterior.statistics import Prediction

TINY = epinn.Base(hidden=(8, 8), epochs=20, newton=0, restarts=0)
BLOCK = epinn.Cuboid(x=(0, 200), y=(0, 100), z=(0, 50)) - epinn.Sphere(x=80, y=50, z=25, radius=15, name="void")


def exact(x, y, z):
    """Harmonic; in kelvin, with millimetres."""
    return 300 + (x**2 + y**2 - 2 * z**2) / 400


def asked(domain, **points):
    return epinn.Problem(
        domain=domain,
        equation=lambda T: T.xx + T.yy + T.zz,
        boundary=epinn.Dirichlet(exact),
        fields="T",
        exact=exact,
        points=epinn.Points(**points),
        name="block",
    )


def imagined(problem):
    """An evaluation without any training."""
    points, shape, places = grid_in(problem.domain)
    points = np.asarray(points)
    mean = exact(*points.T)[:, None]
    guess = Prediction(mean, np.ones_like(mean), draws=2)
    return Evaluation(problem, "guess", points, shape, guess, mean + 0.5, {}, {}, 0.0, places)


def test_sections_show_nothing_outside():
    made = figures([imagined(asked(BLOCK))])
    assert list(made) == ["field", "sections", "error"]
    planes = [ax for ax in made["sections"].axes if ax.images]
    assert len(planes) == 9
    first = planes[0]
    outline = max((path.vertices for one in first.collections for path in one.get_paths()), key=len)
    edge = outline[np.hypot(outline[:, 0] - 80, outline[:, 1] - 50) < 30]
    assert np.allclose(np.hypot(edge[:, 0] - 80, edge[:, 1] - 50), 15, atol=1)
    assert as_png(made["sections"])


def test_a_section_that_meets_nothing_is_empty():
    two = epinn.Cuboid(x=(0, 1), y=(0, 1), z=(0, 1), name="one") | epinn.Cuboid(x=(2, 3), y=(0, 1), z=(0, 1), name="other")
    planes = [ax for ax in figures([imagined(asked(two))])["sections"].axes if ax.images]
    assert [ax.images[0].get_visible() for ax in planes[:3]] == [True, True, False]


def test_the_points_of_a_solid_are_shown_from_three_sides():
    figure = domain_picture(asked(BLOCK, collocation=32, boundary=8))
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes] == [("x", "y"), ("x", "z"), ("y", "z")]


@pytest.fixture(scope="module")
def band(quick_compile):
    problem = asked(BLOCK, collocation=64, boundary=8)
    return epinn.attach(epinn.fit(problem, base=TINY), method="laplace", settings={"samples": 10})


def test_it_is_predicted_judged_and_reported(band, tmp_path):
    mean, std = band.predict(np.asarray(BLOCK.points(20)))
    assert np.isfinite(mean).all()
    assert np.all(std > 0)
    away = np.linalg.norm(band.evaluation.points - [80, 50, 25], axis=1)
    assert np.all(away > 15 - 1e-3)
    band.report(tmp_path / "band.html")
    page = (tmp_path / "band.html").read_text()
    assert "Sections through the middle" in page
    assert "Sphere(x=80, y=50, z=25, radius=15" in page


def test_paraview_gets_a_grid_or_the_points_of_the_mesh(band, tmp_path):
    whole = meshio.read(band.to_vtu(tmp_path / "grid.vtu", grid=11))
    inside = np.linalg.norm(whole.points - [80, 50, 25], axis=1) > 15 - 1e-3
    assert np.array_equal(np.isfinite(whole.point_data["T_mean"]), inside)
    mesh = trimesh.creation.box((200, 100, 50))
    mesh.apply_translation((100, 50, 25))
    mesh.export(tmp_path / "block.stl")
    problem = asked(epinn.Mesh(tmp_path / "block.stl"), collocation=64, boundary=8)
    of_mesh = replace(band, posterior=replace(band.posterior, problem=problem))
    written = meshio.read(of_mesh.to_vtu(tmp_path / "mesh.vtu"))
    assert (written.points.shape, written.cells[0].type) == ((8, 3), "triangle")
    assert np.allclose(written.point_data["T_mean"], of_mesh.predict(written.points).mean, rtol=1e-5)


@pytest.mark.slow
def test_a_block_with_a_void_with_default_settings():
    problem = asked(BLOCK, collocation=128, boundary=16)
    pinn = epinn.fit(problem, key=0)
    points = np.asarray(BLOCK.points(1000))
    truth = exact(*points.T)
    for method in ("laplace", "epinet"):
        mean, _ = epinn.attach(pinn, problem, method=method, key=1).predict(points)
        assert np.sqrt(np.mean((mean - truth) ** 2)) < 1e-2 * np.std(truth)
