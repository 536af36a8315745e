"""A problem without programming: `epinn new`, `epinn check`, and a TOML file wherever a problem is asked for."""

import pytest
from command_line import TINY, files, good, read, run
from matplotlib.image import imread

ROD = """
[domain]
x = [0, 1]
[[equation]]
expression = "u.xx = -sin(pi * x)"
[[boundary]]
value = 0
[exact]
u = "sin(pi * x) / pi**2"
"""


@pytest.fixture
def rod(tmp_path):
    """A folder with a problem of the user's."""
    (tmp_path / "rod.toml").write_text(ROD)
    return tmp_path


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """What `epinn new` and then `epinn check` have to say, and the folder."""
    cwd = tmp_path_factory.mktemp("example")
    return good("new", "tea.toml", cwd=cwd), good("check", "tea.toml", cwd=cwd), cwd


def test_new_writes_an_example_that_is_understood(example):
    written, checked, cwd = example
    assert "epinn check tea.toml" in written.out
    assert "epinn run tea.toml" in (cwd / "tea.toml").read_text()
    for words in (
        "cup of tea",
        "t from 0 to 60",
        "T.t = -k * (T - T_room)",
        "12 readings, sigma 0.50",
        "20 ± 5",
        "takes about",
        "GiB",
    ):
        assert words in checked.out


def test_check_draws_and_writes_nothing_else(example):
    *_, cwd = example
    assert {path.name for path in cwd.iterdir()} == {"tea.toml", "tea-check.png"}
    assert min(imread(cwd / "tea-check.png").shape[:2]) > 200


def test_new_never_overwrites(rod):
    process = run("new", "rod.toml", cwd=rod)
    assert process.returncode == 2
    assert "rod.toml is there already" in process.err
    assert (rod / "rod.toml").read_text() == ROD


@pytest.mark.parametrize(("name", "word"), [("rod.txt", "rod.toml"), ("nowhere/rod.toml", "nowhere")])
def test_new_refuses_names_that_are_none(tmp_path, name, word):
    process = run("new", name, cwd=tmp_path)
    assert (process.returncode, len(process.err.splitlines())) == (2, 1)
    assert word in process.err
    assert not files(tmp_path)


def test_check_tells_what_holds_by_construction(rod):
    shown = good("check", "rod.toml", "--picture", "mine.png", cwd=rod).out
    assert "u = 0 on all faces in space; 2 points, by construction" in shown
    assert (rod / "mine.png").is_file()


def test_check_takes_problems_in_python_too(own):
    shown = good("check", "own.py:problem", cwd=own).out
    assert "an operator of u.xx" in shown
    assert "5 readings" in shown


WRONG = {
    "a mistake in a formula": (ROD.replace("sin(pi", "sn(pi"), ("[[equation]]", "column 9", "did you mean 'sin'")),
    "an unknown key": (ROD.replace("value", "valeu"), ("[[boundary]]", "value is missing", "valeu")),
    "a wrong face": (ROD.replace("value = 0", "value = 0\non = 'x=2'"), ("x=2", "x=1")),
    "code": (ROD.replace("-sin(pi * x)", "__import__(1)"), ("no function '__import__'",)),
    "a table that is none": (ROD + "[boundry]\n", ("boundry", "did you mean 'boundary'")),
    "not TOML": (ROD + "what?\n", ("rod.toml", "line")),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_in_the_file_is_one_line_and_nothing_is_written(tmp_path, command, mistake):
    text, words = WRONG[mistake]
    (tmp_path / "rod.toml").write_text(text)
    before = files(tmp_path)
    process = run(command, "rod.toml", cwd=tmp_path)
    assert (process.returncode, process.out, len(process.err.splitlines())) == (2, "", 1)
    assert process.err.startswith("epinn: rod.toml")
    for word in words:
        assert word in process.err
    assert files(tmp_path) == before


@pytest.mark.slow
def test_a_run_of_a_file_can_be_resumed_until_the_file_changes(rod):
    good("run", "rod.toml", "--method", "dropout", *TINY, "--out", "mine", cwd=rod)
    folder = rod / "mine"
    assert read(folder / "run.json")["problem"] == str(rod / "rod.toml")
    (record,) = read(folder / "metrics.json")["records"]
    assert record["problem"] == "rod"
    assert record["rmse"] > 0
    elsewhere = rod / "elsewhere"
    elsewhere.mkdir()
    good("resume", str(folder), cwd=elsewhere)
    (rod / "rod.toml").write_text(ROD.replace("pi * x", "2 * pi * x"))
    process = run("resume", str(folder), cwd=elsewhere)
    assert process.returncode == 2
    assert "changed" in process.err


@pytest.mark.slow
def test_the_example_finds_what_its_numbers_were_made_with(tmp_path):
    """They were made with k = 0.045 and a room of 21 degrees, and noise of 0.5."""
    good("new", cwd=tmp_path)
    good("run", "problem.toml", "--method", "laplace", "--out", "mine", cwd=tmp_path)
    (record,) = read(tmp_path / "mine" / "metrics.json")["records"]
    for name, truth in {"k": 0.045, "T_room": 21.0}.items():
        found = record["unknowns"][name]
        assert abs(found["mean"] - truth) < 3 * found["std"]
        assert found["std"] < 0.1 * truth
