"""Messages name the options of the command line where they appear on it."""

import pytest

from epinn.app.plan.vocabulary import for_command_line


@pytest.mark.parametrize(
    ("python", "command_line"),
    [
        ("add architecture='2x32x32x1:tanh'; its", "add --architecture 2x32x32x1:tanh; its"),
        ("or pass architecture= a module", "or pass --architecture a module"),
        ("if you trust it, pass trust_file=True.", "if you trust it, pass --trust-file."),
        ("architecture and trust_file are for files", "architecture and --trust-file are for files"),
        ('pass unknowns={"beta": 1.6}.', "pass --unknowns beta=1.6."),
        ('pass unknowns={"beta": 1.6, "k": -2e-3}.', "pass --unknowns beta=1.6 --unknowns k=-2e-3."),
        ('choose method="laplace"', "choose --method laplace"),
        ("more Base(epochs=...) or another key", "more --set base.epochs=... or another --seed"),
        ("HmcMethod(adapt=False, leapfrog=200)", "--set hmc.adapt=false --set hmc.leapfrog=200"),
        ("more memory: epinn.limited_to(GIBIBYTES).", "more memory: --set compute.memory=GIBIBYTES."),
        ("with problem.holding_out(0.5, key=0).", "with --set points.held_out=0.5."),
        ("pass rules={'aten.erfinv': ...}", "from Python, pass rules={'aten.erfinv': ...}"),
    ],
)
def test_arguments_become_options(python, command_line):
    assert for_command_line(python) == command_line


@pytest.mark.parametrize(
    "message",
    [
        "drop positive='u'.",
        "write Problem(unknowns={'k': epinn.Unknown(2.0)})",
        "Data(x, u, sigma=0.1)",
        "the architecture does not fit",
    ],
)
def test_the_rest_is_left_alone(message):
    assert for_command_line(message) == message
