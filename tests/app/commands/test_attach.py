"""`epinn attach` end to end: the real command in a process of its own."""

import json
import re

import numpy as np
import pytest
from command_line import good, run
from safetensors.numpy import load_file, save_file

import epinn
from epinn.app.plan.origin import Origin

pytestmark = pytest.mark.slow

MODEL = """
import jax.numpy as jnp, numpy as np

weights = {"w": np.linspace(-2, 2, 6).reshape(6, 1).astype(np.float32), "v": np.linspace(-1, 1, 6)[None].astype(np.float32)}
double = {name: value.astype(np.float64) for name, value in weights.items()}

def network(p, x):
    return p["v"] @ jnp.tanh(p["w"] @ x)

model, precise, number = (network, weights), (network, double), 3
"""
PROBLEM = """
import epinn

problem = epinn.Problem(
    domain=epinn.Box(x=(0, 1)),
    equation=lambda u: u.xx + 1.0,
    boundary=epinn.Dirichlet(0.0),
    exact=lambda x: x * (1 - x) / 2,
    points=epinn.Points(collocation=12),
)
"""
FEW = ("--set", "predict.draws=20", "--set", "laplace.samples=10", "--set", "epinet.index_dim=8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("attach")
    (path / "mine.py").write_text(MODEL)
    (path / "problem.py").write_text(PROBLEM)
    random = np.random.default_rng(0)
    shapes = {"0.weight": (5, 1), "0.bias": (5,), "2.weight": (1, 5), "2.bias": (1,)}
    save_file({n: random.normal(size=s).astype(np.float32) for n, s in shapes.items()}, path / "weights.safetensors")
    return path


@pytest.fixture(scope="module")
def attached(folder):
    what = ("mine.py:model", "--problem", "problem.py:problem", "--method", "epinet,laplace")
    good("attach", *what, *FEW, "--out", "o", cwd=folder)
    return folder / "o"


def test_the_folder_is_that_of_a_run(attached):
    names = {path.name for path in attached.iterdir()}
    posteriors = {f"posterior-{method}-seed0.safetensors" for method in ("epinet", "laplace")}
    assert names >= {"run.json", "metrics.json", "report.html", "field.png", *posteriors}
    records = json.loads((attached / "metrics.json").read_text())["records"]
    assert [record["method"] for record in records] == ["epinet", "laplace"]
    assert all(np.isfinite(record["sharpness"]) for record in records)
    assert load_file(attached / "posterior-laplace-seed0.safetensors")
    network = json.loads((attached / "run.json").read_text())["network"]
    assert network["model"].endswith("mine.py:model")
    assert "mine.py:model" in (attached / "report.html").read_text()


def test_a_report_and_a_finished_run_can_be_made_again(attached, folder):
    before = (attached / "metrics.json").read_text()
    (attached / "report.html").unlink()
    good("report", "o", cwd=folder)
    assert (attached / "report.html").is_file()
    (attached / "field.png").unlink()
    good("resume", "o", cwd=folder)
    assert (attached / "field.png").is_file()
    assert (attached / "metrics.json").read_text() == before


def test_the_prior_and_the_tolerance_of_the_base_count(folder):
    def sharpness(*changes):
        what = ("mine.py:model", "--problem", "problem.py:problem", "--method", "laplace")
        changed = [part for text in ("laplace.own_error=false", *changes) for part in ("--set", text)]
        return json.loads(good("attach", *what, *FEW, *changed, "--json", cwd=folder).out)[0]["sharpness"]

    plain = sharpness()
    assert sharpness("base.prior=0.01") < 0.5 * plain
    assert sharpness("base.tolerance=1e-6") != plain


def test_a_file_with_weights(folder):
    arguments = ("--architecture", "1x5x1:sin", "--problem", "problem.py:problem", "--method", "laplace", *FEW, "--json")
    process = good("attach", "weights.safetensors", *arguments, cwd=folder)
    (record,) = json.loads(process.out)
    assert record["method"] == "laplace"
    assert (folder / "runs" / "problem-weights-laplace-1" / "run.json").is_file()


INVERSE = """
import epinn

problem = epinn.Problem(
    domain=epinn.Box(x=(0, 1)),
    equation=lambda u, x, beta, gamma: beta * u.xx + gamma * x - 0.5,
    boundary=epinn.Dirichlet(1.0),
    unknowns={"beta": 1.0, "gamma": 1.0},
    points=epinn.Points(collocation=12),
)
"""


def test_values_of_unknowns_belong_to_the_network(folder):
    (folder / "inverse.py").write_text(INVERSE)
    what = ("mine.py:model", "--problem", "inverse.py:problem", "--method", "laplace", *FEW, "--out", "inverse")
    good("attach", *what, "--unknowns", "beta=1.6", "--unknowns", "gamma=2", cwd=folder)
    assert json.loads((folder / "inverse" / "run.json").read_text())["network"]["unknowns"] == {"beta": 1.6, "gamma": 2.0}
    good("attach", *what, "--unknowns", "beta=1.6,gamma=2", cwd=folder)  # the same run
    other = run("attach", *what, "--unknowns", "beta=1.5,gamma=2", cwd=folder)
    assert (other.returncode, "network" in other.err) == (2, True)


def test_double_precision_stays(folder):
    arguments = ("--problem", "problem.py:problem", "--method", "laplace", *FEW, "--json", "--out", "double")
    (record,) = json.loads(good("attach", "mine.py:precise", *arguments, cwd=folder).out)
    assert not any("double" in warning for warning in record["warnings"])
    assert json.loads((folder / "double" / "run.json").read_text())["machine"]["float64"]


def test_a_network_that_has_changed_is_not_resumed(folder, attached):
    changed = folder / "changed.py"
    changed.write_text(MODEL)
    arguments = ("--problem", "problem.py:problem", "--method", "laplace", *FEW, "--out", "changing")
    good("attach", "changed.py:model", *arguments, cwd=folder)
    changed.write_text(MODEL + "\n")
    process = run("resume", "changing", cwd=folder)
    assert process.returncode == 2
    assert "changed" in process.err


def test_a_mistake_is_one_line(folder):
    process = run("attach", "mine.py:modle", "--problem", "problem.py:problem", "--out", "mistake", cwd=folder)
    assert process.returncode == 2, process.err
    assert re.fullmatch(r"epinn: .*'model'.*\n", process.err)
    assert not (folder / "mistake").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.onnx",), ("file",)),
        (("mine.py",), ("variable",)),
        (("mine.py:number",), ("int",)),
        (("mine.py:model", None, None, True), ("trust-file",)),
        (("mine.py:model", None, "last"), ("PyTorch", "last")),
        (("weights.safetensors",), ("1x5x1",)),
        (("weights.safetensors", "1x6x1"), ("1x6x1",)),
        (("weights.safetensors", "mine.py:number"), ("architecture",)),
        (("weights.safetensors", "1x5x1", "0"), ("features",)),
    ],
)
def test_models_that_cannot_be_found_or_read(folder, monkeypatch, rejects, arguments, words):
    monkeypatch.chdir(folder)
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx)
    with rejects(*words):
        Origin.find(*arguments).pinn(problem, epinn.Base())
