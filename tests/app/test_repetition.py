"""An experiment repeated: redraws that are kept, workers that compute them, and what cannot be repeated."""

import dataclasses
import json
import socket
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import jax
import numpy as np
import pytest

import epinn
from epinn.app import repetition
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import Source, find
from epinn.app.repetition import calibrate, remember
from epinn.app.store.files import read_json, write_json
from epinn.app.store.lock import Busy, alone_in
from epinn.judge.calibration import Redraw, summarise
from epinn.progress import Progress

pytestmark = [pytest.mark.usefixtures("quick_compile"), pytest.mark.slow]

TINY = {
    "base.hidden": (8,),
    "base.epochs": 30,
    "base.newton": 3,
    "base.restarts": 0,
    "laplace.samples": 20,
    "epinet.index_dim": 4,
    "predict.draws": 20,
}


def plan(**changes):
    settings = preset("fast", "poisson1d").changed(TINY)
    whole = Plan(find("poisson1d"), ("laplace",), (0.1,), (0, 1, 2), settings, disturb={"equation": 0.1})
    return dataclasses.replace(whole, **changes)


def test_redraws_are_kept_and_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(repetition, "AT_ONCE", {"cpu": 2})
    first = calibrate(plan(), tmp_path, Progress())
    assert [(r.method, r.seed) for r in first] == [("laplace", 0), ("laplace", 1), ("laplace", 2)]
    assert len({round(float(r.distances[0]), 6) for r in first}) == 3  # every redraw has noise of its own
    monkeypatch.setattr(repetition, "fit_base", None)
    again = calibrate(plan(), tmp_path, Progress())
    np.testing.assert_allclose(again[2].distances, first[2].distances, atol=1e-4)
    summary = summarise(again)[0].plain()
    assert summary["redraws"] == 3
    assert json.loads(json.dumps(summary)) == summary


def test_redraws_of_other_settings_are_not_mixed(tmp_path, rejects):
    (tmp_path / "redraws.json").write_text('{"identity": "other", "redraws": []}')
    with rejects("another problem", "--out"):
        calibrate(plan(), tmp_path, Progress())


def test_without_a_truth_there_is_nothing_to_compare_with(tmp_path, rejects):
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx)
    with rejects("exact"):
        calibrate(plan(source=Source("mine", problem, ""), noises=(None,), disturb={}), tmp_path / "new", Progress())
    assert not (tmp_path / "new").exists()


def test_the_same_measurements_again_are_no_repetition(tmp_path, rejects):
    problem = epinn.problems.poisson1d(0.1)
    with rejects("same measurements", "key"):
        calibrate(plan(source=Source("mine", problem, ""), noises=(None,), disturb={"equation": 0.1}), tmp_path, Progress())


@pytest.fixture
def instant(monkeypatch):
    """Redraws that take no time: each says which seed it has."""

    def batch(plan, have, progress, unfinished):
        for method in plan.methods:
            yield [
                Redraw(method, seed, np.full(2, float(seed)), {}, {}, []) for seed in plan.seeds if (method, seed) not in have
            ]

    monkeypatch.setattr(repetition, "_batch", batch)
    monkeypatch.setattr(repetition, "AT_ONCE", {"cpu": 2})


def test_a_folder_has_one_process(tmp_path, instant):
    with alone_in(tmp_path), pytest.raises(Busy, match="another process"):
        calibrate(plan(), tmp_path, Progress())


def test_batches_that_were_done_out_of_turn_are_gaps_of_the_same_size(tmp_path, instant, monkeypatch):
    """Which redraws run together decides over the last bits."""
    calibrate(plan(seeds=(2, 3)), tmp_path, Progress(), at_once=2)
    batch, computed = repetition._batch, []

    def noted(plan, *rest):
        computed.append(plan.seeds)
        yield from batch(plan, *rest)

    monkeypatch.setattr(repetition, "_batch", noted)
    calibrate(plan(seeds=(0, 1, 2, 3, 4)), tmp_path, Progress(), at_once=2)
    assert computed == [(0, 1), (4,)]


def test_workers_of_any_executor_compute_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path.home() / ".cache" / "epinn-tests"))
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # as here
    jax.clear_caches()  # what a test before this one compiled with all optimisations differs in its last bits
    whole = plan(settings=preset("fast", "poisson1d").changed(TINY | {"base.newton": 0}), methods=("dropout",), seeds=(0, 1))
    here = calibrate(whole, tmp_path / "here", Progress(), at_once=1)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        there = calibrate(whole, tmp_path / "there", Progress(), at_once=1, executor=executor)
    for one, other in zip(here, there, strict=True):
        assert (one.method, one.seed) == (other.method, other.seed)
        np.testing.assert_array_equal(one.distances, other.distances)
        assert one.metrics | {"time_s": 0} == other.metrics | {"time_s": 0}


def test_a_problem_without_a_file_is_not_sent(tmp_path, rejects):
    own = Source("mine", epinn.problems.poisson1d, "")
    with ThreadPoolExecutor(1) as executor, rejects("file", "executor"):
        calibrate(plan(source=own), tmp_path, Progress(), executor=executor)


def test_a_worker_without_the_problem_says_where_it_is(rejects):
    description = plan().describe("fast") | {"problem": "/nowhere/own.py:problem"}
    with rejects(socket.gethostname(), "/nowhere/own.py", "same path"):
        repetition._compute(repetition._Task(description, frozenset()))


def test_redraws_of_the_first_format_are_read(tmp_path, instant):
    """They were all in one file."""
    whole = plan()
    calibrate(whole, tmp_path, Progress())
    files = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("redraws-*.json"))]
    for path in tmp_path.iterdir():
        path.unlink()
    together = {"identity": files[0]["identity"], "redraws": [row for file in files for row in file["redraws"]]}
    (tmp_path / "redraws.json").write_text(json.dumps(together))
    assert [redraw.seed for redraw in calibrate(whole, tmp_path, Progress())] == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["redraws.json"]


@pytest.mark.parametrize("content", ["no json", "[]", "[" * 100_000, '{"redraws": '])
def test_a_damaged_file_of_redraws_is_refused(tmp_path, rejects, content):
    (tmp_path / "redraws.json").write_text(content)
    with rejects("redraws.json"):
        calibrate(plan(), tmp_path, Progress())


def test_a_folder_says_all_that_it_was_asked_for(tmp_path, rejects):
    remember(plan(seeds=(0, 1)), tmp_path, "fast", 25)
    remember(plan(seeds=(1, 2), methods=("dropout",)), tmp_path, "fast", 25)
    found = read_json(tmp_path / "run.json")
    assert (found["kind"], found["seeds"], found["methods"]) == ("calibration", [0, 1, 2], ["laplace", "dropout"])
    assert Plan.from_description(found).seeds == (0, 1, 2)
    with rejects("other settings", "--out"):
        remember(plan(noises=(0.2,)), tmp_path, "fast", 25)


def test_a_run_is_not_taken_for_a_calibration(tmp_path, rejects):
    write_json(tmp_path / "run.json", {"epinn": epinn.__version__, "problem": "poisson1d"})
    with rejects("--out"):
        remember(plan(), tmp_path, "fast", 25)


def test_what_cannot_be_repeated_leaves_no_folder(tmp_path, rejects):
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx)
    with rejects("exact"):
        remember(plan(source=Source("mine", problem, ""), noises=(None,), disturb={}), tmp_path / "new", "fast", 25)
    assert not (tmp_path / "new").exists()


def test_an_interrupted_batch_goes_on_inside_its_stage_and_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("epinn.app.store.checkpoint.SHARE", 0.0)
    often = plan(settings=preset("fast", "poisson1d").changed(TINY | {"base.epochs": 300, "compute.checkpoint": 0.0}))

    class Stops(Progress):
        at, first = 200, None

        def __call__(self, stage, step, total, values):
            if stage.startswith("training"):
                self.first = step if self.first is None else self.first
                if step >= self.at:
                    raise KeyboardInterrupt

    whole = calibrate(often, tmp_path / "whole", Progress())
    with pytest.raises(KeyboardInterrupt):
        calibrate(often, tmp_path / "stopped", Stops())
    assert list((tmp_path / "stopped" / "unfinished").rglob("*.checkpoint"))
    listener = Stops()
    listener.at = np.inf
    again = calibrate(often, tmp_path / "stopped", listener)
    assert listener.first > 0
    for a, b in zip(again, whole, strict=True):
        np.testing.assert_array_equal(a.distances, b.distances)
    assert not (tmp_path / "stopped" / "unfinished").exists()


def test_damaged_redraws_are_named_and_computed_again_when_they_are_deleted(tmp_path, instant, rejects):
    calibrate(plan(), tmp_path, Progress())
    path = next(tmp_path.glob("redraws-laplace-0-*.json"))
    path.write_bytes(path.read_bytes().replace(b"1.0", b"1.5", 1))
    with rejects(path.name, "damaged", "delete it"):
        calibrate(plan(), tmp_path, Progress())
    path.unlink()
    assert len(calibrate(plan(), tmp_path, Progress())) == 3
