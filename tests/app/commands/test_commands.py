"""What the command line says of itself, and of mistakes."""

import os
import re
import resource
import subprocess
import sys

import pytest
from command_line import COMMAND, TINY, files, good, run

import epinn


def test_help_answers_at_once(tmp_path):
    """In processor time, which other work on the machine does not change."""
    times = []
    for _ in range(3):
        before = _time_of_children()
        assert "compare" in good("--help", cwd=tmp_path).out
        times.append(_time_of_children() - before)
    assert min(times) < 0.5


def _time_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def test_help_loads_no_mathematics(tmp_path):
    trace = [sys.executable, "-X", "importtime", *COMMAND[1:], "--help"]
    found = subprocess.run(trace, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in found.splitlines()}
    assert "typer" in imported
    assert not imported & {"jax", "jaxlib", "numpy", "scipy", "equinox", "matplotlib", "dask", "distributed"}


def test_without_arguments_there_is_help(tmp_path):
    process = run(cwd=tmp_path)
    assert re.search(r"^Usage: ", (process.out + process.err).strip(), re.MULTILINE)
    assert re.search(r"^\s+compare ", process.out + process.err, re.MULTILINE)


def test_the_version_is_that_of_the_package(tmp_path):
    assert good("--version", cwd=tmp_path).out == f"{epinn.__version__}\n"


@pytest.mark.parametrize(
    ("typed", "completed"), [("ca", "calibrate"), ("re", "resume report reproduce"), ("run --no", "--noise")]
)
def test_a_shell_completes_commands_and_options(typed, completed, tmp_path):
    words = f"epinn {typed}"
    asked = {"_EPINN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(COMMAND, cwd=tmp_path, env=os.environ | asked, capture_output=True, text=True, check=True)
    assert done.stdout.split() == completed.split()


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
    "no address of workers": (("calibrate", "poisson1d", "--cluster", "nowhere"), ("--cluster", "local:4", "tcp://")),
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
    "resuming a damaged run": (("resume", "damaged"), ("run.json", "settings")),
}


@pytest.mark.slow
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
