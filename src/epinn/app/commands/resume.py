"""`epinn resume`."""

from ...errors import InputError
from .experiment import execute, match_precision
from .options import Folder, Json
from .reproduce import complete


def resume(folder: Folder, json: Json = False) -> None:
    """Go on with a run that was interrupted: what is finished is not computed again."""
    from ..paper.reproduce import KIND, Reproduction
    from ..plan.plan import Plan
    from ..store.run_folder import RunFolder

    existing = RunFolder.open(folder)
    description = existing.read_json("run.json")
    if description.get("kind") == KIND:
        description = Reproduction.open(folder).description
        tables, seeds = description["tables"], description["seeds"]
        complete(Reproduction.create(folder, tables, seeds), tables, seeds, json)
        return
    try:
        plan = Plan.from_description(description)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    match_precision(plan)
    execute(plan, existing, json)
