"""A short version of `make fuzz`: a few hundred inputs of every kind, of which none may end in anything but an answer."""

import os
import time
from argparse import Namespace
from random import Random

import pytest

from benchmarks.fuzz import mutate
from benchmarks.fuzz.__main__ import fuzz
from benchmarks.fuzz.judge import judged
from benchmarks.fuzz.kinds import KINDS, SHARES
from benchmarks.fuzz.page import write
from epinn import InputError

NUMBERS = {"equations": 1000, "settings": 400, "tables of measurements": 200, "arrays": 200, "run folders": 40}
OPTIONS = Namespace(
    begin=0, seed=1, limit=60.0
)  # seconds for one input: a machine may be busy, and only a hang takes this long


@pytest.mark.parametrize("kind", NUMBERS)
def test_every_input_gets_an_answer(kind):
    """In a process of their own, in which nothing checks types before epinn does."""
    found = fuzz(kind, OPTIONS, NUMBERS[kind])
    assert not found["causes"]
    assert min(found["refused"], found["accepted"]) > 0, "the inputs are no test of anything"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NUMBERS])
def test_every_input_that_takes_longer_gets_an_answer(kind):
    assert not fuzz(kind, OPTIONS, 100)["causes"]


def test_the_judge_tells_answers_from_findings():
    def refuse(message):
        raise InputError(message)

    assert judged(lambda: 1, 5).kind == "accepted"
    assert judged(lambda: refuse("write x."), 5).kind == "refused"
    for finding in (lambda: refuse("two\nlines"), lambda: refuse(""), lambda: refuse("x" * 5000), lambda: 1 / 0):
        assert judged(finding, 5).kind == "found"
    assert "no answer" in judged(lambda: time.sleep(5), 0.05).note


def test_the_judge_sees_memory(monkeypatch):
    monkeypatch.setattr("benchmarks.fuzz.judge._peak", iter([300.0, 5000.0]).__next__)
    assert "MB" in judged(lambda: 1, 30).note


def test_an_input_can_be_made_again():
    text = "u.t = nu * u.xx"
    assert mutate.text(text, Random(3)) == mutate.text(text, Random(3))
    assert len({mutate.text(text, Random(i)) for i in range(50)}) > 20
    assert len({mutate.content(b"abcdefgh", Random(i)) for i in range(50)}) > 20
    assert len({repr(mutate.plain({"a": [1, 2], "b": {"c": 3}}, Random(i))) for i in range(50)}) > 20


def test_the_page_has_a_row_for_every_kind(tmp_path):
    row = {"inputs": 5, "refused": 3, "accepted": 1, "found": 1, "causes": {"KeyError in x.py:3": {"times": 1, "input": 4}}}
    about = {
        "command": "c",
        "machine": "m",
        "epinn": "1",
        "jax": "2",
        "with_": "with onnx",
        "limit": 5,
        "longest": 9,
        "megabytes": 7,
    }
    write({"kinds": {"arrays": row, "networks": row}, "about": about, "seconds": 60.0}, tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert "| arrays | 5 | 3 | 1 | 1 | 1 |" in page
    assert "| all | 10 | 6 | 2 | 2 | 2 |" in page
    assert "KeyError in x.py:3 (1 times; input 4)" in page


def test_all_kinds_have_a_share():
    assert set(SHARES) == set(KINDS)
    assert sum(SHARES.values()) == 100


def test_a_pipe_is_not_waited_for(tmp_path):
    from epinn.app.store.files import read_json

    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(InputError, match="is no file"):
        read_json(tmp_path / "run.json")
