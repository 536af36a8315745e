"""Settings by dotted name: which there are, how text becomes a value, and the two presets."""

import pytest

from epinn.app.plan.presets import PRESETS, preset
from epinn.app.plan.settings import numbers, parse
from epinn.problems import SHIPPED

PROMISED = {
    "base": ("epochs", "hidden", "activation", "learning_rate", "optimizer"),
    "epinet": ("epochs", "hidden", "prior_hidden", "index_dim", "alpha"),
    "dropout": ("rate", "during"),
    "hmc": ("step_size", "leapfrog", "burn_in", "samples", "chains", "tolerance"),
    "nuts": ("step_size", "doublings", "burn_in", "samples", "chains", "tolerance"),
    "vi": ("steps", "learning_rate", "draws", "tolerance"),
    "points": ("collocation", "sensors"),
    "predict": ("draws",),
}

PAPER = {
    "base.epochs": 100_000,
    "base.learning_rate": 1e-3,
    "base.hidden": (32, 32, 32),
    "base.optimizer": "adam",
    "epinet.epochs": 10_000,
    "epinet.learning_rate": 1e-3,
    "epinet.hidden": (32, 32, 32),
    "epinet.prior_hidden": (5, 5),
    "epinet.alpha": 0.05,
    "epinet.index_dim": 8,
    "hmc.step_size": 5e-5,
    "hmc.leapfrog": 50,
    "hmc.burn_in": 1_000,
    "hmc.samples": 10_000,
    "hmc.adapt": False,
    "hmc.precondition": False,
    "hmc.tolerance": 0.01,
    "hmc.start": "xavier",
    "weights.equation": 1.0,
    "weights.data": 1.0,
    "weights.boundary": 10.0,
}


def read(name, text):
    """The value of a setting after `--set name=text`."""
    return preset("fast", "poisson1d").changed(parse([f"{name}={text}"])).flat()[name]


@pytest.mark.parametrize("name", [f"{group}.{name}" for group, names in PROMISED.items() for name in names])
def test_a_promised_setting_exists(name):
    assert name in preset("fast", "poisson1d").flat()


@pytest.mark.parametrize("text", ["100000", "1e5", "1E+5", " 100000 ", "100000.0"])
def test_a_whole_number_may_be_written_in_several_ways(text):
    value = read("base.epochs", text)
    assert (value, type(value)) == (100_000, int)


@pytest.mark.parametrize("text", ["32,16", "32x16", "(32, 16)", "[32,16]", "32, 16,"])
def test_layer_widths_may_be_written_in_several_ways(text):
    assert read("base.hidden", text) == (32, 16)


def test_a_single_width_is_a_network_with_one_hidden_layer():
    assert read("base.hidden", "32") == (32,)


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("True", True), ("yes", True), ("1", True), ("false", False), ("no", False), ("0", False)],
)
def test_a_switch_is_read_as_true_or_false(text, value):
    assert read("epinet.train_base", text) is value


def test_a_number_is_read_as_a_float():
    value = read("base.learning_rate", "1e-3")
    assert (value, type(value)) == (1e-3, float)


def test_a_choice_is_read_as_it_is():
    assert read("base.optimizer", "lbfgs") == "lbfgs"


@pytest.mark.parametrize(("name", "text", "value"), [("points.collocation", "50", 50), ("points.sampling", "sobol", "sobol")])
def test_a_setting_that_is_left_to_the_problem_can_be_given(name, text, value):
    assert preset("fast", "poisson1d").flat()[name] is None
    assert read(name, text) == value


def test_an_equals_sign_belongs_to_the_value_after_the_first():
    assert parse(["a.b=c=d"]) == {"a.b": "c=d"}


def test_the_last_of_two_assignments_counts():
    assert parse(["base.epochs=1", "base.epochs=2"]) == {"base.epochs": "2"}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("base.epochs", "many", ("base.epochs", "whole number", "many")),
        ("base.epochs", "1.5", ("base.epochs", "whole number", "1.5")),
        ("base.epochs", "", ("base.epochs", "whole number")),
        ("base.epochs", "nan", ("base.epochs", "whole number")),
        ("base.epochs", "inf", ("base.epochs", "whole number")),
        ("base.epochs", "1e999", ("base.epochs", "whole number")),
        ("base.epochs", "-1", ("base.epochs", "negative")),
        ("base.hidden", "wide", ("base.hidden", "whole numbers")),
        ("base.hidden", "32,1.5", ("base.hidden", "whole numbers")),
        ("base.learning_rate", "slow", ("base.learning_rate", "number", "slow")),
        ("base.learning_rate", "-1e-3", ("base.learning_rate", "negative")),
        ("epinet.train_base", "perhaps", ("epinet.train_base", "true or false", "perhaps")),
        ("points.collocation", "all", ("points.collocation", "whole number", "all")),
        ("dropout.rate", "1", ("dropout.rate", "between 0 and 1")),
        ("dropout.during", "predicton", ("prediction",)),
        ("hmc.leapfrog", "0", ("leapfrog",)),
        ("hmc.start", "traind", ("trained",)),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_name(rejects, name, text, words):
    with rejects(*words):
        read(name, text)


def test_an_unknown_setting_suggests_the_nearest(rejects):
    with rejects("base.epoch", "did you mean 'base.epochs'"):
        read("base.epoch", "5")


def test_an_assignment_without_equals_sign_is_refused(rejects):
    with rejects("name=value", "base.epochs"):
        parse(["base.epochs"])


def test_an_unknown_preset_suggests_the_nearest(rejects):
    with rejects("papr", "did you mean 'paper'"):
        preset("papr", "poisson1d")


def test_a_change_leaves_the_original_and_all_other_settings_alone():
    before = preset("fast", "poisson1d")
    old, new = before.flat(), before.changed({"epinet.alpha": "0.2"}).flat()
    assert old == before.flat() == preset("fast", "poisson1d").flat()
    assert {name for name in old if old[name] != new[name]} == {"epinet.alpha"}


def test_flat_settings_make_the_same_settings_again():
    settings = preset("paper", "poisson1d")
    assert preset("fast", "poisson1d").changed(settings.flat()).flat() == settings.flat()


def test_the_prior_of_the_base_is_that_of_all_methods_without_one_of_their_own():
    flat = preset("fast", "poisson1d").changed({"base.prior": "0.5", "hmc.prior_sd": "2"}).flat()
    assert (flat["laplace.prior_sd"], flat["hmc.prior_sd"]) == (0.5, 2.0)


def test_the_presets_are_fast_accurate_and_paper():
    assert set(PRESETS) == {"fast", "accurate", "paper"}


@pytest.mark.parametrize("name", PAPER)
def test_the_paper_preset_has_the_papers_number(name):
    assert preset("paper", "poisson1d").flat()[name] == PAPER[name]


@pytest.mark.parametrize("problem", SHIPPED)
def test_few_problems_leave_the_papers_usual_settings(problem):
    expected = {
        "poisson2d-nonlinear": {"hmc.step_size": 1e-5},
        "heat1d-inverse": {"epinet.base": "all"},
        "burgers": {"points.collocation": 1000},
    }
    usual, here = preset("paper", "").flat(), preset("paper", problem).flat()
    assert {name: here[name] for name in here if here[name] != usual[name]} == expected.get(problem, {})


def test_the_fast_preset_trains_less_than_the_paper():
    assert preset("fast", "poisson1d").base.epochs < preset("paper", "poisson1d").base.epochs


def test_noise_is_read_from_text(rejects):
    assert numbers(["equation=0.1", "boundary=1e-2"], "--sigma", "equation=0.1") == {"equation": 0.1, "boundary": 0.01}
    with rejects("--sigma", "equation=much"):
        numbers(["equation=much"], "--sigma", "equation=0.1")


OPTIONAL = {
    "base.tolerance": "0.01",
    "base.newton_work": "1e9",
    "points.collocation": "50",
    "points.sampling": "sobol",
    "epinet.index_dim": "8",
}


@pytest.mark.parametrize("name", OPTIONAL)
@pytest.mark.parametrize("text", ["none", "None", "NONE"])
def test_none_leaves_an_optional_setting_to_its_default(name, text):
    changed = preset("fast", "poisson1d").changed(parse([f"{name}={OPTIONAL[name]}"]))
    assert changed.flat()[name] is not None
    assert changed.changed(parse([f"{name}={text}"])).flat()[name] is None


def test_none_takes_back_what_the_paper_preset_sets():
    paper = preset("paper", "poisson1d")
    assert (paper.base.tolerance, paper.methods["epinet"].index_dim) == (0.01, 8)
    changed = paper.changed(parse(["base.tolerance=none", "epinet.index_dim=none"]))
    assert (changed.base.tolerance, changed.methods["epinet"].index_dim) == (None, None)


def test_none_as_the_prior_of_a_method_is_the_prior_of_the_base():
    settings = preset("fast", "poisson1d").changed(parse(["base.prior=0.5", "laplace.prior_sd=2"]))
    assert settings.changed(parse(["laplace.prior_sd=none"])).flat()["laplace.prior_sd"] == 0.5


@pytest.mark.parametrize(("name", "word"), [("base.epochs", "whole number"), ("base.learning_rate", "number")])
def test_none_is_refused_where_a_value_is_needed(rejects, name, word):
    with rejects(name, word, "none"):
        read(name, "none")


def test_a_wrong_value_of_an_optional_setting_hears_of_none(rejects):
    with rejects("base.tolerance", "a number or none", "loose"):
        read("base.tolerance", "loose")
