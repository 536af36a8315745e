"""`epinn report`."""

import typer

from ...errors import InputError
from .options import Folder


def report(folder: Folder) -> None:
    """Write the report page of a folder (of `run`, `compare`, `attach` or `reproduce`) anew, from what is in it."""
    from ..paper.publish import publish
    from ..paper.reproduce import KIND, Reproduction
    from ..repetition import KIND as CALIBRATION
    from ..report.run_page import write_report
    from ..store.run_folder import RunFolder

    existing = RunFolder.open(folder)
    kind = existing.read_json("run.json").get("kind")
    if kind == CALIBRATION:
        raise InputError(f"{folder} holds a calibration, which has no page: see calibration.json and calibration.png in it.")
    if kind == KIND:
        publish(Reproduction.open(folder))
    else:
        write_report(existing)
    typer.echo(str(folder / "report.html"))
