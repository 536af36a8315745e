"""`epinn run --from`: an earlier experiment again; and what the command line says of folders that are in use or full."""

import os
import shutil

import pytest
from command_line import POISSON, good, read, records_in, run, without_times
from typer.testing import CliRunner

from epinn import InputError
from epinn.app.commands import app
from epinn.app.commands.experiment import described
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.store.files import write_json
from epinn.app.store.lock import alone_in
from epinn.app.store.run_folder import RunFolder, circumstances, other_versions

PLAN = Plan(find("poisson1d"), ("epinet",), (0.1,), (0,), preset("fast", "poisson1d"))


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(tmp_path / "run", PLAN.describe("fast"), "")


def said(*arguments):
    """The one line of a mistake."""
    found = CliRunner().invoke(app, list(map(str, arguments)))
    assert isinstance(found.exception, InputError), found.exception
    assert "\n" not in str(found.exception)
    return str(found.exception)


@pytest.mark.parametrize("more", [("poisson1d",), ("--seeds", "2"), ("--method", "hmc"), ("--noise", "0.3"), ("--set", "a=1")])
def test_what_an_earlier_run_says_is_not_said_again(folder, more):
    assert "--from" in said("run", "--from", folder.path, *more)


def test_without_a_problem_and_without_an_earlier_run_there_is_nothing_to_do():
    assert "name a problem" in said("run")


@pytest.mark.parametrize("content", [{"mine": 1}, {"epinn": "0.1.0", "kind": "calibration"}, {"epinn": "0.1.0"}])
def test_what_is_no_run_cannot_be_repeated(tmp_path, content):
    write_json(tmp_path / "run.json", content)
    assert "run.json" in said("run", "--from", tmp_path / "run.json")


def test_a_folder_without_a_run_cannot_be_repeated(tmp_path):
    assert "run.json" in said("run", "--from", tmp_path)
    assert "nowhere" in said("run", "--from", tmp_path / "nowhere")


def test_other_versions_are_said_in_one_line(folder, capsys):
    about = folder.read_json("run.json")
    assert other_versions(about) == ""
    described(about, folder.path)
    assert capsys.readouterr().err == ""
    old = about | {"versions": about["versions"] | {"jax": "0.4.1"}, "epinn": "0.0.1"}
    described(old, folder.path)
    (line,) = capsys.readouterr().err.splitlines()
    assert "epinn 0.0.1 (now " in line
    assert "jax 0.4.1 (now " in line


def test_a_run_without_versions_is_taken(folder):
    about = folder.read_json("run.json")
    del about["versions"]
    assert other_versions(about) == ""
    assert set(circumstances()["versions"]) > {"python", "jax", "numpy"}


def test_a_calibration_has_no_page_and_says_where_to_look(tmp_path):
    write_json(tmp_path / "run.json", {"epinn": "0.1.0", "kind": "calibration"})
    assert "calibration.json" in said("report", tmp_path)


def test_a_damaged_run_is_named(folder):
    path = folder.path / "run.json"
    path.write_bytes(path.read_bytes().replace(b"poisson1d", b"poisson2d", 1))
    for command in (("resume", folder.path), ("report", folder.path), ("run", "--from", folder.path)):
        assert f"{path} is damaged" in said(*command)


@pytest.mark.slow
def test_a_run_is_repeated_with_the_same_result_in_a_folder_of_its_own(single, tmp_path):
    again = good("run", "--from", single[1], "--out", "again", cwd=tmp_path)
    assert "again" in again.out
    assert without_times(records_in(tmp_path / "again")) == without_times(records_in(single[1]))
    first, second = (read(path / "run.json") for path in (single[1], tmp_path / "again"))
    assert {name: first[name] for name in PLAN.describe("fast")} == {name: second[name] for name in PLAN.describe("fast")}
    assert "--from" in second["command"]


@pytest.mark.slow
def test_a_second_process_in_a_folder_ends_with_2_and_one_line(single, tmp_path):
    shutil.copytree(single[1], tmp_path / "out")
    with alone_in(tmp_path / "out"):
        for command in (("resume", "out"), ("run", *POISSON, "--out", "out")):
            process = run(*command, cwd=tmp_path)
            assert process.returncode == 2
            (line,) = process.err.splitlines()
            assert "another process" in line


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="a superuser may write everywhere")
def test_a_folder_that_is_read_only_ends_with_2_and_one_line(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    process = run("run", *POISSON, "--out", "closed", cwd=tmp_path)
    assert process.returncode == 2
    (line,) = process.err.splitlines()
    assert "cannot be written to" in line
