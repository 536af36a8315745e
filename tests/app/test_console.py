"""What the terminal shows at the end of a run."""

import io

import pytest
from rich.console import Console

from epinn.app import console
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find

UNMIXED = "the chains have not mixed (R-hat of the field 2.00): do not trust this band; try more hmc.samples."
VERDICTS = {
    "epinet": {"word": "trustworthy", "why": ["the truth is in the 95% band at 96% of the points"], "advice": []},
    "hmc": {
        "word": "not converged",
        "why": ["the chains have not mixed (R-hat of the field 2.00)"],
        "advice": ["do not trust this band; try more hmc.samples."],
    },
}


def record(method, seed=0, **changes):
    scores = {"sharpness": 0.0034, "coverage": 0.96, "rmse": 3.1e-5, "nll": 1.0, "crps": 1.0, "interval_score": 0.3}
    times = {"time_s": 12.0, "time_uq_s": 3.0}
    warnings = [UNMIXED, "something else."] if method == "hmc" else []
    about = {"method": method, "seed": seed, "warnings": warnings, "failed": False, "verdict": VERDICTS[method]}
    return scores | times | about | changes


def plan(seeds=(0,)):
    return Plan(find("poisson1d"), ("epinet", "hmc"), (0.1,), seeds, preset("fast", "poisson1d"))


@pytest.fixture
def shown(monkeypatch, tmp_path):
    def show(records, seeds=(0,), **terminal):
        file = io.StringIO()
        monkeypatch.setattr(console, "_console", lambda: Console(file=file, width=120, **terminal))
        console.print_summary(records, plan(seeds), tmp_path)
        return file.getvalue()

    return show


def test_numbers_have_significant_digits(shown):
    text = shown([record("epinet"), record("hmc")])
    assert "0.00340" in text
    assert "3.10e-05" in text
    assert "poisson1d, noise 0.1, seed 0" in text
    assert "0.0996" in text  # as the paper prints it


def test_each_thing_is_said_once(shown):
    text = shown([record("epinet"), record("hmc")])
    assert "epinet: trustworthy. The truth is in the 95% band at 96% of the points.\n" in text
    assert "hmc: not converged. The chains have not mixed (R-hat of the field 2.00). Do not trust this band; try more" in text
    assert "hmc: note: something else." in text
    assert text.count("have not mixed") == text.count("he truth is in") == 1


def test_verdicts_have_colours_where_there_are_any(shown):
    text = shown([record("epinet"), record("hmc")], force_terminal=True, color_system="standard")
    assert "\x1b[1;32mtrustworthy" in text
    assert "\x1b[1;31mnot converged" in text
    assert "\x1b" not in shown([record("epinet")])


def test_every_field_has_its_row(shown):
    metrics = {name: value for name, value in record("epinet").items() if name in ("sharpness", "coverage", "rmse")}
    fields = {"S": metrics, "I": metrics | {"rmse": 0.25}}
    text = shown([record("epinet", seed, fields=fields) for seed in (0, 1)], seeds=(0, 1))
    rows = [line.split("│")[1:] for line in text.splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in row[:2]] for row in rows] == [["epinet", "S"], ["epinet", "I"]]
    assert rows[1][4].strip() == "0.250"
