"""Base PINNs in files: trained once, named after what they have seen."""

import dataclasses

import numpy as np
import pytest

from epinn import Progress
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.store import trained as bases
from epinn.app.store.trained import Bases
from epinn.solve.explanations import Explanation, Modes

pytestmark = pytest.mark.usefixtures("quick_compile")

TINY = {
    "base.hidden": (8,),
    "base.epochs": 20,
    "base.newton": 0,
    "base.restarts": 0,
    "points.collocation": 8,
    "points.sensors": 5,
}


def plan(noises=(0.1,), seeds=(0, 1)):
    return Plan(find("poisson1d"), ("epinet",), noises, seeds, preset("fast", "poisson1d").changed(TINY))


@pytest.fixture
def trainings(monkeypatch):
    """How often a training was started."""
    count, fit = [], bases.fit_base

    def counted(*arguments, epochs=None, **options):
        if epochs is None:
            count.append(arguments)
        return fit(*arguments, epochs=epochs, **options)

    monkeypatch.setattr(bases, "fit_base", counted)
    return count


def values(pinns):
    return [np.asarray(pinn([[0.3], [-0.2]])) for pinn in pinns]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_what_is_there_is_read_and_not_trained_again(tmp_path, trainings):
    first = Bases(tmp_path).get(plan(), Progress())
    second = Bases(tmp_path).get(plan(), Progress())
    assert len(trainings) == 1
    np.testing.assert_array_equal(values(first), values(second))
    assert [p.seconds for p in first] == [p.seconds for p in second]


def test_what_further_starts_have_found_is_kept(tmp_path, monkeypatch):
    modes, fit = Modes(3, 2, (Explanation({"k": -1.0}, 1, 0.5),)), bases.fit_base

    def found(*arguments, epochs=None, **options):
        pinns = fit(*arguments, epochs=epochs, **options)
        return pinns if epochs == 0 else [dataclasses.replace(pinn, modes=modes) for pinn in pinns]

    monkeypatch.setattr(bases, "fit_base", found)
    one = plan(seeds=(0,))
    Bases(tmp_path).get(one, Progress())
    assert [pinn.modes for pinn in Bases(tmp_path).get(one, Progress())] == [modes]


@pytest.mark.slow
def test_one_seed_more_is_trained_and_the_others_stay(tmp_path, trainings):
    before = Bases(tmp_path).get(plan(), Progress())
    Bases(tmp_path).get(plan(seeds=(2,)), Progress())
    all_three = Bases(tmp_path).get(plan(seeds=(0, 1, 2)), Progress())
    assert len(trainings) == 2
    np.testing.assert_array_equal(values(before), values(all_three[:2]))


@pytest.mark.slow
def test_files_are_named_after_what_the_base_has_seen(tmp_path):
    Bases(tmp_path).get(plan(), Progress())
    Bases(tmp_path).get(plan(), Progress(), sees_data=False)
    Bases(tmp_path, several_noises=True).get(plan((0.1, 0.3), (0,)), Progress())
    expected = {"base", "base-noise0.1", "base-noise0.3", "base-physics"}
    assert {name for name in names(tmp_path) if name.endswith(".json")} == {f"{name}.json" for name in expected}
    assert "base-physics-seed1.safetensors" in names(tmp_path)
    assert "base-noise0.3-seed0.safetensors" in names(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("close", [0.3, 0.1 + 1e-9])
def test_bases_of_different_noise_have_different_files_though_each_was_asked_for_alone(tmp_path, trainings, close):
    shelf = Bases(tmp_path, several_noises=True)
    one, other = (shelf.get(plan((noise,), (0,)), Progress()) for noise in (0.1, close))
    assert len(trainings) == 2
    together = shelf.get(plan((0.1, close), (0,)), Progress())
    assert len(trainings) == 2
    np.testing.assert_array_equal(values(together), [*values(one), *values(other)])


def test_a_folder_of_one_noise_level_does_not_take_several(tmp_path):
    with pytest.raises(ValueError, match="several_noises"):
        Bases(tmp_path).get(plan((0.1, 0.3), (0,)), Progress())


@pytest.mark.slow
def test_a_base_that_sees_no_data_is_the_same_at_every_noise_level_and_as_without_data(tmp_path):
    blind = Bases(tmp_path).get(plan((0.1, 0.3), (0,)), Progress(), sees_data=False)
    (alone,) = Bases(tmp_path).get(plan((0.0,), (0,)), Progress())
    np.testing.assert_array_equal(values(blind)[0], values(blind)[1])
    np.testing.assert_allclose(values(blind)[0], values([alone])[0], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_a_base_that_sees_no_data_is_given_back_with_all_conditions(tmp_path):
    seen, blind = (Bases(tmp_path).get(plan(), Progress(), sees_data=s)[0] for s in (True, False))
    assert [c.name for c in blind.channels] == [c.name for c in seen.channels]
    for a, b in zip(blind.channels, seen.channels, strict=True):
        here, there = (pinn.solution.outside(c.points) for pinn, c in ((blind, a), (seen, b)))
        np.testing.assert_allclose(here, there, atol=1e-6)
        assert a.target.shape == b.target.shape
    assert np.abs(values([seen])[0] - values([blind])[0]).max() > 1e-3


def test_forgetting_trains_anew(tmp_path, trainings):
    Bases(tmp_path).get(plan(), Progress())
    Bases(tmp_path).forget()
    Bases(tmp_path).get(plan(), Progress())
    assert len(trainings) == 2
