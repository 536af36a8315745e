"""Run folders: whose they are, and what is in them."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from epinn import InputError
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.store import run_folder as runs
from epinn.app.store.run_folder import RunFolder

PLAN = Plan(find("poisson1d"), ("epinet", "dropout"), (0.1,), (0, 1), preset("fast", "poisson1d"))
DESCRIPTION = PLAN.describe("fast")


def contents(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_without_a_path_the_next_free_folder_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = [RunFolder.create(None, DESCRIPTION, "poisson1d-epinet") for _ in range(2)]
    assert [str(folder.path) for folder in folders] == ["runs/poisson1d-epinet-1", "runs/poisson1d-epinet-2"]


def test_a_new_folder_says_what_was_asked_for(tmp_path):
    folder = RunFolder.create(tmp_path / "deep" / "run", DESCRIPTION, "")
    found = folder.read_json("run.json")
    assert found["status"] == "running"
    assert {name: found[name] for name in DESCRIPTION} == json.loads(json.dumps(DESCRIPTION))


def test_an_empty_folder_is_used(tmp_path):
    assert RunFolder.create(tmp_path, DESCRIPTION, "").path == tmp_path


def test_a_file_is_no_folder(tmp_path, rejects):
    (tmp_path / "file").write_text("mine")
    with rejects("file", "--out"):
        RunFolder.create(tmp_path / "file", DESCRIPTION, "")
    assert contents(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize(
    ("name", "text"), [("notes.txt", "mine"), ("run.json", '{"mine": 1}'), ("run.json", "[]"), ("run.json", "no json")]
)
def test_a_folder_with_foreign_files_is_refused_and_left_alone(tmp_path, rejects, name, text):
    (tmp_path / name).write_text(text)
    with rejects(str(tmp_path)):
        RunFolder.create(tmp_path, DESCRIPTION, "")
    assert contents(tmp_path) == {name: text.encode()}


@pytest.mark.parametrize(
    ("name", "value"), [("problem", "burgers"), ("methods", ["hmc"]), ("noise", 0.3), ("seeds", [1]), ("settings", {})]
)
def test_a_folder_with_another_run_is_refused_and_left_alone(tmp_path, rejects, name, value):
    RunFolder.create(tmp_path, DESCRIPTION, "")
    before = contents(tmp_path)
    with rejects(str(tmp_path), name):
        RunFolder.create(tmp_path, DESCRIPTION | {name: value}, "")
    assert contents(tmp_path) == before


def test_the_same_run_asked_for_again_starts_anew(tmp_path):
    folder = RunFolder.create(tmp_path, DESCRIPTION, "")
    folder.write_records([])
    folder.write_json("base.json", {})
    again = RunFolder.create(tmp_path, DESCRIPTION, "")
    assert again.records() == []
    assert not (tmp_path / "base.json").exists()


@pytest.mark.parametrize("text", [None, '{"mine": 1}', "[]", "no json"])
def test_a_folder_that_is_not_ours_is_not_opened(tmp_path, text):
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError):
        RunFolder.open(tmp_path)


def test_numpy_values_are_written_as_plain_json(tmp_path):
    RunFolder(tmp_path).write_json("x.json", {"a": np.float32(0.5), "b": np.arange(3), "c": (1, 2)})
    assert RunFolder(tmp_path).read_json("x.json") == {"a": 0.5, "b": [0, 1, 2], "c": [1, 2]}


def test_what_is_not_finite_is_null_as_json_has_no_name_for_it(tmp_path):
    RunFolder(tmp_path).write_json("x.json", {"a": [float("nan"), 1.0], "b": {"c": float("inf")}})
    assert RunFolder(tmp_path).read_json("x.json") == {"a": [None, 1.0], "b": {"c": None}}


def test_an_ended_run_says_how_and_when(tmp_path):
    folder = RunFolder.create(tmp_path, DESCRIPTION, "")
    folder.finish("failed")
    found = folder.read_json("run.json")
    assert found["status"] == "failed"
    assert found["ended"] >= found["started"]


def test_a_problem_that_has_changed_is_not_gone_on_with(tmp_path, rejects):
    file = tmp_path / "mine.py"
    text = "import epinn\nmine = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x)\n"
    file.write_text(text)
    plan = Plan(find(f"{file}:mine"), ("epinet",), (None,), (0,), PLAN.settings)
    description = json.loads(json.dumps(plan.describe("fast")))
    assert Plan.from_description(description).identity() == plan.identity()
    file.write_text(text.replace("u.x)", "u.x + u)"))
    with rejects("mine", "changed"):
        Plan.from_description(description)


def test_a_number_that_another_process_takes_meanwhile_is_not_taken(tmp_path, monkeypatch):
    """Looking first and making the folder then would give two processes the same."""
    monkeypatch.chdir(tmp_path)
    mkdir = Path.mkdir

    def slower(path, *arguments, **options):
        if path.name == "run-1":
            path.parent.mkdir(exist_ok=True)
            os.mkdir(path)  # the other process
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", slower)
    assert str(RunFolder.create(None, DESCRIPTION, "run").path) == "runs/run-2"


def test_a_run_that_another_process_begins_meanwhile_is_left_alone(tmp_path, monkeypatch, rejects):
    create_once = runs.create_once

    def slower(path, content):
        create_once(path, b"the other's")
        create_once(path, content)

    monkeypatch.setattr(runs, "create_once", slower)
    with rejects("another process", "--out"):
        RunFolder.create(tmp_path / "run", DESCRIPTION, "")
    assert contents(tmp_path / "run") == {"run.json": b"the other's"}


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, rejects):
    (tmp_path / "file").write_text("mine")
    with rejects("cannot be made", "--out"):
        RunFolder.create(tmp_path / "file" / "run", DESCRIPTION, "")


def test_a_picture_is_written_whole_or_not_at_all(tmp_path):
    class Broken:
        def savefig(self, file, **_):
            file.write(b"half a pic")
            raise ValueError

    with pytest.raises(ValueError):
        RunFolder(tmp_path).save_figures({"field": Broken()})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [{}, {"records": None}, {"records": [3]}, {"records": [{"method": "laplace"}]}])
def test_records_that_are_none_are_refused_with_what_to_do(content, tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_json("metrics.json", content)
    with pytest.raises(InputError, match=r"metrics\.json .* delete it"):
        folder.records()


@pytest.mark.parametrize("content", [None, [], "0.8"])
def test_versions_that_are_none_are_not_compared(content):
    assert runs.other_versions({"epinn": runs.__version__, "versions": content}) == ""
