"""Run folders: whose they are, what is in them, and how a run goes on after it was interrupted."""

import itertools
import json
import shutil

import numpy as np
import pytest

from epinn import InputError, Progress
from epinn.app.plan import Plan
from epinn.app.settings import preset
from epinn.app.source import find
from epinn.app.store import run_folder as runs
from epinn.app.store.run_folder import RunFolder, execute
from epinn.app.store.trees import load_tree

TINY = {
    "base.hidden": (8, 8),
    "base.epochs": 20,
    "base.newton": 0,
    "base.restarts": 0,
    "epinet.objective": "paper",
    "epinet.hidden": (8,),
    "epinet.epochs": 10,
    "predict.draws": 50,
}
PLAN = Plan(find("poisson1d"), ("epinet", "dropout"), (0.1,), (0, 1), preset("fast", "poisson1d").changed(TINY))
DESCRIPTION = PLAN.describe("fast")


class Watch(Progress):
    """Remembers the stages it heard of."""

    def __init__(self):
        self.stages = []

    def __call__(self, stage, step, total, values):
        self.stages.append(stage)


def contents(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def of(method, records):
    return [record for record in records if record["method"] == method]


def without_times(records):
    return [{name: value for name, value in record.items() if not name.startswith("time")} for record in records]


def interrupt(monkeypatch, method, after):
    """Ctrl-C during a method, when `after` of its seeds are done."""
    attach = runs.attach_method

    def interrupted(plan, name, *arguments):
        if name != method:
            yield from attach(plan, name, *arguments)
            return
        yield from itertools.islice(attach(plan, name, *arguments), after)
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "attach_method", interrupted)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run with Ctrl-C at the second method."""
    folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "run", DESCRIPTION, "")
    with pytest.MonkeyPatch.context() as monkeypatch:
        interrupt(monkeypatch, "dropout", after=0)
        with pytest.raises(KeyboardInterrupt):
            execute(PLAN, folder, Progress())
    return folder.path


@pytest.fixture(scope="module")
def resumed(stopped):
    """The same run, gone on with in a copy of its folder: the records, the stages heard of, the folder."""
    path, watch = stopped.with_name("resumed"), Watch()
    shutil.copytree(stopped, path)
    return execute(PLAN, RunFolder.open(path), watch), watch.stages, path


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
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": 0.5, "b": [0, 1, 2], "c": [1, 2]}


def test_what_is_not_finite_is_null_as_json_has_no_name_for_it(tmp_path):
    RunFolder(tmp_path).write_json("x.json", {"a": [float("nan"), 1.0], "b": {"c": float("inf")}})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": [None, 1.0], "b": {"c": None}}


def test_an_ended_run_says_how_and_when(tmp_path):
    folder = RunFolder.create(tmp_path, DESCRIPTION, "")
    folder.finish("failed")
    found = folder.read_json("run.json")
    assert found["status"] == "failed"
    assert found["ended"] >= found["started"]


def test_an_interrupted_run_says_so(stopped):
    assert json.loads((stopped / "run.json").read_text())["status"] == "interrupted"


def test_an_interrupted_run_keeps_what_was_finished(stopped):
    records = RunFolder.open(stopped).records()
    assert [(record["method"], record["seed"]) for record in records] == [("epinet", 0), ("epinet", 1)]
    for seed in PLAN.seeds:
        load_tree(stopped / f"base-seed{seed}.safetensors")
        load_tree(stopped / f"posterior-epinet-seed{seed}.safetensors")


def test_going_on_does_not_compute_a_finished_method_again(stopped, resumed):
    records, stages, _ = resumed
    assert of("epinet", records) == RunFolder.open(stopped).records()
    assert "epinet" not in stages


def test_going_on_does_not_train_the_base_again(stopped, resumed):
    _, stages, path = resumed
    old, new = contents(stopped), contents(path)
    for name in ("base.json", "base-seed0.safetensors", "base-seed1.safetensors"):
        assert new[name] == old[name]
    assert "training" not in stages


def test_going_on_finishes_the_run(resumed):
    records, _, path = resumed
    assert sorted((record["method"], record["seed"]) for record in records) == sorted(
        itertools.product(PLAN.methods, PLAN.seeds)
    )
    assert RunFolder.open(path).read_json("run.json")["status"] == "finished"
    assert RunFolder.open(path).records() == records


def test_going_on_draws_the_pictures_of_all_seeds(resumed):
    *_, path = resumed
    for seed in PLAN.seeds:
        assert list(path.glob(f"*-seed{seed}.png"))


def test_a_method_interrupted_between_its_seeds_has_all_of_them_in_the_end(resumed, tmp_path, monkeypatch):
    records, _, path = resumed
    shutil.copytree(path, tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    folder.write_records(of("epinet", records))
    with monkeypatch.context() as patch:
        interrupt(patch, "dropout", after=1)
        with pytest.raises(KeyboardInterrupt):
            execute(PLAN, folder, Progress())
    again = execute(PLAN, folder, Progress())
    assert without_times(of("dropout", again)) == without_times(of("dropout", records))
    assert folder.records() == again


def test_a_finished_run_is_only_shown_again(resumed):
    records, _, path = resumed
    watch = Watch()
    assert execute(PLAN, RunFolder.open(path), watch) == records
    assert watch.stages == []


def test_a_run_that_fails_says_so(resumed, tmp_path, monkeypatch):
    def fail(*_):
        raise InputError("no.")

    *_, path = resumed
    shutil.copytree(path, tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    folder.write_records([])
    monkeypatch.setattr(runs, "attach_method", fail)
    with pytest.raises(InputError):
        execute(PLAN, folder, Progress())
    assert folder.read_json("run.json")["status"] == "failed"


def test_no_temporary_files_stay_behind(resumed):
    *_, path = resumed
    assert not [name for name in contents(path) if name.startswith(".")]


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
