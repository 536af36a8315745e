"""A plan computed into its folder, and how a run goes on after it was interrupted."""

import errno
import itertools
import json
import os
import shutil

import pytest

from epinn import InputError, Progress
from epinn.app import run
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.report.run_page import write_report
from epinn.app.run import execute
from epinn.app.store.files import Unwritable
from epinn.app.store.lock import alone_in
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


def flip(path):
    """Change one byte in the middle of a file."""
    content = path.read_bytes()
    place = len(content) // 2
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])


READ_BACK = ("run.json", "metrics.json", "base.json", "base-seed1.safetensors", "posterior-epinet-seed1.safetensors")


@pytest.mark.parametrize("name", READ_BACK)
def test_a_damaged_file_is_named_with_what_to_do_and_nothing_is_written(resumed, tmp_path, rejects, name):
    shutil.copytree(resumed[2], tmp_path / "run")
    flip(tmp_path / "run" / name)
    before = contents(tmp_path / "run")
    with rejects(str(tmp_path / "run" / name), "damaged"):
        execute(PLAN, RunFolder.open(tmp_path / "run"), Progress())
    after = contents(tmp_path / "run")
    del before["run.json"], after["run.json"]  # which says now that it has failed
    assert after == before


@pytest.mark.parametrize("name", READ_BACK[1:])
def test_a_damaged_file_that_is_deleted_is_computed_again_with_the_same_result(resumed, tmp_path, name):
    records, _, path = resumed
    shutil.copytree(path, tmp_path / "run")
    (tmp_path / "run" / name).unlink()
    again = execute(PLAN, RunFolder.open(tmp_path / "run"), Progress())
    assert sorted(map(str, without_times(again))) == sorted(map(str, without_times(records)))
    assert (tmp_path / "run" / name).is_file()


def test_a_damaged_picture_is_not_put_on_the_page(resumed, tmp_path, rejects):
    shutil.copytree(resumed[2], tmp_path / "run")
    picture = next((tmp_path / "run").glob("*.png"))
    flip(picture)
    with rejects(picture.name, "damaged", "epinn resume"):
        write_report(RunFolder.open(tmp_path / "run"))


def test_a_folder_that_another_process_works_in_is_left_alone(stopped, tmp_path, rejects):
    shutil.copytree(stopped, tmp_path / "run")
    before = contents(tmp_path / "run")
    with alone_in(tmp_path / "run"):
        with rejects("another process"):
            execute(PLAN, RunFolder.open(tmp_path / "run"), Progress())
        with rejects("another process"):
            RunFolder.create(tmp_path / "run", DESCRIPTION, "")
    assert contents(tmp_path / "run") == before


def full_after(writes, monkeypatch):
    """The disk is full after so many files."""
    fsync, left = os.fsync, [writes]

    def filling(handle):
        if not os.path.isdir(f"/proc/self/fd/{handle}"):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    monkeypatch.setattr("os.fsync", filling)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="tells files from folders by Linux's means")
@pytest.mark.parametrize("writes", range(6))
def test_a_full_disk_costs_only_what_it_could_not_take(stopped, resumed, tmp_path, monkeypatch, writes):
    shutil.copytree(stopped, tmp_path / "run")
    folder, before = RunFolder.open(tmp_path / "run"), contents(stopped)
    with monkeypatch.context() as patch:
        full_after(writes, patch)
        with pytest.raises(Unwritable, match="No space left on device"):
            execute(PLAN, folder, Progress())
    now = contents(folder.path)
    assert {name: now.get(name) for name in before if name not in ("metrics.json", "run.json")} == {
        name: content for name, content in before.items() if name not in ("metrics.json", "run.json")
    }
    assert not [name for name in now if name.startswith(".")]
    again = execute(PLAN, folder, Progress())
    assert without_times(again) == without_times(resumed[0])
