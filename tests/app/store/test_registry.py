"""Names of classes in files: every class that can be in one has a name, and old names are still known."""

import importlib
import pkgutil

import equinox as eqx
import pytest

import epinn
from epinn.app.store.registry import CLASSES, FORMAT_1, class_of, name_of
from epinn.derivatives.network import AbstractNetwork, Opaque
from epinn.interop.advice import Reordered
from epinn.posterior.linearised import Tangent
from epinn.posterior.sampler import Sampler
from epinn.problem.fading import Beginning
from epinn.problem.random_fields import Waves

NOT_IN_FILES = {
    Opaque,  # holds any function, which no file can
    Waves,  # are only tried, to see how large the terms of an equation are
    Beginning,  # is only tried, to see how fast a solution begins to change
    Tangent,  # is only evaluated: what one random number adds to a field
    Reordered,  # is only tried, to see whether the coordinates of a network are in another order
}


def every(kind):
    """All classes of a kind that epinn has."""
    found = {kind}
    while grown := {child for one in found for child in one.__subclasses__()} - found:
        found |= grown
    return {one for one in found if one.__module__.startswith("epinn.")}


@pytest.fixture(scope="module", autouse=True)
def all_modules():
    for module in pkgutil.walk_packages(epinn.__path__, "epinn."):
        if "interop." not in module.name:  # these need frameworks that may be missing, and have no networks of their own
            importlib.import_module(module.name)


@pytest.mark.parametrize("kind", [AbstractNetwork, Sampler])
def test_every_network_and_sampler_has_a_name_in_files(kind):
    missing = {one for one in every(kind) if not one.__abstractmethods__} - set(CLASSES.values()) - NOT_IN_FILES
    assert not missing, "give them a line in CLASSES of app/store/registry.py"


def test_names_and_classes_belong_together_one_to_one():
    assert len(set(CLASSES.values())) == len(CLASSES)
    for name, found in CLASSES.items():
        assert name_of(found) == name
        assert class_of(name, 2) is found
        assert issubclass(found, eqx.Module)


def test_every_name_of_the_first_format_is_a_class_of_today():
    for old, name in FORMAT_1.items():
        assert class_of(old, 1) is CLASSES[name]


@pytest.mark.parametrize(("name", "written_as"), [("mlp", 1), (".network:MLP", 2), (".derivatives.network:MLP", 1)])
def test_a_name_of_another_format_is_refused(rejects, name, written_as):
    with rejects(name):
        class_of(name, written_as)
