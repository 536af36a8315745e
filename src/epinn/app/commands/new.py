"""`epinn new`."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InputError


def new(
    file: Annotated[Path, typer.Argument(metavar="[NAME.toml]", help="The file to write.")] = Path("problem.toml"),
) -> None:
    """Write an example of a problem as a TOML file, to be changed into your own. It runs as it is."""
    from ..store.files import create_once

    if file.suffix != ".toml":
        raise InputError(f"a problem without programming is a .toml file; write epinn new {file.stem or 'problem'}.toml, say.")
    if not file.parent.is_dir():
        raise InputError(f"there is no folder {file.parent}; make it first.")
    content = files("epinn.app.plan.toml").joinpath("example.toml").read_text(encoding="utf-8")
    try:
        create_once(file, content.replace("NAME.toml", str(file)).encode())
    except FileExistsError:
        raise InputError(f"{file} is there already, and is left as it is; choose another name.") from None
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from None
    typer.echo(f"written: {file}\nnext: epinn check {file}, then epinn run {file}")
