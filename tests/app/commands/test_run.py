"""`epinn run`: its folder, seeds, JSON, problems of one's own."""

import json
import shutil

import numpy as np
import pytest
from command_line import POISSON, TINY, files, good, read, records_in, row, run, strict
from matplotlib.image import imread

from epinn.judge.wording import metric

pytestmark = pytest.mark.slow

PROMISED = {"problem", "method", "noise", "seed", "sharpness", "coverage", "rmse", "time_s", "time_uq_s"}


def test_a_run_says_what_was_asked_for_and_where(single):
    _, folder = single
    found = read(folder / "run.json")
    assert found["status"] == "finished"
    assert found["problem"] == "poisson1d"
    assert found["methods"] == ["epinet"]
    assert found["noise"] == 0.1
    assert found["seeds"] == [0]
    assert found["settings"]["base.epochs"] == 20
    assert found["settings"]["base.hidden"] == [8, 8]
    assert {"python", "jax", "numpy"} <= set(found["versions"])
    assert found["machine"]["platform"]


def test_a_run_says_how_long_it_will_take_before_it_begins(single):
    first = single[0].err.splitlines()[0]
    assert "rows, 97 parameters: training takes about" in first


def test_a_run_leaves_a_record_with_the_promised_fields(single):
    (record,) = records_in(single[1])
    assert set(record) >= PROMISED
    assert all(record[name] is not None for name in PROMISED)
    assert 0 < record["time_uq_s"] < record["time_s"]


def test_a_run_leaves_the_base_and_the_posterior(single):
    names = {path.name for path in single[1].glob("*.safetensors")}
    assert names == {"base-seed0.safetensors", "posterior-epinet-seed0.safetensors"}


def test_a_run_leaves_a_page_and_the_command_writes_it_again(single):
    page = single[1] / "report.html"
    before = page.read_text()
    assert "poisson1d" in before
    page.unlink()
    good("report", str(single[1]), cwd=single[1].parent)
    assert page.read_text() == before


def test_a_run_leaves_pictures(single):
    pictures = list(single[1].glob("*.png"))
    assert pictures
    for picture in pictures:
        pixels = imread(picture)
        assert min(pixels.shape[:2]) > 200
        assert np.ptp(pixels) > 0.5


def test_a_run_leaves_no_hidden_or_temporary_files(single):
    assert not [path.name for path in single[1].iterdir() if path.name.startswith(".")]


def test_a_run_shows_a_table_and_where_the_results_are(single):
    process, folder = single
    (record,) = records_in(folder)
    assert metric("rmse", record["rmse"]) in row(process.out, "epinet")[0]
    assert process.out.splitlines()[-1] == "results: out"


def test_json_is_all_there_is_to_read(inverse):
    process, folder = inverse
    assert strict(process.out) == records_in(folder)
    assert process.err == ""


def test_without_out_there_is_a_new_folder_under_runs(inverse):
    _, folder = inverse
    assert [path.name for path in folder.parent.parent.iterdir()] == ["runs"]
    assert list(folder.parent.iterdir()) == [folder]


def test_several_seeds_give_a_different_record_each(inverse):
    records = strict(inverse[0].out)
    assert [record["seed"] for record in records] == [5, 6, 7]
    for name in ("sharpness", "rmse", "crps"):
        assert len({record[name] for record in records}) == 3


def test_several_seeds_have_files_of_their_own(inverse):
    _, folder = inverse
    for seed in (5, 6, 7):
        assert (folder / f"posterior-dropout-seed{seed}.safetensors").is_file()
        assert list(folder.glob(f"*-seed{seed}.png"))


def test_an_inverse_problem_reports_what_it_sought(inverse):
    for record in strict(inverse[0].out):
        kappa = record["unknowns"]["kappa"]
        assert np.isfinite(kappa["mean"])
        assert kappa["std"] > 0
        assert kappa["exact"] == pytest.approx(0.1)


@pytest.mark.parametrize("arguments", [("own.py:problem",), ("own.py:make", "--noise", "0.1")], ids=["object", "function"])
def test_a_users_own_problem_runs(own, arguments):
    (record,) = strict(good("run", *arguments, "--method", "dropout", *TINY, "--json", cwd=own).out)
    assert record["problem"] == arguments[0].partition(":")[2]
    assert record["noise"] == (0.1 if "--noise" in arguments else None)
    assert record["rmse"] > 0


def test_a_folder_with_another_run_of_ours_is_refused_and_left_alone(single, tmp_path):
    shutil.copytree(single[1], tmp_path / "out")
    before = files(tmp_path)
    process = run("run", *POISSON, "--seed", "1", "--out", "out", cwd=tmp_path)
    assert (process.returncode, process.out) == (2, "")
    assert process.err == "epinn: out holds a run with other seeds; choose another folder with --out.\n"
    assert files(tmp_path) == before


def test_an_epinet_on_a_base_that_has_not_seen_the_data(tmp_path):
    good("compare", *POISSON, "--methods", "epinet,dropout", "--set", "epinet.base=physics", "--out", "mine", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "mine").glob("base*.safetensors")} == {
        "base-seed0.safetensors",
        "base-physics-seed0.safetensors",
    }


def test_noise_may_be_added_to_conditions_and_is_then_known_and_part_of_the_run(tmp_path):
    shown = good("run", *POISSON, "--method", "dropout", "--sigma", "boundary=0.3", "--out", "mine", cwd=tmp_path)
    assert "boundary ± 0.3" in shown.out
    assert "published" not in shown.out
    folder = tmp_path / "mine"
    assert json.loads((folder / "run.json").read_text())["noise_on"] == {"boundary": 0.3}
    assert "boundary ± 0.3" in (folder / "report.html").read_text()
    (record,) = json.loads((folder / "metrics.json").read_text())["records"]
    (boundary,) = [row for row in record["channels"] if row["channel"] == "boundary"]
    assert (boundary["noise"], boundary["sigma"], boundary["origin"]) == ("known", pytest.approx(0.3), "given by the user")
    good("resume", "mine", cwd=tmp_path)
    other = run("run", *POISSON, "--method", "dropout", "--sigma", "boundary=0.2", "--out", "mine", cwd=tmp_path)
    assert other.returncode == 2
    assert "other noise_on" in other.err
