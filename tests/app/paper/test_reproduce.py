"""The reproduction: rows grouped into what runs together, computed once, kept, and gone on with."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from epinn import InputError, Progress
from epinn.app.paper import reproduce
from epinn.app.paper.reproduce import Reproduction
from epinn.app.paper.studies import studies
from epinn.app.plan import presets
from epinn.app.plan.published import rows
from epinn.app.store.lock import Busy, alone_in
from epinn.app.store.trained import Bases

pytestmark = [pytest.mark.usefixtures("tiny_paper"), pytest.mark.slow]

CHOSEN = [row for row in rows("poisson1d") if row.setting.get("dropout.rate") != 0.1]  # 8 rows, all methods


class Told:
    """Remembers what it was told."""

    def __init__(self):
        self.calls = []

    def __call__(self, done, total, title, seconds):
        self.calls.append((done, total, title, seconds))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Two seeds of the chosen rows, and what was told on the way."""
    path, told = tmp_path_factory.mktemp("paper"), Told()
    Reproduction.create(path, ["poisson1d"], 2).run(CHOSEN, range(2), Progress(), told)
    return Reproduction.open(path), told


def copy_of(reproduction, path):
    for name in ("rows", "bases"):
        for file in (reproduction.path / name).rglob("*.*"):
            target = path / file.relative_to(reproduction.path)
            if file.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_bytes())
    (path / "run.json").write_bytes((reproduction.path / "run.json").read_bytes())
    return Reproduction.open(path)


def computed(monkeypatch):
    """The studies and seeds that are computed from now on."""
    found, compute = [], Reproduction._compute

    def counted(self, study, seeds, progress):
        found.append((study.title, list(seeds)))
        compute(self, study, seeds, progress)

    monkeypatch.setattr(Reproduction, "_compute", counted)
    return found


def test_every_row_has_one_record_per_seed_at_its_noise_level(finished):
    for row in CHOSEN:
        records = finished[0].records(row)
        assert [record["seed"] for record in records] == [0, 1]
        assert {(record["noise"], record["method"]) for record in records} == {(row.noise, row.method)}
        assert finished[0].seconds([row]) > 0


def test_nothing_unfinished_is_left_behind(finished):
    assert {path.name for path in finished[0].path.iterdir()} == {"rows", "bases", "run.json"}


def test_a_chain_has_its_diagnostics(finished):
    row = next(row for row in CHOSEN if row.method == "hmc")
    assert {"acceptance", "rhat", "ess"} <= set(finished[0].records(row)[0]["diagnostics"])


def test_the_fields_of_the_first_seed_are_kept(finished):
    for row in CHOSEN:
        assert finished[0].field(row)["mean"].shape == finished[0].field(row)["std"].shape == (501, 1)


def test_bases_are_shared_by_the_methods_and_trained_once_per_noise_level(finished):
    (folder,) = (finished[0].path / "bases").iterdir()
    assert {path.name for path in folder.glob("*.json")} == {"base-noise0.0.json", "base-noise0.1.json", "base-noise0.3.json"}


def test_progress_counts_rows_and_says_how_long_the_rest_takes(finished):
    calls = finished[1].calls
    assert [done for done, *_ in calls] == [0, 1, 2, 4, 6, 8]
    assert {total for _, total, *_ in calls} == {8}
    assert calls[0][3] is None
    assert all(seconds > 0 for *_, title, seconds in calls[1:-1])
    assert "epinet" in calls[0][2]


def test_what_is_there_is_not_computed_again(finished, tmp_path, monkeypatch):
    again = copy_of(finished[0], tmp_path)
    monkeypatch.setattr(reproduce, "attach_method", lambda *_: pytest.fail("computed again"))
    again.run(CHOSEN, range(2), Progress(), Told())


def test_more_seeds_compute_only_what_is_missing(finished, tmp_path, monkeypatch):
    again = copy_of(finished[0], tmp_path)
    found = computed(monkeypatch)
    again.run(CHOSEN[:1], range(3), Progress(), Told())
    assert [seeds for _, seeds in found] == [[2]]
    assert [record["seed"] for record in again.records(CHOSEN[0])] == [0, 1, 2]
    assert again.records(CHOSEN[0])[:2] == finished[0].records(CHOSEN[0])


def test_rows_of_other_settings_are_computed_anew(finished, tmp_path, monkeypatch):

    again = copy_of(finished[0], tmp_path)
    monkeypatch.setitem(presets.PAPER, "predict.draws", 21)
    found = computed(monkeypatch)
    again.run(CHOSEN[:1], range(2), Progress(), Told())
    assert [seeds for _, seeds in found] == [[0, 1]]
    assert again.settings(CHOSEN[0])["predict.draws"] == 21
    assert not np.array_equal(again.field(CHOSEN[0])["mean"], finished[0].field(CHOSEN[0])["mean"])


def test_a_row_without_its_field_is_computed_again(finished, tmp_path, monkeypatch):
    again = copy_of(finished[0], tmp_path)
    (tmp_path / "rows" / f"{CHOSEN[0].name}.npz").unlink()
    found = computed(monkeypatch)
    again.run(CHOSEN[:1], range(2), Progress(), Told())
    assert [seeds for _, seeds in found] == [[0, 1]]
    np.testing.assert_array_equal(again.field(CHOSEN[0])["mean"], finished[0].field(CHOSEN[0])["mean"])


def test_time_that_rows_share_counts_once(finished):
    epinet, dropout = CHOSEN[:2]
    both, one, other = (finished[0].seconds(rows) for rows in ([epinet, dropout], [epinet], [dropout]))
    assert max(one, other) < both < one + other


@pytest.mark.parametrize("content", ['{"kind": "reproduction"}', '{"kind": "reproduction", "tables": ["x"], "seeds": 1}'])
def test_half_a_description_is_refused(tmp_path, rejects, content):
    (tmp_path / "run.json").write_text(content)
    with rejects("run.json"):
        Reproduction.open(tmp_path)


def test_an_interrupted_reproduction_goes_on_where_it_stopped(tmp_path, monkeypatch):
    stopped = Reproduction.create(tmp_path, ["poisson1d"], 1)
    compute = Reproduction._compute

    def interrupted(self, study, seeds, progress):
        if study.method == "dropout":
            raise KeyboardInterrupt
        compute(self, study, seeds, progress)

    with monkeypatch.context() as patch:
        patch.setattr(Reproduction, "_compute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stopped.run(CHOSEN[:2], range(1), Progress(), Told())
    assert stopped.description["status"] == "interrupted"
    found = computed(monkeypatch)
    told = Told()
    stopped.run(CHOSEN[:2], range(1), Progress(), told)
    assert len(found) == 1
    assert "dropout" in found[0][0]
    assert told.calls[0][0] == 1
    assert stopped.description["status"] == "finished"


def test_a_reproduction_remembers_its_tables(tmp_path):
    Reproduction.create(tmp_path, ["poisson1d"], 1)
    assert Reproduction.create(tmp_path, ["porous1d"], 2).description["tables"] == ["poisson1d", "porous1d"]


def test_a_folder_of_something_else_is_refused(tmp_path, rejects):
    (tmp_path / "mine.txt").write_text("mine")
    with rejects(str(tmp_path), "--out"):
        Reproduction.create(tmp_path, ["poisson1d"], 1)
    (tmp_path / "run.json").write_text(json.dumps({"epinn": "0", "problem": "poisson1d"}))
    with rejects(str(tmp_path), "--out"):
        Reproduction.create(tmp_path, ["poisson1d"], 1)
    with rejects("mine.txt", "folder"):
        Reproduction.create(tmp_path / "mine.txt", ["poisson1d"], 1)


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_a_damaged_row_is_named(finished, tmp_path, suffix):
    again = copy_of(finished[0], tmp_path)
    (tmp_path / "rows" / f"{CHOSEN[0].name}.{suffix}").write_text("{")
    with pytest.raises(InputError, match=CHOSEN[0].name):
        again.records(CHOSEN[0]) if suffix == "json" else again.field(CHOSEN[0])


def test_a_base_that_a_chain_does_not_use_still_counts_as_work(finished):
    by_method = {study.method: study for study in studies(CHOSEN) if study.rows[0].noise}
    pending = [(by_method["hmc"], [7]), (by_method["dropout"], [7]), (by_method["dropout"], [7]), (by_method["dropout"], [0])]
    costs = finished[0]._costs(pending)
    assert costs[1] - costs[2] == by_method["dropout"].work()[0] > 0
    assert costs[3] == costs[2]  # this base is there already


def test_a_reproduction_has_one_process(finished, tmp_path):
    again = copy_of(finished[0], tmp_path)
    with alone_in(tmp_path):
        with pytest.raises(Busy, match="another process"):
            Reproduction.create(tmp_path, ["poisson1d"], 2)
        with pytest.raises(Busy, match="another process"):
            again.run(CHOSEN, range(2), Progress(), Told())


class Elsewhere(ThreadPoolExecutor):
    """Workers that see copies, as other processes do, and the tiny settings, as other processes would not."""

    def submit(self, work, *arguments):
        return super().submit(received, pickle.dumps((work, arguments)))


def received(sent):
    work, arguments = pickle.loads(sent)
    return pickle.loads(pickle.dumps(work(*arguments)))


@pytest.fixture
def elsewhere(monkeypatch):
    monkeypatch.setattr("epinn.app.cluster.tasks.keep_compiled_programs", lambda: None)
    with Elsewhere(2) as executor:
        yield executor


def test_workers_compute_the_same(finished, tmp_path, elsewhere):
    again, told = Reproduction.create(tmp_path, ["poisson1d"], 2), Told()
    again.run(CHOSEN, range(2), Progress(), told, elsewhere)
    for row in CHOSEN:
        for name, field in again.field(row).items():
            np.testing.assert_array_equal(field, finished[0].field(row)[name])
        mine, its = ([record["rmse"] for record in one.records(row)] for one in (again, finished[0]))
        assert mine == its
    assert {path.name for path in tmp_path.iterdir()} == {"rows", "bases", "run.json"}
    assert [done for done, *_ in told.calls][-1] == 8
    again.run(CHOSEN, range(2), Progress(), Told())  # and there is nothing left to do


def test_workers_get_what_is_there_already(finished, tmp_path, monkeypatch, elsewhere):
    again = copy_of(finished[0], tmp_path)
    dropout = next(row for row in CHOSEN if row.method == "dropout" and row.noise == 0)
    (tmp_path / "rows" / f"{dropout.name}.json").unlink()
    monkeypatch.setattr(Bases, "_save", lambda *_: pytest.fail("trained again"))
    again.run(CHOSEN, range(2), Progress(), Told(), elsewhere)
    np.testing.assert_array_equal(again.field(dropout)["mean"], finished[0].field(dropout)["mean"])


def test_one_changed_byte_of_a_field_is_found(finished, tmp_path, rejects):
    again = copy_of(finished[0], tmp_path)
    path = tmp_path / "rows" / f"{CHOSEN[0].name}.npz"
    content = path.read_bytes()
    for place in (10, 12, len(content) // 2, len(content) - 3):  # in a date too, which the archive itself does not guard
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with rejects(path.name, "damaged", "delete it"):
            again.field(CHOSEN[0])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"nonsense"])
def test_a_damaged_field_is_refused(tmp_path, rejects, content):
    found = Reproduction.create(tmp_path, ["poisson1d"], 1)
    (tmp_path / "rows" / f"{rows('poisson1d')[0].name}.npz").write_bytes(content)
    with rejects("poisson1d-01.npz", "run again"):
        found.field(rows("poisson1d")[0])
