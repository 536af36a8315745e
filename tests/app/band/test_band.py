"""What a user holds in the hand: asked how far to trust it, shown, saved, loaded, reported."""

import dataclasses
import inspect
import io
import json

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import safe_open

import epinn
from epinn.app.band.band import Band
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.run import execute
from epinn.app.store.run_folder import RunFolder
from epinn.judge.assessment import assess
from epinn.judge.evaluation import evaluate
from epinn.posterior.posterior import Posterior
from epinn.solve.explanations import Explanation, Modes

pytestmark = pytest.mark.usefixtures("quick_compile")

TINY = epinn.Base(hidden=(8, 8), epochs=20, newton=0, restarts=0)
FEW = {"samples": 10}
X = np.linspace(-1, 1, 7)


@pytest.fixture(scope="module")
def problem():
    return epinn.problems.poisson1d(noise=0.1, key=0)


@pytest.fixture(scope="module")
def pinn(problem):
    return epinn.fit(problem, base=TINY)


@pytest.fixture(scope="module")
def band(pinn):
    return epinn.attach(pinn, method="laplace", settings=FEW)


@pytest.fixture(scope="module")
def inverse():
    """Two coordinates, one of them time, two fields, and a constant that is sought."""
    problem = epinn.problems.heat1d_inverse(noise=0.1, key=0).with_points(collocation=32)
    return epinn.attach(epinn.fit(problem, base=TINY), method="dropout")


def network(parameters, x):
    return parameters["v"] @ jnp.tanh(parameters["w"] @ x)


MODEL = (network, {"w": np.linspace(-2, 2, 6, dtype=np.float32)[:, None], "v": np.linspace(-1, 1, 6, dtype=np.float32)[None]})


@pytest.fixture(scope="module")
def elsewhere(problem):
    return epinn.attach(MODEL, problem, "laplace", settings=FEW)


# What a posterior has, a band has


@pytest.mark.slow
def test_it_predicts_what_its_posterior_does(band):
    for name in ("predict", "predict_measurement"):
        ours, its = (getattr(one, name)(X, draws=10) for one in (band, band.posterior))
        np.testing.assert_array_equal(ours.mean, its.mean)
        np.testing.assert_array_equal(ours.std, its.std)
    slope = band.evaluate(lambda u: u.x, at=X, draws=10, quantiles=(0.5,), samples=3)
    assert (slope.mean.shape, slope.samples.shape, list(slope.quantiles)) == ((7,), (3, 7), [0.5])
    np.testing.assert_array_equal(band.draw(3)(X[:, None]), band.posterior.draw(3)(X[:, None]))
    assert band.unknowns() == {}


def test_everything_public_of_a_posterior_is_there(band):
    names = [name for name in dir(Posterior) if not name.startswith("_")]
    names += [name for name in Posterior.__dataclass_fields__ if name not in names]
    assert {name for name in names if not hasattr(band, name)} == set()
    assert (band.method, band.problem, band.sampler) == ("laplace", band.posterior.problem, band.posterior.sampler)


def test_public_functions_name_every_argument():
    functions = [epinn.attach, epinn.load, *(f for name, f in vars(Band).items() if inspect.isfunction(f) and name[0] != "_")]
    for function in functions:
        kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}, function
        assert function.__doc__


# How far to trust it


def test_the_verdict_is_that_of_the_report_and_remembered(band, pinn):
    assert band.verdict is band.verdict
    expected = assess(pinn, band.settings, band.posterior, evaluate(band.posterior), None)
    assert (band.verdict.word, band.verdict.why) == (expected.word, expected.why)


@pytest.mark.slow
def test_a_summary_is_a_few_lines_with_the_essentials(band, inverse):
    text = band.summary()
    for word in ("poisson1d", "laplace", band.verdict.word, "sharpness", "residuals", "equation"):
        assert word in text
    assert len(text.splitlines()) < 15
    assert text.count("residuals: ") == 0  # in a line of their own, not among the reasons
    kappa = [line for line in inverse.summary().splitlines() if line.strip().startswith("kappa ")]
    assert len(kappa) == 1
    assert "±" in kappa[0]
    assert "exact 0.1" in kappa[0]


@pytest.mark.slow
def test_reprs_fit_on_a_screen(band, inverse, pinn):
    for one in (band, inverse, band.posterior, pinn, band.problem, band.predict(X, draws=10)):
        assert len(repr(one)) < 250
        assert "\n" not in repr(one)
    assert "poisson1d" in repr(band)
    assert "laplace" in repr(band)


def test_a_problem_without_a_name_is_called_by_its_fields(pinn):
    unnamed = dataclasses.replace(pinn, problem=dataclasses.replace(pinn.problem, name=""))
    band = epinn.attach(unnamed, method="laplace", settings=FEW)
    assert band.summary().splitlines()[0] == "u(x), laplace"
    for one in (band, band.posterior, unnamed):
        assert "''" not in repr(one)


# Shown


@pytest.mark.parametrize("which", ["band", pytest.param("inverse", marks=pytest.mark.slow)])
def test_a_plot_needs_no_display(which, request):
    figure = request.getfixturevalue(which).plot()
    picture = io.BytesIO()
    figure.savefig(picture)
    assert picture.getvalue()[:4] == b"\x89PNG"
    assert len(figure.axes) > 1


def test_a_report_is_one_page_with_the_verdict(band, tmp_path, rejects):
    band.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for word in ("poisson1d", "laplace", band.verdict.word, "data:image/png;base64"):
        assert word in page
    with rejects("cannot be written"):
        band.report(tmp_path / "nowhere" / "page.html")


# Kept


def same(one, other):
    for name in ("predict", "predict_measurement"):
        a, b = (getattr(band, name)(X, draws=10) for band in (one, other))
        np.testing.assert_array_equal(a.mean, b.mean)
        np.testing.assert_array_equal(a.std, b.std)
    for name in ("method", "settings", "diagnostics", "warnings", "noise", "sigmas", "seconds"):
        assert getattr(one, name) == getattr(other, name), name
    np.testing.assert_array_equal(one.pinn(X), other.pinn(X))
    assert one.pinn.sigmas == pytest.approx(other.pinn.sigmas)
    assert (one.pinn.base, one.pinn.weights) == (other.pinn.base, other.pinn.weights)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["laplace", "epinet", "dropout", "hmc"])
def test_a_band_comes_back_from_its_file(method, pinn, problem, tmp_path):
    small = {
        "laplace": FEW,
        "epinet": {"objective": "paper", "hidden": (8,), "epochs": 10},
        "hmc": {"leapfrog": 2, "burn_in": 2, "samples": 4, "start": "trained", "precondition": False},
    }
    band = epinn.attach(pinn, method=method, settings=small.get(method), key=3)
    band.save(tmp_path / "band.epinn")
    again = epinn.load(tmp_path / "band.epinn", problem)
    same(band, again)
    assert again.known_verdict is None
    assert band.verdict == again.verdict
    band.save(tmp_path / "band.epinn")
    assert epinn.load(tmp_path / "band.epinn", problem).known_verdict == band.verdict


def test_other_explanations_come_back_with_the_band(pinn, problem, tmp_path):
    modes = Modes(3, 2, (Explanation({"k": -1.0}, 1, 0.5),))
    band = epinn.attach(dataclasses.replace(pinn, modes=modes), method="laplace", settings=FEW)
    band.save(tmp_path / "band.epinn")
    assert epinn.load(tmp_path / "band.epinn", problem).pinn.modes == modes


def test_the_file_is_plain_data(band, tmp_path):
    band.save(tmp_path / "band.epinn")
    with safe_open(tmp_path / "band.epinn", framework="numpy") as file:
        assert json.loads(file.metadata()["epinn"])
    assert b"poisson1d.py" not in (tmp_path / "band.epinn").read_bytes()


@pytest.mark.slow
def test_loading_says_what_is_needed(band, elsewhere, problem, tmp_path, rejects):
    path = tmp_path / "band.epinn"
    band.save(path)
    with rejects("problem", "epinn.load(path, problem)"):
        epinn.load(path)
    with rejects("another problem", "data"):
        epinn.load(path, epinn.problems.poisson1d(noise=0, key=0))
    with rejects("another problem", "fields"):
        epinn.load(path, epinn.problems.heat1d_inverse(noise=0.1, key=0))
    with rejects("method and seed"):
        epinn.load(path, problem, seed=0)
    with rejects("there is no file or folder"):
        epinn.load(tmp_path / "nothing", problem)
    with rejects("cannot be written"):
        band.save(tmp_path / "nowhere" / "band.epinn")
    elsewhere.save(path)
    with rejects("trained elsewhere", "model="):
        epinn.load(path, problem)


@pytest.mark.slow
def test_a_network_trained_elsewhere_is_brought_again(elsewhere, problem, tmp_path):
    elsewhere.save(tmp_path / "band.epinn")
    again = epinn.load(tmp_path / "band.epinn", problem, model=MODEL)
    same(elsewhere, again)
    assert again.pinn.trained_elsewhere


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    changes = {"base.hidden": (8, 8), "base.epochs": 20, "base.newton": 0, "base.restarts": 0}
    changes |= {"laplace.samples": 10, "predict.draws": 50}
    settings = preset("fast", "poisson1d").changed(changes)
    plan = Plan(find("poisson1d"), ("laplace", "dropout"), (0.1,), (4,), settings)
    folder = RunFolder.create(tmp_path_factory.mktemp("run") / "out", plan.describe("fast"), "")
    return folder.path, execute(plan, folder, epinn.Progress())


@pytest.mark.slow
def test_a_band_out_of_a_run_folder_needs_no_problem(run_folder, rejects, problem):
    path, records = run_folder
    with rejects("several bands", "method='dropout'"):
        epinn.load(path)
    with rejects("leave them out"):
        epinn.load(path, problem)
    with rejects("no such band"):
        epinn.load(path, seed=7)
    band = epinn.load(path, method="laplace")
    (record,) = [record for record in records if record["method"] == "laplace"]
    assert band.verdict.plain() == record["verdict"]
    assert dict(band.noise) == record["noise_sd"]
    assert band.problem.name == "poisson1d"
    assert band.predict(X, draws=10).std.max() > 0
