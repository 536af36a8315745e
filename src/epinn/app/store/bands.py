"""A band in a file of its own, or out of a run folder. Nothing in these files can run code when they are opened."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from ...errors import InputError
from ...interop.network.program import Program
from ...judge.verdict import Verdict
from ...methods import configured
from ...methods.method import Method
from ...posterior.posterior import Posterior
from ...problem.problem import Problem, as_key
from ...progress import Progress
from ...solve.config import Base
from ...solve.explanations import Modes
from ...solve.optimise.adam import Weights
from ...solve.pinn import Pinn, scales_for
from ...solve.refine import Moved, channels_at
from ..plan.plain import finite
from ..plan.plan import Plan, fit_base
from .run_folder import RunFolder
from .trained import Bases
from .trees import load_tree, save_tree

KIND = "band"
POSTERIOR = ("diagnostics", "warnings", "failure", "seconds", "noise", "sigmas")  # plain data of a posterior
PINN = ("steps", "seconds", "failure", "warnings", "has_seen_all", "regularised", "trained_elsewhere")  # and of a PINN


@dataclass(frozen=True, eq=False)
class StoredBand:
    """What a band is made of: the posterior, the PINN it was attached to, the method with its settings, and the key that it
    was attached with. The verdict is there if it has been asked for."""

    posterior: Posterior
    pinn: Pinn
    method: Method
    key: PRNGKeyArray | int
    verdict: Verdict | None


def save_band(band: StoredBand, path: Path) -> None:
    """Write a band as one safetensors file. Its problem is not in it, since that holds Python functions."""
    posterior, pinn = band.posterior, band.pinn
    content = {
        "kind": KIND,
        "problem": _description(pinn),
        "method": {"name": band.method.name, "settings": finite(dataclasses.asdict(band.method))},
        "key": jax.random.key_data(as_key(band.key)),
        "verdict": None if band.verdict is None else band.verdict.plain(),
        "sampler": posterior.sampler,
        "posterior": finite({name: getattr(posterior, name) for name in POSTERIOR}),
        "solution": pinn.solution,
        "points_key": jax.random.key_data(as_key(pinn.points_key)),
        "moved": None if pinn.moved is None else pinn.moved.plain(),
        "modes": None if pinn.modes is None else finite(pinn.modes.plain()),
        "pinn": finite({name: getattr(pinn, name) for name in PINN}),
        "losses": np.asarray(pinn.losses),
        "sigmas": finite(pinn.sigmas),
        "base": finite(dataclasses.asdict(pinn.base)),
        "weights": finite(dataclasses.asdict(pinn.weights)),
    }
    try:
        save_tree(content, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another place.") from None


def load_band(path: Path, problem: Problem, programs: Iterable[Program] = ()) -> StoredBand:
    """The band that `save_band` wrote, for the problem that it was made for.

    `programs` are the functions of a network that was trained elsewhere, which the file does not hold.
    """
    content = load_tree(path, programs)
    if not isinstance(content, Mapping) or content.get("kind") != KIND:
        raise InputError(f"{path} holds no band; one is written by band.save(path).")
    try:
        base = Base(**({"dimensionless": False} | content["base"]))  # as files of older versions are meant
        points_key = jax.random.wrap_key_data(content["points_key"])
        moved = Moved.read(content.get("moved"))
        plain: dict[str, Any] = {n: list(v) if isinstance(v, tuple) else v for n, v in content["pinn"].items()}
        pinn = Pinn(
            solution=content["solution"],
            problem=problem,
            channels=channels_at(base, problem, points_key, scales_for(content["solution"], problem), moved),
            points_key=points_key,
            moved=moved,
            base=base,
            weights=Weights(**content["weights"]),
            losses=np.asarray(content["losses"]),
            modes=Modes.read(content.get("modes")),
            **plain,
        ).with_sigmas(content["sigmas"])
        _check_same_problem(path, content["problem"], _description(pinn))
        method = configured(content["method"]["name"], content["method"]["settings"])
        return StoredBand(
            Posterior(content["sampler"], problem, method.name, **content["posterior"]),
            pinn,
            method,
            jax.random.wrap_key_data(content["key"]),
            None if content["verdict"] is None else Verdict.of(content["verdict"]),
        )
    except (LookupError, TypeError) as error:
        raise InputError(f"{path} was written by another version of epinn ({error}); make the band again.") from None


def load_run(path: Path, method: str | None, seed: int | None) -> StoredBand:
    """The band of one method and seed out of a run folder; the only one if there is no choice."""
    folder = RunFolder.open(path)
    try:
        whole = Plan.from_description(folder.read_json("run.json"))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    record = _chosen(folder, method, seed)
    plan = dataclasses.replace(whole, methods=(record["method"],), seeds=(record["seed"],))
    chosen = plan.settings.methods[record["method"]]
    (pinn,) = _pinns(plan, folder, chosen)
    programs = getattr(pinn.solution.network, "programs", ())  # of a network that was trained elsewhere
    inferred = {row["channel"]: row["sigma"] for row in record["channels"] if row["noise"] == "unknown"}
    posterior = Posterior(
        folder.sampler(record["method"], record["seed"], programs),
        pinn.problem,
        record["method"],
        diagnostics=record["diagnostics"],
        warnings=tuple(record["warnings"]),
        seconds=record["time_uq_s"],
        noise=record["noise_sd"],
        sigmas=inferred,
    )
    return StoredBand(posterior, pinn, chosen, record["seed"], Verdict.of(record["verdict"]))


def _chosen(folder: RunFolder, method: str | None, seed: int | None) -> dict[str, Any]:
    """The one record of a run that is meant."""
    records = folder.records()
    found = [r for r in records if method in (None, r["method"]) and seed in (None, r["seed"])]
    if len(found) == 1:
        return found[0]
    there = ", ".join(f"method={record['method']!r} seed={record['seed']}" for record in records) or "nothing yet"
    what = "several bands" if found else "no such band"
    raise InputError(f"{folder.path} holds {what}: say which one by method= and seed=; there is {there}.")


def _pinns(plan: Plan, folder: RunFolder, method: Method) -> list[Pinn]:
    """The base PINNs that a method was attached to, from their files."""
    if not method.traits.uses_base:
        return fit_base(plan, Progress(), epochs=0)
    bases, sees_data = Bases(folder.path), method.traits.base_sees_data or not plan.problems()[0].data
    if plan.origin is None and not bases.has(plan, sees_data=sees_data):
        raise InputError(f"{folder.path} lacks the trained network; go on with the run: epinn resume {folder.path}.")
    return bases.get(plan, Progress(), sees_data=sees_data)


def _description(pinn: Pinn) -> dict[str, Any]:
    """What a problem must share with the one that a band was made for."""
    names = pinn.problem.names
    return {
        "fields": list(names.fields),
        "coordinates": list(names.coordinates),
        "unknowns": list(names.unknowns),
        "conditions": {channel.name: int(channel.target.size) for channel in pinn.channels},
    }


def _check_same_problem(path: Path, stored: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    for what, names in stored.items():
        before = names if isinstance(names, Mapping) else list(names)
        if before != given[what]:
            raise InputError(
                f"{path} is the band of another problem: its {what} are {_listed(before)}, those of this one are "
                f"{_listed(given[what])}."
            )


def _listed(names: Any) -> str:
    parts = [f"{name} ({rows})" for name, rows in names.items()] if isinstance(names, Mapping) else names
    return ", ".join(parts) or "none"
