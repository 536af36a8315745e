"""`epinn resume`."""

from ...errors import InputError
from .calibrate import repeat
from .experiment import described, execute, match_precision
from .options import Cluster, Folder, Json
from .reproduce import complete


def resume(folder: Folder, json: Json = False, cluster: Cluster = None) -> None:
    """Go on with a run that was interrupted: what is finished is not computed again."""
    from ..paper.reproduce import KIND as REPRODUCTION
    from ..paper.reproduce import Reproduction
    from ..repetition import KIND as CALIBRATION
    from ..repetition import usual_at_once
    from ..store.run_folder import RunFolder

    existing = RunFolder.open(folder)
    description = existing.read_json("run.json")
    if description.get("kind") == REPRODUCTION:
        description = Reproduction.open(folder).description
        tables, seeds = description["tables"], description["seeds"]
        complete(folder, tables, seeds, json, cluster)
        return
    plan = described(description, folder)
    match_precision(plan)
    if description.get("kind") == CALIBRATION:
        repeat(plan, folder, description["preset"], description.get("at_once") or usual_at_once(), json, cluster)
    elif cluster is not None:
        raise InputError("--cluster goes with calibrations and reproductions; leave it out for a run.")
    else:
        execute(plan, existing, json)
