"""A plan computed into its run folder: records, posteriors, pictures and the report page."""

from typing import Any

from ..errors import Diverged
from ..judge.evaluation import Evaluation
from ..progress import Progress
from .plan import Plan, attach_method, fit_base, linearised_spread, reopen_method
from .report.pictures import figures
from .report.run_page import write_report
from .store.checkpoint import Keeper
from .store.run_folder import RunFolder
from .store.trained import UNFINISHED, Bases
from .store.trees import load_tree, save_tree


def execute(plan: Plan, folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    """Compute a plan and write it into its folder, leaving out what is there already. Returns the records."""
    status = "interrupted"
    try:
        records = _execute(plan, folder, progress)
        status = "finished"
    except Exception:
        status = "failed"
        raise
    finally:
        folder.finish(status)
    write_report(folder)
    return records


def _execute(plan: Plan, folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    bases, unfinished = Bases(folder.path), folder.path / UNFINISHED
    has_data = bool(plan.problems()[0].data)
    records = folder.records()
    evaluations: dict[int, list[Evaluation]] = {seed: [] for seed in plan.seeds}
    for method in plan.methods:
        chosen = plan.settings.methods[method]
        if chosen.traits.uses_base:
            pinns = bases.get(plan, progress, sees_data=chosen.traits.base_sees_data or not has_data)
            failures = [pinn.failure for pinn in pinns if pinn.failure]
            if len(failures) == len(pinns):
                raise Diverged(f"{failures[0]} They are in {folder.path}.")
        else:
            pinns = fit_base(plan, Progress(), epochs=0)
        done = {record["seed"] for record in records if record["method"] == method}
        keeper = Keeper(progress, unfinished, f"{plan.identity()} {method}")
        if done == set(plan.seeds):
            programs = getattr(pinns[0].solution.network, "programs", ())
            stored = [load_tree(folder.posterior_path(method, seed), programs) for seed in plan.seeds]
            results = reopen_method(plan, method, pinns, stored)
        else:
            records, done = [record for record in records if record["method"] != method], set()
            results = attach_method(plan, method, pinns, keeper, linearised_spread(plan, method, pinns, progress))
        for result in results:
            if result.posterior.failure and len(plan.seeds) == 1:
                raise Diverged(result.posterior.failure)
            evaluations[result.case.seed].append(result.evaluation)
            if result.case.seed not in done:
                save_tree(result.posterior.sampler, folder.posterior_path(method, result.case.seed))
                records.append(result.record)
                folder.write_records(records)
        keeper.clear()
    for seed, shown in evaluations.items():
        folder.save_figures(figures(shown), "" if len(plan.seeds) == 1 else f"-seed{seed}")
    return records
