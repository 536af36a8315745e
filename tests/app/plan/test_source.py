"""Finding a problem by name or in a user's file, and making it for a seed."""

import os
import sys

import numpy as np
import pytest

from epinn import InputError, Problem
from epinn.app.plan.source import find
from epinn.problems import SHIPPED

HEAD = "import epinn\n"
PROBLEM = "epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx + 1.0, boundary=epinn.Dirichlet(0.0))\n"
FACTORY = "def make(noise=0.2, *, key=0):\n    make.seen = (noise, key)\n    return " + PROBLEM


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes mine.py into a folder of its own and goes there."""
    monkeypatch.chdir(tmp_path)
    return (tmp_path / "mine.py").write_text


def refusal(spec):
    with pytest.raises(InputError) as caught:
        find(spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_problem_is_found_by_name(name):
    source = find(name)
    assert (source.name, source.spec) == (name, name)
    assert isinstance(source.make(0.1, 0, {}), Problem)


def test_an_unknown_problem_suggests_the_nearest_and_tells_of_files():
    message = refusal("poisson1")
    assert "did you mean 'poisson1d'" in message
    assert "file.py:name" in message


def test_the_default_noise_is_that_of_the_function():
    assert find("poisson1d").default_noise() == 0.0
    assert find("heat1d-inverse").default_noise() == 0.1


def test_the_seed_decides_the_data():
    source = find("poisson1d")
    values = [np.asarray(source.make(0.1, seed, {}).data[0].values) for seed in (0, 0, 1)]
    assert np.array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])


def test_point_settings_reach_a_shipped_problem():
    problem = find("poisson1d").make(0.1, 0, {"collocation": 17, "sensors": 5, "sampling": None})
    assert problem.points.collocation == 17
    assert len(problem.data[0].values) == 5
    assert problem.context.sampling == "grid"


@pytest.mark.parametrize("form", ["mine.py:problem", "./mine.py:problem", "mine.py"])
def test_a_problem_object_is_found_in_a_file(write, form):
    write(f"{HEAD}problem = {PROBLEM}")
    assert isinstance(find(form).make(None, 0, {}), Problem)


def test_a_file_with_several_problems_needs_a_name(write):
    write(f"{HEAD}first = {PROBLEM}second = {PROBLEM}")
    assert "mine.py:first" in refusal("mine.py")


@pytest.mark.parametrize("form", ["mine.py:make", "./mine.py:make", "{here}/mine.py:make"])
def test_a_function_is_found_in_a_file(write, tmp_path, form):
    write(HEAD + FACTORY)
    assert isinstance(find(form.format(here=tmp_path)).make(0.1, 0, {}), Problem)


def test_a_function_gets_noise_and_seed(write, tmp_path):
    write(HEAD + FACTORY)
    source = find(f"{tmp_path}/mine.py:make")
    source.make(0.3, 7, {})
    assert source.content.seen == (0.3, 7)
    assert source.default_noise() == 0.2


def test_a_function_without_noise_refuses_it(write, tmp_path, rejects):
    write(f"{HEAD}def make(key):\n    return {PROBLEM}")
    source = find(f"{tmp_path}/mine.py:make")
    assert source.default_noise() is None
    with rejects("make", "noise"):
        source.make(0.1, 0, {})


def test_a_problem_object_refuses_noise_and_sensors(write, rejects):
    write(f"{HEAD}problem = {PROBLEM}")
    source = find("mine.py:problem")
    with rejects("--noise", "its own data"):
        source.make(0.1, 0, {})
    with rejects("points.sensors", "its own data"):
        source.make(None, 0, {"sensors": 5})


def test_point_settings_reach_a_problem_object(write):
    write(f"{HEAD}problem = {PROBLEM}")
    assert find("mine.py:problem").make(None, 0, {"collocation": 9}).points.collocation == 9


def test_a_problem_is_found_again_from_another_folder(write, tmp_path, monkeypatch):
    write(f"{HEAD}problem = {PROBLEM}")
    spec = find("mine.py:problem").spec
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert isinstance(find(spec).make(None, 0, {}), Problem)


def test_a_file_may_import_its_neighbour(write, tmp_path):
    (tmp_path / "mine_helper.py").write_text("LENGTH = 3.0\n")
    write(f"{HEAD}from mine_helper import LENGTH\nproblem = {PROBLEM}".replace("(0, 1)", "(0, LENGTH)"))
    assert find("mine.py:problem").content.domain.upper == (3.0,)


def test_a_file_may_define_dataclasses_with_postponed_annotations(write):
    definition = "import dataclasses\n@dataclasses.dataclass\nclass Material:\n    density: float = 1.0\n"
    write(f"from __future__ import annotations\n{HEAD}{definition}problem = {PROBLEM}")
    assert isinstance(find("mine.py:problem").make(None, 0, {}), Problem)


def test_loading_a_file_leaves_its_folder_out_of_the_import_path(write, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    write(f"import sys\nsys.path.insert(0, 'elsewhere')\n{HEAD}problem = {PROBLEM}")
    find("mine.py:problem")
    assert os.getcwd() not in sys.path


def test_a_file_that_ends_the_program_is_refused(write):
    write("import sys\nsys.exit(3)\n")
    assert "mine.py" in refusal("mine.py:problem")


def test_a_missing_file_is_named():
    assert "nowhere.py" in refusal("nowhere.py:problem")


def test_a_missing_name_suggests_the_nearest_in_the_file(write):
    write(f"{HEAD}problem = {PROBLEM}")
    message = refusal("mine.py:problm")
    assert "mine.py" in message
    assert "did you mean 'problem'" in message


def test_what_is_no_problem_is_not_found(write):
    write(f"{HEAD}problem = {PROBLEM}number = 3\n")
    assert "number in mine.py is of type int" in refusal("mine.py:number")


def test_an_imported_function_is_no_problem_of_the_file(write):
    write(f"{HEAD}from epinn.problems.poisson1d import poisson1d\nproblem = {PROBLEM}")
    assert "did you mean 'problem'" in refusal("mine.py:prob")


@pytest.mark.parametrize("path", ["mine.py", "./mine.py", "{here}/mine.py"])
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\nx = = 1\n", 3, "SyntaxError"),
        ("\nimport nosuchmodule\n", 3, "ModuleNotFoundError: No module named 'nosuchmodule'"),
        ("\n\nvalue = 1 / 0\n", 4, "ZeroDivisionError: division by zero"),
        ("box = epinn.Box(x=(1, 0))\n", 2, "the interval of x"),
    ],
    ids=["syntax", "import", "arithmetic", "epinn"],
)
def test_an_error_in_a_file_is_shown_with_its_line(write, tmp_path, path, text, line, words):
    write(HEAD + text)
    message = refusal(path.format(here=tmp_path) + ":problem")
    assert f"mine.py, line {line}: " in message
    assert words in message


def test_a_function_that_returns_something_else_is_refused(write, tmp_path, rejects):
    write(HEAD + "def make():\n    return 3\n")
    with rejects("make", "int", "epinn.Problem"):
        find(f"{tmp_path}/mine.py:make").make(None, 0, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def make(noise=0.1):\n    raise ValueError('no such table')\n", ("make", "no such table")),
        ("def make(viscosity):\n    return 3\n", ("make", "viscosity")),
    ],
    ids=["raises", "wants something else"],
)
def test_a_function_that_fails_says_so_in_one_line(write, tmp_path, rejects, text, words):
    write(HEAD + text)
    source = find(f"{tmp_path}/mine.py:make")
    with rejects(*words):
        source.make(source.default_noise(), 0, {})
