"""Plans and what they compute: without files, without a terminal."""

import dataclasses
import json

import jax
import numpy as np
import pytest

from epinn import Box, Data, InputError, Problem, Progress
from epinn.app.plan.plan import Plan, _in_options, attach_method, fit_base, reopen_method, summarise
from epinn.app.plan.presets import preset
from epinn.app.plan.source import Source, find
from epinn.judge.verdict import Verdict

TINY = {
    "base.hidden": (8, 8),
    "base.epochs": 20,
    "base.newton": 0,
    "base.restarts": 0,
    "epinet.objective": "paper",
    "epinet.hidden": (8,),
    "epinet.epochs": 10,
    "predict.draws": 50,
}
PROMISED = {"problem", "method", "noise", "seed", "sharpness", "coverage", "rmse", "time_s", "time_uq_s"}


def tiny_plan(*methods, seeds=(0, 1), noise=0.1, problem="poisson1d", **changes):
    changed = TINY | {name.replace("__", "."): value for name, value in changes.items()}
    return Plan(find(problem), methods, (noise,), seeds, preset("fast", problem).changed(changed))


def weights(pinn):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(pinn.solution)]


@pytest.fixture(scope="module")
def plan():
    return tiny_plan("dropout")


@pytest.fixture(scope="module")
def pinns(plan):
    return fit_base(plan, Progress())


@pytest.fixture(scope="module")
def results(plan, pinns):
    return list(attach_method(plan, "dropout", pinns, Progress()))


@pytest.mark.parametrize("name", ["fast", "accurate", "paper"])
def test_a_plan_comes_back_from_its_description_in_json(name):
    settings = preset(name, "poisson2d-nonlinear").changed({"base.hidden": (7, 5), "points.collocation": 64})
    plan = Plan(find("poisson2d-nonlinear"), ("hmc", "epinet"), (0.3,), (4, 5), settings, {"boundary": 0.1})
    again = Plan.from_description(json.loads(json.dumps(plan.describe(name))))
    assert again.describe(name) == plan.describe(name)
    assert again.identity() == plan.identity()


def test_a_plan_for_a_users_file_comes_back_from_its_description(tmp_path):
    text = "import epinn\nmine = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x)\n"
    (tmp_path / "mine.py").write_text(text)
    plan = dataclasses.replace(tiny_plan("epinet"), source=find(f"{tmp_path}/mine.py:mine"), noises=(None,))
    again = Plan.from_description(json.loads(json.dumps(plan.describe("fast"))))
    assert (again.source.name, again.source.spec) == (plan.source.name, plan.source.spec)
    assert again.settings.flat() == plan.settings.flat()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"settings": 3}, ("run.json", "new run")),
        ({"settings": None}, ("run.json", "new run")),
        ({"seeds": 3}, ("run.json", "new run")),
        ({"methods": None}, ("run.json", "new run")),
        ({"problem": 3}, ("run.json", "new run")),
        ({"noise_on": [1]}, ("noise_on",)),
        ({"settings": {"base.epoch": 3}}, ("base.epoch", "did you mean")),
        ({"preset": "slow"}, ("slow",)),
    ],
)
def test_a_damaged_description_is_refused(rejects, changes, words):
    with rejects(*words):
        Plan.from_description(tiny_plan("epinet").describe("fast") | changes)


@pytest.mark.parametrize("name", ["problem", "settings", "seeds", "methods", "noise", "preset"])
def test_a_description_that_is_not_whole_is_refused(rejects, name):
    described = tiny_plan("epinet").describe("fast")
    del described[name]
    with rejects("run.json", name):
        Plan.from_description(described)


def test_every_seed_has_its_own_data():
    first, second = (np.asarray(problem.data[0].values) for problem in tiny_plan("epinet").problems())
    assert not np.array_equal(first, second)


def test_a_sound_plan_passes_the_check():
    tiny_plan("epinet", "dropout", "hmc").check()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"predict__draws": 1}, ("predict.draws", "at least 2")),
        ({"base__activation": "tan"}, ("tan", "did you mean 'tanh'")),
        ({"base__initialisation": "xavir"}, ("did you mean 'xavier'",)),
        ({"base__optimizer": "adm"}, ("adm", "did you mean 'adam'")),
        ({"base__schedule": "cosin"}, ("did you mean 'cosine'",)),
        ({"base__learning_rate": 0.0}, ("positive",)),
        ({"base__learning_rate": float("nan")}, ("learning_rate", "finite number")),
        ({"weights__mode": "fixd"}, ("did you mean 'fixed'",)),
        ({"epinet__schedule": "cosin"}, ("did you mean 'cosine'",)),
        ({"epinet__prior_initialisation": "xavir"}, ("did you mean 'xavier'",)),
        ({"epinet__index_dim": 0}, ("index_dim",)),
        ({"epinet__indices_per_step": 0}, ("indices_per_step",)),
        ({"base__hidden": (0, 8)}, ("hidden",)),
        ({"base__hidden": (-3, 8)}, ("hidden",)),
        ({"epinet__hidden": (0,)}, ("hidden",)),
        ({"points__collocation": 0}, ("collocation",)),
        ({"points__sensors": 0}, ("sensors",)),
        ({"points__sampling": "sobl"}, ("did you mean 'sobol'",)),
        ({"points__resample": 5}, ("grid", "resample")),
        ({"noise": -0.1}, ("noise", "-0.1")),
        ({"noise": float("nan")}, ("noise", "nan")),
    ],
    ids=str,
)
def test_a_mistake_in_a_plan_is_found_before_anything_is_trained(rejects, changes, words):
    with rejects(*words):
        tiny_plan("epinet", **changes).check()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("laplace", "laplace.samples"),
        ("epinet", "epinet.index_dim"),
        ("ensemble", "ensemble.members"),
        ("hmc", "hmc.samples"),
        ("hmc", "hmc.chains"),
        ("nuts", "nuts.samples"),
    ],
)
def test_more_draws_than_there_is_memory_for_are_refused_before_anything_is_trained(rejects, method, setting):
    calibrated = {"epinet__objective": "calibrated"}
    with rejects(setting, "smaller", "GiB", "may use 4", "limited_to"):
        tiny_plan(method, **calibrated, **{setting.replace(".", "__"): 10**9}).check()
    tiny_plan(method, **calibrated, **{setting.replace(".", "__"): 2000}).check()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (Data([[0.1, 0.2], [0.3, 0.4]], [1.0, 2.0]), ("data", "(2, 2)", "(n, 1)")),
        (Data([0.1, 0.2], ["low", "high"]), ("data", "number")),
    ],
    ids=["columns", "words"],
)
def test_data_that_make_no_sense_are_found_before_anything_is_trained(data, words):
    problem = Problem(domain=Box(x=(0, 1)), equation=lambda u: u.xx, data=data)
    with pytest.raises(InputError) as caught:
        dataclasses.replace(tiny_plan("epinet"), source=Source("mine", problem, ""), noises=(None,)).check()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.slow
def test_a_training_of_no_epochs_leaves_the_base_as_it_was_made(plan):
    first, second = (fit_base(plan, Progress(), epochs=0)[0] for _ in range(2))
    assert first.base == plan.settings.base
    assert first.losses.size == 0
    for a, b in zip(weights(first), weights(second), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_same_seeds_give_the_same_bits(plan, pinns):
    for old, new in zip(pinns, fit_base(plan, Progress()), strict=True):
        for a, b in zip(weights(old), weights(new), strict=True):
            np.testing.assert_array_equal(a, b)


def test_different_seeds_give_different_networks(pinns):
    assert any(not np.array_equal(a, b) for a, b in zip(weights(pinns[0]), weights(pinns[1]), strict=True))


def test_every_seed_has_a_record_with_the_promised_fields(results):
    assert [result.record["seed"] for result in results] == [0, 1]
    for result in results:
        assert set(result.record) >= PROMISED


def test_records_are_plain_data(results):
    for result in results:
        assert json.loads(json.dumps(result.record, allow_nan=False)) == result.record


def test_the_time_counts_the_base_where_it_is_used(results, pinns):
    for result, pinn in zip(results, pinns, strict=True):
        assert result.record["time_s"] == pytest.approx(pinn.seconds + result.record["time_uq_s"])
        assert result.record["time_uq_s"] > 0


def test_a_reopened_method_predicts_the_same_to_the_bit(plan, pinns, results):
    samplers = [result.posterior.sampler for result in results]
    for old, new in zip(results, reopen_method(plan, "dropout", pinns, samplers), strict=True):
        np.testing.assert_array_equal(new.evaluation.prediction.mean, old.evaluation.prediction.mean)
        np.testing.assert_array_equal(new.evaluation.prediction.std, old.evaluation.prediction.std)


@pytest.mark.parametrize("method", ["epinet", "laplace"])
def test_a_network_that_is_too_large_for_a_matrix_is_not_refused(method):
    tiny_plan(method, epinet__objective="calibrated", base__hidden=(90, 90), points__collocation=9000).check()


@pytest.mark.slow
def test_an_epinet_may_stay_untrained(pinns):
    plan = tiny_plan("epinet", epinet__epochs=0)
    assert [result.case.seed for result in attach_method(plan, "epinet", pinns, Progress())] == [0, 1]


def test_a_summary_has_median_and_range_over_seeds_by_method():
    records = [{"method": "a", "rmse": value, "time_s": 1.0} for value in (3.0, 1.0, 2.0)]
    records.append({"method": "b", "rmse": 5.0, "time_s": 2.0})
    summary = summarise(records)
    assert summary["a"]["seeds"] == 3
    assert summary["a"]["rmse"] == {"median": 2.0, "min": 1.0, "max": 3.0}
    assert summary["b"]["rmse"] == {"median": 5.0, "min": 5.0, "max": 5.0}


def test_a_summary_leaves_out_seeds_without_a_value():
    records = [{"method": "a", "nll": None, "rmse": None}, {"method": "a", "nll": 2.0, "rmse": None}]
    summary = summarise(records)["a"]
    assert summary["nll"] == {"median": 2.0, "min": 2.0, "max": 2.0}
    assert summary["rmse"] is None


def test_a_summary_has_the_unknowns_of_an_inverse_problem():
    records = [{"method": "a", "unknowns": {"kappa": {"mean": m, "std": 0.1, "exact": None}}} for m in (1.0, 2.0)]
    summary = summarise(records)["a"]
    assert summary["kappa_mean"] == {"median": 1.5, "min": 1.0, "max": 2.0}
    assert summary["kappa_std"]["max"] == 0.1


def test_a_summary_of_nothing_is_empty():
    assert summarise([]) == {}


def test_a_record_of_the_command_line_has_sentences_and_lists_where_the_verdict_has_them():
    verdict = Verdict("trustworthy", ("a",), ("b.",), "the truth is in the band").plain()
    assert _in_options({"warnings": [], "verdict": verdict})["verdict"] == verdict
