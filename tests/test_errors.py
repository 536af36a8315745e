"""Messages name options the way the place does that they appear in."""

import pytest

from epinn.errors import InputError, in_python, on_command_line


@pytest.mark.parametrize(
    ("neutral", "python", "command"),
    [
        ("more {base.epochs}.", "more Base(epochs=...).", "more --set base.epochs=...."),
        ("{hmc.precondition=false}", "HmcMethod(precondition=False)", "--set hmc.precondition=false"),
        ("another {seed}", "another key", "another --seed"),
        ("pass {trust_file}", "pass trust_file", "pass --trust-file"),
        ("pass {unknowns=beta=1.6}", "pass unknowns=beta=1.6", "pass --unknowns beta=1.6"),
        ("{compute.memory=8}", "epinn.limited_to(8)", "--set compute.memory=8"),
        ("{'a': 1} and {}", "{'a': 1} and {}", "{'a': 1} and {}"),
    ],
)
def test_a_setting_is_written_as_it_is_written_there(neutral, python, command):
    assert in_python(neutral) == python
    assert on_command_line(neutral) == command


def test_an_error_is_written_for_python_and_knows_its_message():
    error = InputError("take more {base.epochs}")
    assert str(error) == "take more Base(epochs=...)"
    assert on_command_line(error.message) == "take more --set base.epochs=..."
