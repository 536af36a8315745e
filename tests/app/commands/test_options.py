"""The options that commands share."""

import dataclasses
import inspect

import pytest
from typer.testing import CliRunner

from epinn.app.commands import app
from epinn.app.commands.attach import attach
from epinn.app.commands.calibrate import calibrate
from epinn.app.commands.compare import compare
from epinn.app.commands.options import Request, shared_options
from epinn.app.commands.run import run


@pytest.mark.parametrize("command", [run, compare, attach, calibrate])
def test_every_experiment_has_every_shared_option(command):
    shared = {field.name for field in dataclasses.fields(Request)}
    assert shared < set(inspect.signature(command).parameters)
    shown = CliRunner().invoke(app, [command.__name__, "--help"]).output
    for option in ("--method", "--methods", "--noise", "--sigma", "--seed", "--preset", "--set", "--out", "--json"):
        assert option in shown


def test_a_command_is_given_one_request_and_its_own_arguments():
    seen = []

    @shared_options(method="hmc")
    def command(request: Request, problem: str) -> None:
        seen.append((request, problem))

    given = {field.name: field.default for field in dataclasses.fields(Request)} | {"seed": 4, "problem": "bar"}
    command(**given)
    assert seen == [(Request(seed=4), "bar")]
    assert inspect.signature(command).parameters["method"].default == "hmc"
    assert seen[0][0].seeds(3) == (4, 5, 6)


@pytest.mark.parametrize("option", ["--method", "--methods"])
@pytest.mark.parametrize("command", ["run", "compare", "calibrate"])
def test_both_spellings_of_the_method_are_understood(command, option):
    found = CliRunner().invoke(app, [command, "poisson1d", option, "epinett"])
    assert "did you mean 'epinet'" in str(found.exception)
