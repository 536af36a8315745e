"""`epinn reproduce`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ...derivatives.program_cache import keep_compiled_programs
from .experiment import going_on_with, workers_of
from .listing import print_rows
from .options import OUT, Cluster, Json


def reproduce(
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="Tables of the paper; all by default.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the tables, and how many rows they have.")] = False,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds per row.")] = 10,
    out: Annotated[Path, OUT] = Path("runs/paper"),
    json: Json = False,
    cluster: Cluster = None,
) -> None:
    """Compute the tables and figures of the E-PINN paper over several seeds, beside the published values.

    Rows that are in the folder already (--out, runs/paper by default) are not computed again.
    """
    from ..plan.published import rows
    from ..plan.published import tables as known

    chosen = tuple(dict.fromkeys(tables or known()))
    numbers = [(table, f"{len(rows(table))} rows") for table in chosen]
    if list_:
        print_rows(numbers)
        return
    complete(out, chosen, seeds, json, cluster)


def complete(out: Path, tables: Sequence[str], seeds: int, as_json: bool, cluster: str | None) -> None:
    """Compute what is missing of the paper's tables, write, and show."""
    import json

    from ..console import Rows, print_reproduction
    from ..paper.publish import publish
    from ..paper.reproduce import Reproduction
    from ..plan.plain import finite
    from ..plan.published import rows

    wanted = [row for table in tables for row in rows(table)]
    keep_compiled_programs()
    names = {row.name for row in wanted}
    hint = f". To see what is there: epinn report {out}"
    with workers_of(cluster) as executor, going_on_with(out, hint):
        folder = Reproduction.create(out, tables, seeds)
        with Rows(quiet=as_json) as bar:
            folder.run(wanted, range(seeds), bar, bar.tell, executor)
        found = [one for one in publish(folder) if one.row.name in names]
    if as_json:
        typer.echo(json.dumps(finite([one.record() for one in found]), indent=2))
    else:
        print_reproduction(found, folder.path)
