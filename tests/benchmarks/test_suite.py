"""The suite: all of its cases can be typed, and its page says what was found, failures included."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from benchmarks.suite import run as suite
from benchmarks.suite.page import write
from benchmarks.suite.problems import CASES
from benchmarks.suite.results import load, save
from epinn.problem.sameness import check_same_equations

INVERSE = [name for name, case in CASES.items() if case.problem(0).parameters]


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_conditions_and_differs_between_seeds_in_its_measurements_only(name):
    first, second = (CASES[name].problem(seed) for seed in (0, 1))
    check_same_equations(first, second)
    for channel in first.channels(0):
        assert np.all(np.isfinite(channel.target))
    for mine, its in zip(first.data, second.data, strict=True):
        assert np.any(np.asarray(mine.values) != np.asarray(its.values))


@pytest.mark.parametrize("name", INVERSE)
def test_least_squares_knows_all_unknowns_of_a_case(name):
    found = CASES[name].least_squares(0)
    assert found.keys() == CASES[name].problem(0).parameters.keys()
    assert all(estimate.sd > 0 for estimate in found.values())


def run(error, word, coverage=1.0):
    return {
        "error": error,
        "errors": {"u": error},
        "stds": {"u": error},
        "coverage": coverage,
        "band_seconds": 2.0,
        "trustworthy": word == "trustworthy",
        "verdict": {"word": word},
        "failure": None,
    }


@pytest.fixture
def page(tmp_path):
    """Three cases: one solved, one wrong and trusted, one out of time; the others were not run."""
    done = {"state": "done", "fit_seconds": 10.0}
    save(tmp_path / "gpu", "burgers", {**done, "runs": [run(e, "trustworthy") for e in (1e-3, 2e-3, 4e-3)]})
    save(tmp_path / "gpu", "allen_cahn", {**done, "runs": [run(0.6, "trustworthy", coverage=0.4)]})
    save(tmp_path / "gpu", "kdv", {"state": "out of time", "limit": 180.0})
    save(tmp_path / "gpu", "machine", {"label": "GPU", "machine": "a GPU", "jobs": 3, "limit": 180.0})
    write([tmp_path / "gpu"], tmp_path)
    return (tmp_path / "README.md").read_text()


def line(page, start):
    (found,) = (text for text in page.splitlines() if text.startswith(start))
    return found


def test_the_page_has_the_median_and_the_range_over_seeds(page):
    assert "| 2.0e-03 (1.0e-03 to 4.0e-03) |" in line(page, "| Burgers")
    assert "| 10 + 6 |" in line(page, "| Burgers")


def test_the_page_names_what_was_wrong_and_trusted(page):
    counts = line(page, "**GPU: 1 of 27 below 0.01.**")
    assert "Of those above (1), 1 were called trustworthy: allen_cahn (coverage 0.40)." in counts


def test_the_page_lists_what_did_not_end(page):
    assert line(page, "| kdv |") == "| kdv | out of time (180 s) |"
    assert line(page, "| sir |") == "| sir | not run |"
    assert "--jobs 3 --limit 180" in page


@pytest.mark.parametrize("cluster", [None, "tcp://host:8786"])
def test_what_workers_find_is_written_by_who_asked(tmp_path, monkeypatch, capsys, cluster):
    def found(task):
        return {"name": task.name, "state": "done", "runs": [run(1e-3, "trustworthy")], "seconds": 2.0, "limit": task.limit}

    def workers_at(address, say):
        assert address == "tcp://host:8786"
        return contextlib.closing(Workers(2))

    class Workers(ThreadPoolExecutor):
        close = ThreadPoolExecutor.shutdown

    monkeypatch.setattr(suite, "compute", found)
    monkeypatch.setattr(suite, "workers_at", workers_at)
    monkeypatch.setattr("epinn.app.cluster.tasks.keep_compiled_programs", lambda: None)
    suite.run(["burgers", "kdv"], 1, tmp_path, 2, "here", 60.0, cluster)
    assert {load(tmp_path, name)["limit"] for name in ("burgers", "kdv")} == {60.0}
    assert sorted(line.split()[0] for line in capsys.readouterr().out.splitlines()) == ["burgers", "kdv"]
