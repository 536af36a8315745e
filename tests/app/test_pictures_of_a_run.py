"""What a run leaves beside its figures: the view of its page, and an animation where there is time."""

import numpy as np
import pytest

import epinn
from epinn.app.report.run_page import run_page
from epinn.app.run import write_moving
from epinn.app.store.run_folder import RunFolder
from epinn.judge.evaluation import Evaluation
from epinn.posterior.statistics import Prediction

RUN = {
    "epinn": "0.1.0",
    "problem": "rod.py:rod",
    "methods": ["epinet"],
    "noise": None,
    "seeds": [0, 1],
    "settings": {},
    "command": "epinn run rod.py:rod --seeds 2",
    "started": "2030-01-02T03:04:05+00:00",
    "versions": {"python": "3.12.1"},
    "machine": {"system": "Linux x86_64", "device": "cpu", "platform": "cpu", "float64": False},
    "status": "running",
}
RECORD = {"method": "epinet", "seed": 0, "sharpness": 0.1, "time_s": 1.0, "time_uq_s": 0.5, "channels": []}
RECORD |= {"diagnostics": {}, "warnings": [], "failed": False}


def seen(domain):
    problem = epinn.Problem(domain=domain, equation=lambda: 0.0)
    points = np.asarray(domain.mesh(5))
    found = Prediction(points[:, :1], np.ones((len(points), 1)))
    return Evaluation(problem, "epinet", points, (5,) * domain.dimension, found, None, {}, {}, 0.0)


@pytest.fixture
def folder(tmp_path):
    made = RunFolder(tmp_path)
    made.write_json("run.json", RUN)
    made.write_records([RECORD])
    return made


def test_a_run_in_time_leaves_a_view_and_an_animation_that_its_page_shows(folder):
    write_moving(folder, [seen(epinn.Box(x=(0, 1), t=(0, 1)))])
    results = run_page(folder).sections[0]
    assert results.view.data["across"] == [0]
    assert results.view.caption.startswith("Seed 0. ")
    assert [file.name for file in results.files] == ["animation.gif"]
    assert folder.animation.read_bytes().startswith(b"GIF89a")


def test_without_time_there_is_no_animation(folder):
    write_moving(folder, [seen(epinn.Box(x=(0, 1)))])
    results = run_page(folder).sections[0]
    assert results.view is not None
    assert results.files == ()


def test_a_folder_of_an_earlier_version_has_neither(folder):
    results = run_page(folder).sections[0]
    assert results.view is None
    assert results.files == ()


def test_a_damaged_view_is_not_put_on_the_page(folder, rejects):
    write_moving(folder, [seen(epinn.Box(x=(0, 1)))])
    path = folder.path / "view.json"
    path.write_bytes(path.read_bytes().replace(b'"across"', b'"acr0ss"'))
    with rejects("view.json", "damaged", "epinn resume"):
        run_page(folder)
