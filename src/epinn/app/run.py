"""A plan computed into its run folder: records, posteriors, pictures and the report page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import Diverged
from ..judge.evaluation import Evaluation
from ..progress import Progress
from ..solve.pinn import Pinn
from .plan.plan import Plan, Result, attach_method, fit_base, linearised_spread, reopen_method
from .report.pictures import figures
from .report.pictures.animation import animation
from .report.pictures.convergence import how_trained
from .report.run_page import write_report
from .report.view import view_of
from .store.checkpoint import Keeper
from .store.lock import alone_in
from .store.run_folder import RunFolder, ending
from .store.trained import UNFINISHED, Bases
from .store.trees import save_tree


def execute(plan: Plan, folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    """Compute a plan and write it into its folder, leaving out what is there already. Returns the records."""
    with alone_in(folder.path):
        with ending(folder):
            records = _execute(plan, folder, progress)
        write_report(folder)
    return records


def _execute(plan: Plan, folder: RunFolder, progress: Progress) -> list[dict[str, Any]]:
    records = folder.records()
    evaluations: dict[int, list[Evaluation]] = {seed: [] for seed in plan.seeds}
    trained: dict[int, Pinn] = {}
    for method in plan.methods:
        pinns = _pinns(plan, method, folder, progress)
        trained = trained or dict(
            zip(plan.seeds, pinns if plan.settings.methods[method].traits.uses_base else (), strict=False)
        )
        if _is_done(plan, method, folder, records):
            for result in _stored(plan, method, folder, pinns):
                evaluations[result.case.seed].append(result.evaluation)
            continue
        records = [record for record in records if record["method"] != method]  # of a part of the seeds
        keeper = Keeper(progress, folder.path / UNFINISHED, f"{plan.identity()} {method}", plan.settings.compute.checkpoint)
        for result in attach_method(plan, method, pinns, keeper, linearised_spread(plan, method, pinns, progress)):
            if result.posterior.failure and len(plan.seeds) == 1:
                raise Diverged(result.posterior.failure)
            evaluations[result.case.seed].append(result.evaluation)
            save_tree(result.posterior.sampler, folder.posterior_path(method, result.case.seed))
            records.append(result.record)
            folder.write_records(records)
        keeper.clear()
    for seed, shown in evaluations.items():
        folder.save_figures(figures(shown) | how_trained(trained.get(seed)), "" if len(plan.seeds) == 1 else f"-seed{seed}")
    write_moving(folder, evaluations[plan.seeds[0]])
    return records


def write_moving(folder: RunFolder, shown: Sequence[Evaluation]) -> None:
    """Write what moves: the view that the page has, and an animation where there is time."""
    folder.save_view(view_of(shown))
    gif = animation(shown)
    if gif is not None:
        folder.save_animation(gif)


def _is_done(plan: Plan, method: str, folder: RunFolder, records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all seeds of a method have their record and their posterior, so that it need not be computed again."""
    recorded = {record["seed"] for record in records if record["method"] == method}
    return recorded == set(plan.seeds) and all(folder.posterior_path(method, seed).is_file() for seed in plan.seeds)


def _pinns(plan: Plan, method: str, folder: RunFolder, progress: Progress) -> list[Pinn]:
    """The base PINNs that a method starts from: trained, or untrained for a method that needs no base."""
    chosen = plan.settings.methods[method]
    if not chosen.traits.uses_base:
        return fit_base(plan, Progress(), epochs=0)
    has_data = bool(plan.problems()[0].data)
    pinns = Bases(folder.path).get(plan, progress, sees_data=chosen.traits.base_sees_data or not has_data)
    failures = [pinn.failure for pinn in pinns if pinn.failure]
    if len(failures) == len(pinns):
        raise Diverged(f"{failures[0]} They are in {folder.path}.")
    return pinns


def _stored(plan: Plan, method: str, folder: RunFolder, pinns: Sequence[Pinn]) -> Iterator[Result]:
    """The results of a method that was attached before, from its files."""
    programs = getattr(pinns[0].solution.network, "programs", ())  # of a network that was trained elsewhere
    samplers = [folder.sampler(method, seed, programs) for seed in plan.seeds]
    return reopen_method(plan, method, pinns, samplers)
