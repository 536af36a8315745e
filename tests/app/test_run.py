"""A plan computed into its folder, and how a run goes on after it was interrupted."""

import itertools
import json
import shutil

import pytest

from epinn import InputError, Progress
from epinn.app import run
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.run import execute
from epinn.app.store.run_folder import RunFolder
from epinn.app.store.trees import load_tree

pytestmark = pytest.mark.slow

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
    attach = run.attach_method

    def interrupted(plan, name, *arguments):
        if name != method:
            yield from attach(plan, name, *arguments)
            return
        yield from itertools.islice(attach(plan, name, *arguments), after)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "attach_method", interrupted)


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
    monkeypatch.setattr(run, "attach_method", fail)
    with pytest.raises(InputError):
        execute(PLAN, folder, Progress())
    assert folder.read_json("run.json")["status"] == "failed"


def test_no_temporary_files_stay_behind(resumed):
    *_, path = resumed
    assert not [name for name in contents(path) if name.startswith(".")]
