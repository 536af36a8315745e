"""Run folders that the first version of epinn wrote (format 1): they are shown, gone on with and read as what they were.

`methods` is a comparison of all methods on one base, `paper` an inverse problem with the paper's settings, Fourier features and
scaled inputs. Pictures and page have been left out.
"""

import json
import shutil
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import safe_open

from epinn import Progress
from epinn.app.plan.plan import Plan, fit_base, reopen_method
from epinn.app.report.run_page import write_report
from epinn.app.run import execute
from epinn.app.store.registry import FORMAT_1
from epinn.app.store.run_folder import RunFolder
from epinn.app.store.trained import Bases
from epinn.app.store.trees import load_tree
from epinn.posterior.sampler import GaussianSampler, Sampler

pytestmark = pytest.mark.usefixtures("quick_compile")

OLD = Path(__file__).parents[1] / "data" / "format-1"
RUNS = ("methods", "paper")
RECORDS = {run: json.loads((OLD / run / "metrics.json").read_text())["records"] for run in RUNS}
FIGURES = ("sharpness", "coverage", "rmse", "nll", "crps", "interval_score")


class Silent(Progress):
    """Fails when anything is trained, sampled or predicted anew."""

    def __call__(self, stage, step, total, values):
        pytest.fail(f"{stage} was computed again")


@pytest.fixture(params=RUNS)
def folder(request, tmp_path):
    """A copy of an old run folder."""
    shutil.copytree(OLD / request.param, tmp_path / request.param)
    return RunFolder.open(tmp_path / request.param)


def plan_of(folder):
    return Plan.from_description(folder.read_json("run.json"))


def test_the_folders_are_of_the_first_format():
    for path in OLD.glob("*/*.safetensors"):
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata()
        assert set(metadata) == {"epinn"}
        assert any(f'"{name}"' in metadata["epinn"] for name in FORMAT_1)


def test_an_old_run_is_shown_with_its_figures(folder):
    write_report(folder)
    page = (folder.path / "report.html").read_text()
    for record in folder.records():
        assert record["method"] in page
        assert f'data-value="{record["sharpness"]}"' in page


@pytest.mark.slow
def test_an_old_run_is_gone_on_with_and_nothing_is_computed_again(folder):
    before = folder.records()
    assert execute(plan_of(folder), folder, Silent()) == before
    assert folder.records() == before
    assert (folder.path / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(("run", "method"), [(run, record["method"]) for run in RUNS for record in RECORDS[run]])
def test_an_old_posterior_gives_the_stored_figures(run, method):
    folder = RunFolder.open(OLD / run)
    plan = plan_of(folder)
    sampler = load_tree(folder.posterior_path(method, plan.seeds[0]))
    assert isinstance(sampler, Sampler)
    (result,) = reopen_method(plan, method, fit_base(plan, Progress(), epochs=0), [sampler])
    (stored,) = [record for record in RECORDS[run] if record["method"] == method]
    found = result.evaluation.record()
    # what is now in closed form had 50 draws: a spread of them is off by a tenth
    near = 0.3 if isinstance(sampler, GaussianSampler) else 1e-3
    for name in FIGURES:
        assert found[name] == pytest.approx(stored[name], rel=near), name
    for name, unknown in stored.get("unknowns", {}).items():
        assert found["unknowns"][name]["mean"] == pytest.approx(unknown["mean"], rel=1e-3)


@pytest.mark.slow
def test_an_old_base_is_read_and_not_trained_again(folder):
    plan = plan_of(folder)
    has_data = plan.settings.methods[plan.methods[0]].traits.base_sees_data
    assert Bases(folder.path).has(plan, sees_data=has_data)
    (pinn,) = Bases(folder.path).get(plan, Silent(), sees_data=has_data)
    points = jnp.full((1, pinn.problem.domain.dimension), 0.3)
    stored = load_tree(folder.path / "base-seed0.safetensors")
    np.testing.assert_array_equal(pinn.solution(points), stored(points))
