"""The command line: one command, one module. Each parses, validates, calls, writes; the mathematics is imported when needed."""

import sys
from typing import Annotated

import typer

from ... import __version__
from ...errors import EpinnError, InputError
from ..plan.vocabulary import for_command_line
from .attach import attach
from .calibrate import calibrate
from .check import check
from .compare import compare
from .experiment import fail
from .methods import methods
from .new import new
from .problems import problems
from .report import report
from .reproduce import reproduce
from .resume import resume
from .run import run
from .settings import settings

COMMANDS = (problems, methods, settings, new, check, run, compare, attach, calibrate, resume, report, reproduce)

app = typer.Typer(
    name="epinn",
    help="Honest error bars on physics-informed neural networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _command in COMMANDS:
    app.command()(_command)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """The entry point: a mistake is one line on standard error and exit code 2; other failures exit with 1."""
    try:
        app(standalone_mode=False, prog_name="epinn")
    except typer.Exit as request:
        sys.exit(request.exit_code)
    except InputError as error:
        fail(for_command_line(str(error)), 2)
    except EpinnError as error:
        fail(for_command_line(str(error)), 1)
    except KeyboardInterrupt:
        fail("interrupted.", 130)
    except typer.Abort:
        fail("aborted.", 1)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error))
            sys.exit(2)
        if hasattr(error, "format_message"):  # a usage error of the argument parser
            fail(error.format_message().replace("\n", " "), 2)
        raise
