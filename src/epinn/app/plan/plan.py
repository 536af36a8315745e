"""One problem, several seeds, one or more methods: what `epinn run` and `epinn compare` compute. No files, no terminal."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from ... import __version__
from ...derivatives.memory import limited_to
from ...errors import InputError
from ...judge.assessment import assess
from ...judge.evaluation import Evaluation, evaluate
from ...judge.record import record_of
from ...judge.reference import reference_for
from ...methods import attach_seeds
from ...methods.method import check
from ...posterior.posterior import Posterior
from ...posterior.sampler import Sampler
from ...problem.problem import Problem, as_key
from ...progress import Progress
from ...solve.first_stage import facing
from ...solve.fit import fit_seeds
from ...solve.pinn import Pinn
from ...solve.second_stage import with_further_stages
from .origin import Origin
from .plain import digest
from .presets import preset
from .settings import Settings
from .source import Source, find
from .vocabulary import for_command_line

METRICS = ("sharpness", "coverage", "rmse", "nll", "crps", "interval_score")
SUMMARISED = (*METRICS, "time_s", "time_uq_s")


@dataclass(frozen=True)
class Case:
    """One seed at one noise level. All cases of a plan are computed together."""

    seed: int
    noise: float | None


@dataclass(frozen=True)
class Plan:
    """What to compute: every seed at every noise level. Levels that run together either all have data or none."""

    source: Source
    methods: tuple[str, ...]
    noises: tuple[float | None, ...]
    seeds: tuple[int, ...]
    settings: Settings
    disturb: Mapping[str, float] = field(default_factory=dict)  # sd of known noise that is added, by kind of condition
    origin: Origin | None = None  # where the network comes from that stands for the base, if it was trained elsewhere

    @property
    def cases(self) -> list[Case]:
        return [Case(seed, noise) for noise in self.noises for seed in self.seeds]

    @property
    def title(self) -> str:
        """The name that the problem has given itself, or under which it was found."""
        own = dataclasses.replace(self, seeds=self.seeds[:1], noises=self.noises[:1]).problems()[0].name
        return own or self.source.name

    def problems(self) -> list[Problem]:
        """The problem of every case."""
        points = dataclasses.asdict(self.settings.points)
        share = points.pop("held_out")
        made = [self.source.make(case.noise, case.seed, points) for case in self.cases]
        if share:
            made = [p.holding_out(share, _key(case.seed, 5)) for p, case in zip(made, self.cases, strict=True)]
        if not self.disturb:
            return made
        return [p.disturbed(self.disturb, _key(case.seed, 4)) for p, case in zip(made, self.cases, strict=True)]

    def identity(self) -> str:
        """A digest of everything that the results depend on."""
        return digest(
            [
                self.source.spec,
                self.source.fingerprint,
                self.noises,
                self.seeds,
                self.settings.flat(),
                dict(self.disturb),
                self.origin and self.origin.describe(),
                __version__,
            ]
        )

    def check(self, at_once: int | None = None) -> None:
        """Find mistakes in problem and settings now, before anything is written or trained; `at_once` of the cases are going to
        run together, all by default."""
        problem = self.problems()[0]
        problem.check()
        rows, size = self._size(problem)
        with limited_to(self.settings.compute.memory):
            for name in self.methods:
                check(self.settings.methods[name], problem, rows, size, seeds=min(at_once or len(self.cases), len(self.cases)))
        if self.settings.predict.draws < 2:
            raise InputError("predict.draws must be at least 2.")

    def _size(self, problem: Problem) -> tuple[int, int]:
        """Rows and parameters of the base PINN."""
        if self.origin is not None:
            return self.origin.pinn(problem, self.settings.base).size
        return self.settings.base.size(problem)

    def describe(self, preset: str) -> dict[str, Any]:
        """All that defines this plan, as plain data."""
        return {
            "problem": self.source.spec,
            "name": self.title,
            "fingerprint": self.source.fingerprint,
            "methods": list(self.methods),
            "noise": self.noises[0],
            "seeds": list(self.seeds),
            "preset": preset,
            "settings": self.settings.flat(),
            **({"noise_on": dict(self.disturb)} if self.disturb else {}),
            **({} if self.origin is None else {"network": self.origin.describe()}),
        }

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "Plan":
        """The plan that `describe` described."""
        try:
            return cls._from_description(description)
        except LookupError as error:
            raise InputError(f"run.json does not describe a whole run: it has no {error}; start a new run.") from None
        except (AttributeError, TypeError) as error:
            raise InputError(f"run.json does not describe a run ({str(error).splitlines()[0]}); start a new run.") from None

    @classmethod
    def _from_description(cls, description: Mapping[str, Any]) -> "Plan":
        flat = {name: tuple(v) if isinstance(v, list) else v for name, v in description["settings"].items()}
        settings = preset(description["preset"], description["problem"]).changed(flat)
        source, seeds = find(description["problem"]), tuple(description["seeds"])
        if description.get("fingerprint", source.fingerprint) != source.fingerprint:
            raise InputError(f"the file of {source.name} has changed since this run began; start a new run for it.")
        origin = Origin.from_description(description["network"]) if "network" in description else None
        methods, disturb = tuple(description["methods"]), description.get("noise_on", {})
        if not isinstance(disturb, Mapping):
            raise InputError(f"noise_on of a run has kinds of conditions and their noise, not {disturb!r}.")
        return cls(source, methods, (description["noise"],), seeds, settings, disturb, origin)


@dataclass(frozen=True, eq=False)
class Result:
    """One method in one case."""

    case: Case
    posterior: Posterior
    evaluation: Evaluation
    record: dict[str, Any] = field(default_factory=dict)


def fit_base(plan: Plan, progress: Progress, *, sees_data: bool = True, epochs: int | None = None) -> list[Pinn]:
    """The base PINNs of all cases; with `epochs=0`, as they are before training.

    With `sees_data=False` the measurements are kept from the training, so that the base is the same at every noise level; the
    PINNs still have all conditions for the methods. A network that was trained elsewhere is taken as it is.
    """
    if plan.origin is not None:
        pinns = [plan.origin.pinn(problem, plan.settings.base) for problem in plan.problems()]
        further = (plan.settings.base.stages or 1) - 1 if epochs is None else 0
        return with_further_stages(pinns, jnp.stack([_key(case.seed, 1) for case in plan.cases]), further, progress)
    base = (
        plan.settings.base
        if epochs is None
        else dataclasses.replace(plan.settings.base, epochs=epochs, polish=0, newton=0, restarts=0, stages=1)
    )
    base = base if sees_data else dataclasses.replace(base, stages=1)  # data that come later know nothing of further ones
    problems = plan.problems()
    shown = problems if sees_data else [dataclasses.replace(p, data=()) for p in problems[: len(plan.seeds)]]
    keys = [_key(case.seed, 1) for case in plan.cases[: len(shown)]]
    with limited_to(plan.settings.compute.memory):
        pinns = fit_seeds(shown, keys=keys, base=base, weights=plan.settings.weights, progress=progress)
    repeated = pinns * (len(problems) // len(pinns))
    asked = [dataclasses.replace(pinn, base=plan.settings.base) for pinn in repeated]
    return asked if sees_data else [facing(pinn, p) for p, pinn in zip(problems, asked, strict=True)]


def linearised_spread(plan: Plan, method: str, pinns: Sequence[Pinn], progress: Progress) -> list[np.ndarray] | None:
    """The spread of the linearised posterior, by case, for a method that is judged beside it; None for the others."""
    keys = [_key(case.seed, 2) for case in plan.cases]
    with limited_to(plan.settings.compute.memory):
        return reference_for(plan.settings.methods[method], pinns, keys, progress)


def attach_method(
    plan: Plan, method: str, pinns: Sequence[Pinn], progress: Progress, reference: Sequence[np.ndarray] | None = None
) -> Iterator[Result]:
    """One method on all cases: attached to all together, then evaluated one after the other, and judged, beside a reference
    spread where there is one. Times of cases that ran together are shared out evenly."""
    keys = [_key(case.seed, 2) for case in plan.cases]
    with limited_to(plan.settings.compute.memory):
        posteriors = attach_seeds(pinns, plan.settings.methods[method], keys=keys, progress=progress)
    for i, (case, pinn, posterior) in enumerate(zip(plan.cases, pinns, posteriors, strict=True)):
        progress(f"{method} prediction", i, len(pinns), {})
        evaluation = _evaluate(plan, posterior, case)
        spread = None if reference is None else reference[i]
        verdict = assess(pinn, plan.settings.methods[method], posterior, evaluation, spread)
        record = record_of(pinn, plan.settings.methods[method], posterior, evaluation, verdict)
        about = {"problem": plan.source.name, "noise": case.noise, "seed": case.seed}
        yield Result(case, posterior, evaluation, about | _in_options(record))
    progress(f"{method} prediction", len(pinns), len(pinns), {})


def _in_options(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record whose warnings and verdict name options of the command line."""
    verdict = {
        part: found if isinstance(found, str) else list(map(for_command_line, found))
        for part, found in record["verdict"].items()
    }
    return {**record, "warnings": list(map(for_command_line, record["warnings"])), "verdict": verdict}


def reopen_method(plan: Plan, method: str, pinns: Sequence[Pinn], samplers: Sequence[Sampler]) -> Iterator[Result]:
    """The results of a method that was attached before, from its stored samplers; their records are in metrics.json."""
    for case, pinn, sampler in zip(plan.cases, pinns, samplers, strict=True):
        chains = getattr(plan.settings.methods[method], "chains", 0)  # of the methods that have some
        posterior = Posterior(sampler, pinn.problem, method, {"chains": chains})
        yield Result(case, posterior, _evaluate(plan, posterior, case), {})


def _evaluate(plan: Plan, posterior: Posterior, case: Case) -> Evaluation:
    with limited_to(plan.settings.compute.memory):
        return evaluate(posterior, draws=plan.settings.predict.draws, key=_key(case.seed, 3))


def summarise(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Median and range over the seeds that did not fail, by method and metric; None for a metric that no seed has."""
    summary: dict[str, dict[str, Any]] = {}
    for method in dict.fromkeys(record["method"] for record in records):
        every = [record for record in records if record["method"] == method]
        rows = [record for record in every if not record.get("failed")] or every
        summary[method] = {
            "seeds": len(every),
            "failed": len([record for record in every if record.get("failed")]),
            **{name: _range([row.get(name) for row in rows]) for name in SUMMARISED},
        }
        for name in rows[0].get("unknowns", {}):
            for part in ("mean", "std"):
                summary[method][f"{name}_{part}"] = _range([row["unknowns"][name][part] for row in rows])
    return summary


def _range(values: Sequence[float | None]) -> dict[str, float] | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return {"median": float(np.median(known)), "min": float(min(known)), "max": float(max(known))}


def _key(seed: int, purpose: int) -> PRNGKeyArray:
    """Independent keys of one seed: 1 for the base PINN, 2 for the method, 3 for the draws, 4 for noise that is added to
    conditions, 5 for measurements that are held out; the data have the seed itself.

    The offset keeps them apart from the keys that a problem makes of the seed: `split` and `fold_in` of small numbers agree.
    """
    return jax.random.fold_in(as_key(seed), 1000 + purpose)
