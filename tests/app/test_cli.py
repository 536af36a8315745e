"""The command line end to end: the real command in a process of its own, in an empty folder."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from safetensors.numpy import load_file

import epinn
from epinn.methods import METHODS
from epinn.problems import SHIPPED

COMMAND = (sys.executable, "-m", "epinn")
ENVIRONMENT = os.environ | {
    "XDG_CACHE_HOME": str(Path.home() / ".cache" / "epinn-tests"),  # compiled programs, beside those of conftest.py
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",  # what runs for milliseconds should not compile for seconds
    "COLUMNS": "160",
    "TERM": "xterm",
}
PATIENCE = 240  # seconds; only a hang takes this long
SETTINGS = (
    "base.hidden=8,8",
    "base.epochs=20",
    "base.newton=0",
    "base.restarts=0",
    "epinet.objective=paper",
    "epinet.hidden=8",
    "epinet.epochs=10",
    "hmc.leapfrog=2",
    "hmc.burn_in=2",
    "hmc.samples=4",
    "hmc.start=trained",
    "hmc.precondition=false",
    "predict.draws=50",
)
TINY = [part for setting in SETTINGS for part in ("--set", setting)]
POISSON = ("poisson1d", "--noise", "0.1", *TINY)
PROMISED = {"problem", "method", "noise", "seed", "sharpness", "coverage", "rmse", "time_s", "time_uq_s"}

OWN = """
import epinn, jax, jax.numpy as jnp, numpy as np

def make(noise=0.1, *, key=0):
    x = np.linspace(0.1, 0.9, 5)
    u = x * (1 - x) / 2 + noise * np.asarray(jax.random.normal(jax.random.key(key), 5))
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.xx + 1.0,
        boundary=epinn.Dirichlet(0.0),
        data=epinn.Data(x, u, sigma=max(noise, 1e-3)),
        exact=lambda x: x * (1 - x) / 2,
    )

problem = make()
"""

BROKEN = """
import epinn, jax.numpy as jnp

def problem(equation=lambda u: u.xx, data=()):
    return epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=equation, boundary=epinn.Dirichlet(0.0), data=data)

nan = problem(data=epinn.Data([0.1, 0.2, 0.3], [1.0, float("nan"), 2.0], sigma=0.1))
outside = problem(data=epinn.Data([0.1, 3.5], [1.0, 2.0], sigma=0.1))
shape = problem(data=epinn.Data([0.1, 0.2], [1.0, 2.0, 3.0], sigma=0.1))
along_y = problem(lambda u: u.xx + u.yy)
undefined = problem(lambda u: u.xx - sorce(u))
runaway = problem(lambda u: jnp.sqrt(-1.0 - u**2))
"""


def start(*arguments, cwd, **streams):
    return subprocess.Popen([*COMMAND, *map(str, arguments)], cwd=cwd, env=ENVIRONMENT, **streams)


def run(*arguments, cwd):
    process = start(*arguments, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        process.out, process.err = process.communicate(timeout=PATIENCE)
    return process


def good(*arguments, cwd):
    """A command that must succeed, without a word that sounds like trouble."""
    process = run(*arguments, cwd=cwd)
    assert process.returncode == 0, process.err
    assert not re.search("warning|error|traceback|deprecat", process.err, re.IGNORECASE), process.err
    return process


def strict(text):
    """JSON as its standard has it: without NaN."""

    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def read(path):
    return strict(path.read_text())


def records_in(folder):
    return read(folder / "metrics.json")["records"]


def without_times(records):
    return [{name: value for name, value in record.items() if not name.startswith("time")} for record in records]


def row(table, method):
    """The cells of a method's row, and of the row below it."""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in table.splitlines() if line.startswith("│")]
    (number,) = [number for number, cells in enumerate(lines) if cells[0] == method]
    return lines[number], lines[number + 1] if number + 1 < len(lines) else []


def files(folder):
    """All files below a folder; what Python compiles for itself does not count."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """One method on one seed: the process and the folder of results."""
    cwd = tmp_path_factory.mktemp("single")
    return good("run", *POISSON, "--out", "out", cwd=cwd), cwd / "out"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Three methods on one seed."""
    cwd = tmp_path_factory.mktemp("compared")
    return good("compare", *POISSON, "--set", "dropout.rate=0.05", "--out", "out", cwd=cwd), cwd / "out"


@pytest.fixture(scope="module")
def inverse(tmp_path_factory):
    """An inverse problem on three seeds, as JSON, without a folder of its own choice."""
    cwd, points = tmp_path_factory.mktemp("inverse"), ("--set", "points.collocation=32", "--set", "points.sensors=8")
    seeds = ("--seeds", 3, "--seed", 5)
    process = good("run", "heat1d-inverse", "--method", "dropout", *TINY, *points, *seeds, "--json", cwd=cwd)
    return process, cwd / "runs" / "heat1d-inverse-dropout-1"


@pytest.fixture
def own(tmp_path):
    """A folder with the user's files."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "syntax.py").write_text("import epinn\n\nproblem = = 3\n")
    (tmp_path / "number.py").write_text("problem = 3\n")
    (tmp_path / "model.json").write_text('{"weights": [1.0, 2.0]}')
    (tmp_path / "imports.py").write_text("import epinn\n\n\nimport nosuchmodule\n")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").write_text("years of work")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text('{"epinn": "0.1.0"}')
    return tmp_path


# What it says of itself


def test_help_answers_at_once(tmp_path):
    times = []
    for _ in range(3):
        started = time.perf_counter()
        assert "compare" in good("--help", cwd=tmp_path).out
        times.append(time.perf_counter() - started)
    assert min(times) < 0.5


def test_help_loads_no_mathematics(tmp_path):
    trace = [sys.executable, "-X", "importtime", *COMMAND[1:], "--help"]
    found = subprocess.run(trace, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in found.splitlines()}
    assert "typer" in imported
    assert not imported & {"jax", "jaxlib", "numpy", "scipy", "equinox", "matplotlib"}


def test_without_arguments_there_is_help(tmp_path):
    process = run(cwd=tmp_path)
    assert re.search(r"^Usage: ", (process.out + process.err).strip(), re.MULTILINE)
    assert re.search(r"^\s+compare ", process.out + process.err, re.MULTILINE)


def test_the_version_is_that_of_the_package(tmp_path):
    assert good("--version", cwd=tmp_path).out == f"{epinn.__version__}\n"


def test_problems_are_listed_with_a_line_each(tmp_path):
    lines = good("problems", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in lines] == list(SHIPPED)
    assert all(len(line.split()) > 3 for line in lines)


def test_methods_are_listed_with_a_line_each(tmp_path):
    lines = good("methods", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in lines] == list(METHODS)
    assert all(len(line.split()) > 3 for line in lines)


def test_settings_are_listed_with_the_values_of_a_preset(tmp_path):
    found = good("settings", "--preset", "paper", "--problem", "poisson2d-nonlinear", cwd=tmp_path).out
    values = dict(line.split(maxsplit=1) for line in found.splitlines())
    assert values["base.epochs"] == "100000"
    assert values["base.hidden"] == "32,32,32"
    assert float(values["hmc.step_size"]) == 1e-5


# A run and its folder


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
    assert f"{record['rmse']:.4f}" in row(process.out, "epinet")[0]
    assert process.out.splitlines()[-1] == "results: out"


def test_the_same_seed_gives_the_same_metrics_to_the_bit(single, compared):
    alone, together = records_in(single[1]), records_in(compared[1])[:1]
    assert without_times(alone) == without_times(together)


# Several seeds of an inverse problem, as JSON


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


# Several methods


def test_a_comparison_has_a_record_for_every_method(compared):
    assert [record["method"] for record in records_in(compared[1])] == ["epinet", "dropout", "hmc"]


@pytest.mark.parametrize(
    ("method", "published"),
    [("epinet", ("0.23", "1.00", "0.0337")), ("dropout", ("3.00", "1.00", "0.0700")), ("hmc", ("0.97", "1.00", "0.0996"))],
)
def test_a_comparison_shows_published_values_below_ours(compared, method, published):
    process, folder = compared
    (record,) = [record for record in records_in(folder) if record["method"] == method]
    ours, theirs = row(process.out, method)
    assert ours[1:4] == [f"{record['sharpness']:.2f}", f"{record['coverage']:.2f}", f"{record['rmse']:.4f}"]
    assert theirs[:4] == ["published", *published]


def test_a_comparison_passes_on_what_a_method_warns_of(compared):
    process, folder = compared
    (record,) = [record for record in records_in(folder) if record["method"] == "hmc"]
    assert record["warnings"]
    for text in record["warnings"]:
        assert f"note: hmc: {text}" in process.out


def test_resume_computes_only_what_is_missing(compared, tmp_path):
    shutil.copytree(compared[1], tmp_path / "out")
    metrics = read(tmp_path / "out" / "metrics.json")
    before = {record["method"]: record for record in metrics["records"]}
    metrics["records"] = [record for record in metrics["records"] if record["method"] != "dropout"]
    (tmp_path / "out" / "metrics.json").write_text(json.dumps(metrics))
    printed = strict(good("resume", "out", "--json", cwd=tmp_path).out)
    after = {record["method"]: record for record in printed}
    assert printed == records_in(tmp_path / "out")
    assert (after["epinet"], after["hmc"]) == (before["epinet"], before["hmc"])
    assert without_times([after["dropout"]]) == without_times([before["dropout"]])


# A problem of one's own


@pytest.mark.parametrize("arguments", [("own.py:problem",), ("own.py:make", "--noise", "0.1")], ids=["object", "function"])
def test_a_users_own_problem_runs(own, arguments):
    (record,) = strict(good("run", *arguments, "--method", "dropout", *TINY, "--json", cwd=own).out)
    assert record["problem"] == arguments[0].partition(":")[2]
    assert record["noise"] == (0.1 if "--noise" in arguments else None)
    assert record["rmse"] > 0


# Mistakes


MISTAKES = {
    "no argument": (("run",), ("problem",)),
    "unknown option": (("run", "poisson1d", "--nois", "0.1"), ("--nois", "--noise")),
    "unknown command": (("rum", "poisson1d"), ("rum", "'run'")),
    "no seeds": (("run", "poisson1d", "--seeds", "0"), ("--seeds",)),
    "noise that is no number": (("run", "poisson1d", "--noise", "loud"), ("--noise",)),
    "unknown problem": (("run", "poison1d"), ("poison1d", "did you mean 'poisson1d'")),
    "unknown method": (("run", "poisson1d", "--method", "epinett"), ("epinett", "did you mean 'epinet'")),
    "unknown kind of noise": (("calibrate", "poisson1d", "--sigma", "equatin=0.1"), ("equatin", "did you mean 'equation'")),
    "noise on a kind without a number": (("calibrate", "poisson1d", "--sigma", "equation"), ("--sigma", "equation=0.1")),
    "unknown setting": (("run", "poisson1d", "--set", "base.epoch=5"), ("base.epoch", "did you mean 'base.epochs'")),
    "wrong type": (("run", "poisson1d", "--set", "base.epochs=many"), ("base.epochs", "whole number", "many")),
    "unknown choice": (("run", "poisson1d", *TINY, "--set", "base.optimizer=adm"), ("adm", "did you mean 'adam'")),
    "negative noise": (("run", "poisson1d", "--noise", "-0.1"), ("noise", "-0.1")),
    "noise for an object": (("run", "own.py:problem", "--noise", "0.1"), ("--noise", "its own data")),
    "seed beyond 32 bits": (("run", "poisson1d", "--seed", "99999999999999999999"), ("--seed", "4294967295")),
    "output without a name": (("run", "poisson1d", *TINY, "--out", ""), ("--out", "name")),
    "resuming nothing": (("resume", ""), ("folder", "name")),
    "a problem that is a number": (("run", "number.py:problem"), ("number.py", "int", "epinn.Problem")),
    "a model that is JSON": (("attach", "model.json", "--problem", "own.py:problem"), ("model.json",)),
    "an unknown without a value": (
        ("attach", "own.py:x", "--problem", "own.py:problem", "--unknowns", "b"),
        ("--unknowns", "b"),
    ),
    "no such file": (("run", "nowhere.py:problem"), ("nowhere.py",)),
    "no such name": (("run", "own.py:problm"), ("own.py", "did you mean 'problem'")),
    "syntax error": (("run", "syntax.py:problem"), ("syntax.py, line 3", "SyntaxError")),
    "import error": (("run", "imports.py:problem"), ("imports.py, line 4", "No module named 'nosuchmodule'")),
    "not a number": (("run", "broken.py:nan"), ("data", "NaN", "first row 1")),
    "outside": (("run", "broken.py:outside"), ("data", "outside the domain", "3.5")),
    "wrong number of values": (("run", "broken.py:shape"), ("data", "(3, 1)", "(2, 1)")),
    "no such coordinate": (("run", "broken.py:along_y"), ("u.yy", "'y'", "coordinates are x")),
    "undefined name": (("run", "broken.py:undefined"), ("name 'sorce' is not defined",)),
    "output is a file": (("run", "poisson1d", *TINY, "--out", "own.py"), ("own.py", "file")),
    "output is foreign": (("run", "poisson1d", *TINY, "--out", "foreign"), ("foreign", "--out")),
    "resuming a damaged run": (("resume", "damaged"), ("damaged", "run.json")),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_nothing_is_written(own, mistake):
    arguments, words = MISTAKES[mistake]
    before = files(own)
    process = run(*arguments, cwd=own)
    assert len(process.err.splitlines()) == 1, process.err
    assert process.err.startswith("epinn: ")
    for word in words:
        assert word in process.err
    assert process.returncode == 2
    assert process.out == ""
    assert files(own) == before


def test_a_folder_with_another_run_of_ours_is_refused_and_left_alone(single, tmp_path):
    shutil.copytree(single[1], tmp_path / "out")
    before = files(tmp_path)
    process = run("run", *POISSON, "--seed", "1", "--out", "out", cwd=tmp_path)
    assert (process.returncode, process.out) == (2, "")
    assert process.err == "epinn: out holds a run with other seeds; choose another folder with --out.\n"
    assert files(tmp_path) == before


# Failures and interruptions


@pytest.fixture(scope="module")
def runaway(tmp_path_factory):
    """A run whose equation is not a number."""
    cwd = tmp_path_factory.mktemp("runaway")
    (cwd / "broken.py").write_text(BROKEN)
    return run("run", "broken.py:runaway", *TINY, "--json", "--out", "out", cwd=cwd), cwd / "out"


def test_a_divergence_is_one_line_that_names_channel_and_step(runaway):
    process, _ = runaway
    assert (process.returncode, process.out) == (1, "")
    assert len(process.err.splitlines()) == 1, process.err
    assert re.match("epinn: .*'equation'.* step 0", process.err)


def test_a_divergence_keeps_finite_weights(runaway):
    weights = load_file(runaway[1] / "base-seed0.safetensors")
    assert weights
    assert all(np.isfinite(values).all() for values in weights.values())


def test_a_divergence_is_marked_in_the_folder(runaway):
    assert read(runaway[1] / "run.json")["status"] == "failed"


def test_a_divergence_is_told_in_sound_json(runaway):
    assert "'equation'" in read(runaway[1] / "base.json")["seeds"][0]["failure"]


def read_until(terminal, process, pattern):
    """What a process writes to its terminal until a pattern appears, or until it ends."""
    seen, limit = "", time.monotonic() + PATIENCE
    while not re.search(pattern, seen):
        assert time.monotonic() < limit, seen
        try:
            seen += os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            return seen
    return seen


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """Ctrl-C in the middle of a training that would take hours, at a terminal: exit code, what it showed after, folder."""
    cwd = tmp_path_factory.mktemp("interrupted")
    ours, theirs = pty.openpty()
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a process in the background would inherit deafness
    process = start("run", *POISSON, "--set", "base.epochs=1e7", "--out", "out", cwd=cwd, stderr=theirs, stdout=theirs)
    signal.signal(signal.SIGINT, previous)
    os.close(theirs)
    with process:
        try:
            read_until(ours, process, r"training .*[1-9]\d*/10000000")
            running = read(cwd / "out" / "run.json")["status"]
            process.send_signal(signal.SIGINT)
            shown = read_until(ours, process, "(?!)")
            code = process.wait(PATIENCE)
        finally:
            process.kill()
            os.close(ours)
    return running, code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown), cwd / "out"


def test_a_run_says_that_it_is_running(interrupted):
    assert interrupted[0] == "running"


def test_ctrl_c_ends_with_130_and_one_line_that_says_how_to_go_on(interrupted):
    _, code, shown, _ = interrupted
    assert code == 130
    last = shown.strip().splitlines()[-1]
    assert last.startswith("epinn: interrupted")
    assert last.endswith("epinn resume out")
    assert "Traceback" not in shown
    assert shown.count("epinn: ") == 1


def test_ctrl_c_leaves_a_sound_folder(interrupted):
    folder = interrupted[3]
    assert read(folder / "run.json")["status"] == "interrupted"
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


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


# Repetition


def test_calibrate_writes_records_and_picture_and_goes_on_where_it_was(tmp_path):
    small = [part for s in (*SETTINGS, "laplace.samples=10") for part in ("--set", s)]
    command = ("calibrate", "poisson1d", "--noise", "0.1", "--method", "laplace,dropout", "--sigma", "equation=0.1", *small)
    shown = good(*command, "--redraws", "2", "--out", "out", cwd=tmp_path)
    assert "laplace" in shown.out
    assert "95%" in shown.out
    files = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("redraws-*.json")]
    kept = sorted((row["method"], row["seed"]) for file in files for row in file["redraws"])
    assert kept == [("dropout", 0), ("dropout", 1), ("laplace", 0), ("laplace", 1)]
    assert (tmp_path / "out" / "calibration.png").read_bytes()[:4] == b"\x89PNG"
    rows = json.loads(good(*command, "--redraws", "2", "--out", "out", "--json", cwd=tmp_path).out)
    assert [row["method"] for row in rows] == ["laplace", "dropout"]
    assert rows[0]["coverage"] == json.loads((tmp_path / "out" / "calibration.json").read_text())["methods"][0]["coverage"]
