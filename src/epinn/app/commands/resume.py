"""`epinn resume`."""

from .calibrate import repeat
from .experiment import described, execute, match_precision
from .options import Folder, Json
from .reproduce import complete


def resume(folder: Folder, json: Json = False) -> None:
    """Go on with a run that was interrupted: what is finished is not computed again."""
    from ..paper.reproduce import KIND as REPRODUCTION
    from ..paper.reproduce import Reproduction
    from ..repetition import KIND as CALIBRATION
    from ..store.run_folder import RunFolder

    existing = RunFolder.open(folder)
    description = existing.read_json("run.json")
    if description.get("kind") == REPRODUCTION:
        description = Reproduction.open(folder).description
        tables, seeds = description["tables"], description["seeds"]
        complete(Reproduction.create(folder, tables, seeds), tables, seeds, json)
        return
    plan = described(description, folder)
    match_precision(plan)
    if description.get("kind") == CALIBRATION:
        repeat(plan, folder, description["preset"], json)
    else:
        execute(plan, existing, json)
