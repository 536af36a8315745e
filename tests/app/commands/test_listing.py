"""`epinn problems`, `methods` and `settings`."""

from command_line import good

from epinn.methods import METHODS
from epinn.problems import SHIPPED


def test_problems_are_listed_with_a_line_each(tmp_path):
    lines = good("problems", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in lines] == list(SHIPPED)
    assert all(len(line.split()) > 3 for line in lines)


def test_methods_are_listed_with_a_line_each(tmp_path):
    lines = good("methods", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in lines] == list(METHODS)
    assert all(len(line.split()) > 3 for line in lines)


def test_settings_are_listed_with_the_values_of_a_preset(tmp_path):
    found = good("settings", "--preset", "paper", "--problem", "poisson2d-nonlinear", cwd=tmp_path).out
    values = dict(line.split(maxsplit=1) for line in found.splitlines())
    assert values["base.epochs"] == "100000"
    assert values["base.hidden"] == "32,32,32"
    assert float(values["hmc.step_size"]) == 1e-5
