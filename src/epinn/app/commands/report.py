"""`epinn report`."""

import typer

from .options import Folder


def report(folder: Folder) -> None:
    """Write the report page of a folder (of `run`, `compare`, `attach` or `reproduce`) anew, from what is in it."""
    from ..paper.publish import publish
    from ..paper.reproduce import KIND, Reproduction
    from ..report.run_page import write_report
    from ..store.run_folder import RunFolder

    existing = RunFolder.open(folder)
    if existing.read_json("run.json").get("kind") == KIND:
        publish(Reproduction.open(folder))
    else:
        write_report(existing)
    typer.echo(str(folder / "report.html"))
